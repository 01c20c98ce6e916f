"""The terms of the field: domains, workloads, claims, linear maps, measurements and randomness."""
