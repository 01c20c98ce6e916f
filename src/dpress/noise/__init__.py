"""Exact samplers, one distribution a file, all on integers from the secure stream."""
