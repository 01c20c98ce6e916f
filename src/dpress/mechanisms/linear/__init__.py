"""Noisy answers to linear queries over a table that a curator holds."""
