"""The output distribution of `report_noisy_max`, from its definition."""

import numpy as np


def report_noisy_max_probabilities(scores: np.ndarray, *, epsilon: float, sensitivity: int) -> np.ndarray:
    """Candidate i wins with probability p_i E[1 / (1 + successes among the others)], their number Poisson binomial."""
    weights = np.exp(-float(epsilon) * (scores.max() - scores) / (2 * sensitivity))
    wins = np.empty(weights.size)
    for candidate, p in enumerate(weights):
        successes = np.ones(1)
        for other in np.delete(weights, candidate):
            successes = np.convolve(successes, [1 - other, other])
        wins[candidate] = p * (successes / np.arange(1, weights.size + 1)).sum()
    return wins
