"""What a person writes: the specification, and the files that it names."""
