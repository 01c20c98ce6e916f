"""Maps of where people are: grids and quadtrees, from devices or from a table."""
