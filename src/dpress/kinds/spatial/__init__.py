"""Maps: how many people are in any rectangle of a box."""
