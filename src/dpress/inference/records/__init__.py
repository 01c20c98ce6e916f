"""Records: noisy tables of clusters and groups, and the crowd that has them."""
