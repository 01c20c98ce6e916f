"""Pairs of columns that hold a position."""
