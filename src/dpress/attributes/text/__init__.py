"""Columns of strings that nobody listed, as rounds ask about them."""
