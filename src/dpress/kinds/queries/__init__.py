"""Answers to a list of counting queries whose predicates may overlap, from a table."""
