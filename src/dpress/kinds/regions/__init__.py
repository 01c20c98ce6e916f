"""Tables of every region of every level of a tree, which add up: totals, marginals, records."""
