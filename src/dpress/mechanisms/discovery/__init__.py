"""Measurements of groups that a selection of names finds first."""
