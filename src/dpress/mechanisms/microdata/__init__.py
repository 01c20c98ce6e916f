"""Records made of a table of mixed records, by a curator."""
