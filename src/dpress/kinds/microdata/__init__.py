"""Synthetic or perturbed records, from a table."""
