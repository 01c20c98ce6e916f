"""Columns of codes with levels: a public tree whose leaves the rows hold."""
