"""What was spent: append-only facts, their price, and the file that keeps them."""
