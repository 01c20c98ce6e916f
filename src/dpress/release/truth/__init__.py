"""What only whoever holds the rows may see: checks before a release, errors after it. Exact, never private."""
