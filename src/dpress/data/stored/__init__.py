"""Reports that a service collected: where they are kept, and how they are read again."""
