"""Counts over ranges of ordered attributes, from a table."""
