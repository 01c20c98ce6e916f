"""Counts >= 0 from the total down: every half gets the share that the whole noisy table makes likely.

estimates -> the total -> halves of halves, level by level: how shares are spread, by all of the level's noisy
differences -> every half's posterior mean -> cells; and the mean of these over several ways to halve.
"""

from collections.abc import Callable

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.halves.halves_noise import HalvesNoise
from dpress.inference.halves.halvings import Halving, halvings
from dpress.inference.halves.share_posterior import weigh
from dpress.inference.halves.share_prior import CONCENTRATIONS, distributions

ROUNDS = 20  # of expectation and maximisation
ANCHOR = 0.5  # parents' worth of even weights beside those of a level
FEWEST = 0.01  # people in a parent below which its halves are not told apart
WORK = 1 << 16  # cells times ways to halve
MOST_WAYS = 16
NEAR = 4.0  # standard errors of an estimated difference that a half may be away from it
TINY = 1e-300
ROUNDING = 1e-12  # of a count: a whole one that shares were multiplied to


def posterior_counts(cells: Array, variance: Callable[[list[Array]], float], *, users: int | None = None) -> Array:
    """Return counts >= 0 whose sum is the estimated total, or `users`.

    A parent of N people, whose halves are estimated to differ by d with variance v, gives its first half the share

        sum_k w_k int b f_k(b) g(b) db / sum_k w_k int f_k(b) g(b) db,    g(b) = exp(-(d - (2 b - 1) N)^2 / (2 v)),

    f_k the density of shares under concentration k (`share_prior`), and w_k how often that is met among all parents of
    the level: maximum likelihood, by expectation and maximisation. Tables of up to 2^12 cells are halved in 16 ways,
    whose cuts lie elsewhere, larger ones in fewer: the mean over them has no seams. Last, no half of the first way is
    left farther than 4 standard errors from its estimate: what is known well stays so.

    Error: not known exactly; biased towards what is even or empty, as far as the table's own halves are. It sees
    estimates and their noise alone.

    Source: an empirical Bayes estimate of multiscale shares, after Kolaczyk 1999 (shares of Poisson counts over a
    binary tree), with the noise known; the mean over ways as cycle spinning (Coifman and Donoho 1995).

    Args:
        cells: unbiased estimates, with an axis for every attribute.
        variance: of the answer to a query, given by its weights on every axis, in counts squared.
        users: how many people there are; None where nobody knows.

    >>> posterior_counts(np.array([60.0, -2.0, -1.0, 3.0]), lambda query: 9.0).round(1)
    array([59.2,  0. ,  0.2,  0.7])
    """
    total = max(float(cells.sum()), 0.0) if users is None else float(users)
    ways = int(np.clip(WORK // cells.size, 1, MOST_WAYS))
    noise, sums = HalvesNoise(variance), np.zeros(cells.shape)
    for way in range(ways):
        parts = np.full((1,) * cells.ndim, total)
        for halving in halvings(cells.shape, way / ways):
            parts = _halved(parts, halving, _shares(_compared(cells, noise, halving, parts)))
        sums += parts
    counts = _near(cells, noise, sums / ways)
    whole = np.rint(counts)
    return np.where(np.abs(counts - whole) < ROUNDING * np.maximum(whole, 1), whole, counts)


def _near(cells: Array, noise: HalvesNoise, means: Array) -> Array:
    """Return means over ways to halve with every half of the first way as near its estimate as noise allows.

    A sum that is hardly noisy, over cells that are, is cut by the other ways.
    """
    parts = np.full((1,) * means.ndim, means.sum())
    for halving in halvings(means.shape, 0.0):
        parents, differences, variances = _compared(cells, noise, halving, parts).T
        first, second = _halves(means, halving)
        whole = np.maximum(first + second, TINY).ravel()
        farthest = NEAR * np.sqrt(variances)
        apart = np.clip((first - second).ravel() / whole * parents, differences - farthest, differences + farthest)
        parts = _halved(parts, halving, np.clip((1 + apart / np.maximum(parents, TINY)) / 2, 0.0, 1.0))
    return parts


def _compared(cells: Array, noise: HalvesNoise, halving: Halving, parts: Array) -> Array:
    """Return of every part that is cut its count, the estimated difference of its halves, and that one's variance."""
    first, second = _halves(cells, halving)
    parents = np.moveaxis(parts, halving.axis, 0)[halving.cut]
    return np.stack([parents.ravel(), (first - second).ravel(), noise.variances(halving)], axis=1)


def _halves(cells: Array, halving: Halving) -> tuple[Array, Array]:
    """Return the sums of cells over first and over second halves, with the cut axis first."""
    for along, starts in enumerate(halving.halves):
        cells = np.add.reduceat(cells, starts[:-1], axis=along)
    sums, first = np.moveaxis(cells, halving.axis, 0), halving.first
    return sums[first], sums[first + 1]


def _halved(parts: Array, halving: Halving, shares: Array) -> Array:
    """Return the counts of all halves from those of the parts and the first halves' shares of those that are cut."""
    parents, first = np.moveaxis(parts, halving.axis, 0), halving.first
    halves = np.repeat(parents, np.where(halving.middles > halving.starts[halving.axis][:-1], 2, 1), axis=0)
    whole = parents[halving.cut]
    halves[first] = shares.reshape(whole.shape) * whole
    halves[first + 1] = whole - halves[first]
    return np.moveaxis(halves, 0, halving.axis)


def _shares(given: Array) -> Array:
    """Return the posterior mean of the first half's share; see `share_posterior.weigh`."""
    shares, split = np.full(len(given), 0.5), np.flatnonzero(given[:, 0] > FEWEST)
    if not split.size:
        return shares
    masses = np.empty((split.size, len(CONCENTRATIONS)))
    firsts = np.empty_like(masses)
    weigh(given[split], distributions(), masses, firsts)
    weights = np.full(len(CONCENTRATIONS), 1 / len(CONCENTRATIONS))
    for _ in range(ROUNDS):
        likely = masses * weights
        likely /= likely.sum(axis=1, keepdims=True)
        weights = (likely.sum(axis=0) + ANCHOR / len(weights)) / (split.size + ANCHOR)
    shares[split] = (firsts @ weights) / (masses @ weights)
    return shares
