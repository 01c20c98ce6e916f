"""Local collections: report types, how devices answer them, and how tallies become a measurement."""
