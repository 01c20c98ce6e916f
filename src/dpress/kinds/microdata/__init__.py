"""Microdata: records that a method makes of a table."""
