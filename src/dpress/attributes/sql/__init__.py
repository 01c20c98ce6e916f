"""Columns of engines, as every type of attribute codes them in SQL."""
