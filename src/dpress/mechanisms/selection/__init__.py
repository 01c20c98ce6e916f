"""Which names of a private column may be released, and their counts."""
