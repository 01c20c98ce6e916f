"""Ranges of ordered attributes, and boxes of several."""
