"""Columns of dates and times: cells of a calendar."""
