"""Counts by halves of halves: what always holds of them, and how much nearer they are to the truth."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import beta, norm

from dpress.inference.halves.halves_noise import HalvesNoise
from dpress.inference.halves.halvings import halvings
from dpress.inference.halves.posterior_counts import posterior_counts
from dpress.inference.halves.share_posterior import weigh
from dpress.inference.halves.share_prior import CONCENTRATIONS, distributions

SHAPES = st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple)


def even(sigma2):
    """Return the variance of queries of cells whose noise is independent and alike."""
    return lambda weights: sigma2 * math.prod(float(along @ along) for along in weights)


@given(SHAPES, st.floats(0, 0.99))
def test_halvings_cut_every_axis_down_to_its_cells_and_never_twice(shape, offset):
    starts = [np.array([0, size]) for size in shape]
    for halving in halvings(shape, offset):
        assert all(np.array_equal(*pair) for pair in zip(halving.starts, starts, strict=True))
        cut = halving.middles[halving.cut]
        assert cut.size
        assert not np.isin(cut, starts[halving.axis]).any()
        starts[halving.axis] = halving.halves[halving.axis]
    assert [own.tolist() for own in starts] == [[*range(size + 1)] for size in shape]


@settings(deadline=None, max_examples=60)
@given(SHAPES, st.floats(0.1, 100), st.integers(0, 2**32 - 1), st.sampled_from([None, 0, 40]))
def test_counts_are_not_negative_and_add_up(shape, sigma, seed, users):
    estimates = np.random.default_rng(seed).normal(3, sigma, shape)  # noqa: TID251  # made-up counts
    counts = posterior_counts(estimates, even(sigma**2), users=users)
    assert counts.shape == shape
    assert counts.min() >= 0
    assert counts.sum() == pytest.approx(max(estimates.sum(), 0) if users is None else users, abs=1e-6)


def test_without_noise_to_speak_of_counts_stay_where_they_are():
    truth = np.random.default_rng(1).integers(0, 50, (12, 7)).astype(float)  # noqa: TID251  # made-up counts
    assert posterior_counts(truth, even(1e-6)) == pytest.approx(truth, abs=1e-9)
    assert posterior_counts(1000 + truth, even(1.0)) == pytest.approx(1000 + truth, abs=2)


def test_masses_and_shares_are_those_of_the_integrals():
    """Up to a factor of a row; the prior is tabulated at steps of half an octave, whose middle is taken here."""
    total, difference, variance = 40.0, 9.0, 150.0
    masses, firsts = (np.empty((1, len(CONCENTRATIONS))) for _ in range(2))
    weigh(np.array([[total, difference, variance]]), distributions(), masses, firsts)
    for place, concentration in enumerate(CONCENTRATIONS[2:5], 2):
        spread = (1 + 2 * concentration / total) / (2 * concentration + 1)
        prior = beta(*2 * [2 ** (round(math.log2((1 / spread - 1) / 2) * 2) / 2)])
        at = [quad(lambda b, k=k: b**k * prior.pdf(b) * norm.pdf(difference, (2 * b - 1) * total, variance**0.5), 0, 1)[0] for k in (0, 1)]  # fmt: skip  # noqa: E501, B023
        assert firsts[0, place] / masses[0, place] == pytest.approx(at[1] / at[0], rel=2e-3)


def test_a_difference_is_that_of_the_halves():
    noise = HalvesNoise(even(2.0))
    for halving in halvings((8,), 0.0):
        sizes = np.diff(halving.starts[0])[halving.cut]
        assert noise.variances(halving).tolist() == (2.0 * sizes).tolist()


def crowds(rng):
    """Yield tables that are empty for the most part, smooth, and of single spikes, of 1,000 people."""
    cells = 256
    smooth = np.exp(-(((np.arange(cells) - 90) / 30) ** 2))
    spikes = np.zeros(cells)
    spikes[rng.choice(cells, 6, replace=False)] = 1
    sparse = np.where(rng.random(cells) < 0.15, rng.gamma(0.5, size=cells), 0)
    for shares in (smooth, spikes, sparse):
        yield rng.multinomial(1000, shares / shares.sum()).astype(float)


def squares(estimate, rng, sigma=12.0):
    """Return the mean squared errors of cells and of ranges, as shares of those of the unbiased counts."""
    sums = np.zeros((2, 2))
    for _ in range(6):
        for truth in crowds(rng):
            noisy = truth + rng.normal(0, sigma, truth.size)
            for row, counts in enumerate((noisy, estimate(noisy, even(sigma**2)))):
                prefixes = np.append(0, np.cumsum(counts - truth))
                ends = rng.integers(0, truth.size + 1, (2, 400))
                sums[row] += np.mean((counts - truth) ** 2), np.mean((prefixes[ends[1]] - prefixes[ends[0]]) ** 2)
    return sums[1] / sums[0]


def test_noisy_counts_come_nearer_to_the_truth_and_clipped_ones_would_not():
    """Measured .2 and .8; the control is what cutting off at zero does: it pushes sums up."""
    cells, ranges = squares(posterior_counts, np.random.default_rng(3))  # noqa: TID251  # made-up counts
    assert cells < 0.4
    assert ranges < 0.9
    clipped = squares(lambda noisy, _: np.maximum(noisy, 0), np.random.default_rng(3))  # noqa: TID251  # made-up counts
    assert clipped[1] > 3


def test_another_offset_halves_otherwise():
    cuts = [[halving.middles.tolist() for halving in halvings((6,), offset)] for offset in (0.0, 0.3)]
    assert all(one != other for one, other in pairwise(cuts))
