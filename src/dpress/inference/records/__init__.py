"""Synthetic records: a latent class model of noisy tables, and records that have its tables."""
