"""Synthetic records: a log-linear model of noisy tables, held as weighted particles."""
