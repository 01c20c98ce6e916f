"""Relations between the numbers of a table's groups: covariances, correlations and regressions."""
