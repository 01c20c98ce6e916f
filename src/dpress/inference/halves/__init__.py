"""Counts >= 0 of a noisy table, from its total down: halves of halves, each by what the whole table says of halves."""
