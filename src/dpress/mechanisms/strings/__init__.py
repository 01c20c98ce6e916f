"""Strings that nobody listed, from devices."""
