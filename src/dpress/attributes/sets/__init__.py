"""Columns of which every value is a set of listed values."""
