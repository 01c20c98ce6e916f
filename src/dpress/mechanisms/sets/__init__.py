"""Sets of values that devices hold."""
