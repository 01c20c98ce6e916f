"""Columns of listed values, with or without an order."""
