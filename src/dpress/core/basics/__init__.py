"""Losses and claims, randomness, errors, and checks of what is public: the floor that everything stands on."""
