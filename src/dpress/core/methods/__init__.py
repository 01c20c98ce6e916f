"""What every method keeps: its protocols, its card, and the only ways in which it may see rows."""
