"""Linear maps from cells to what is measured, workloads, and measurements."""
