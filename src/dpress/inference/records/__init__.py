"""Records: noisy tables of clusters and groups, and the particles that have them."""
