"""Ranges from devices: nodes of a tree, one level a report."""
