"""Tables over a tree of regions that add up: least squares in linear time, exact variances, whole counts."""
