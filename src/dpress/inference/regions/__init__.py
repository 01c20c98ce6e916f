"""Tables over a tree of regions that add up: least squares, exact variances, shares of the budget, whole counts."""
