"""Rows that Spark reads: where they are, its workers add them up, and only sums travel."""
