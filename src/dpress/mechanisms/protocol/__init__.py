"""What devices are asked, how they answer, and how a tally becomes a measurement."""
