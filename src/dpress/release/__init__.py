"""Plan a publication, run it, and keep its result."""
