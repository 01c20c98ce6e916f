"""Choosing one of a public list of candidates."""
