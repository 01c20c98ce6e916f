"""What to publish or to ask, by which method, at which error: before a row is read."""
