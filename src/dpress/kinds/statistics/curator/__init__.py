"""Statistics of the groups of a table that a curator holds."""
