"""Attributes: which values there are, and the code of each."""
