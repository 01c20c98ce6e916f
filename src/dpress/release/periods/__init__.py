"""Releases that grow period by period."""
