"""Statistics of numbers that devices report about."""
