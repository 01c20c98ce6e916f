"""Post-processing of measurements: it sees noisy answers only, never rows, noise or budget."""
