"""Statistics of groups: counts, sums, means, variances, shares and quantiles."""
