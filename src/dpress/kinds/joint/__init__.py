"""A joint distribution of several attributes, from a collection."""
