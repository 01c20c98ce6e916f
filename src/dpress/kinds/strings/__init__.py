"""Strings that nobody listed, from devices in rounds: the frequent ones, with their counts."""
