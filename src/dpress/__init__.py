"""Plan, collect, publish and check differentially private data."""
