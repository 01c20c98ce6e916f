"""A map of positions, from a table or from a collection."""
