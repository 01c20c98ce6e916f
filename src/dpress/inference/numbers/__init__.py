"""From reports of numbers to sums of levels, and to the distribution of the levels."""
