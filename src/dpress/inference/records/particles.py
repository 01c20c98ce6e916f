"""A log-linear model of pairs of attributes, held as weighted particles: any pairs, any number of attributes.

P(x) is proportional to prod_a share_a(x_a) prod_(a,b) factor_ab(x_a, x_b). Raking, that is proportional fitting, meets
one table after the other: it multiplies a factor, and the records' weights with it. Where few records come to bear the
weight, the particles are resampled by weight, and every record redraws each attribute given its others (Gibbs).
Paper: Deming and Stephan 1940 (raking); Del Moral, Doucet and Jasra 2006 (reweight, resample, move).

shares -> independent records -> raked to tables -> records. Post-processing: the records stand for nobody.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpress.core.linear import Array
from dpress.core.people import Codes
from dpress.core.rng import Generator

Pair = tuple[int, int]
Tables = Mapping[Pair, Array]

SIZE = 1 << 15
LEAST_EFFECTIVE = 0.5
"""The least effective sample size, as a share of the particles, before they are resampled."""
PRIOR = 1.0
"""Records that both sides of a ratio get on top: less would follow the particles' own sampling error."""
WORSE, NEAR = 1.5, 0.002
"""Particles that were moved may be this much farther from their tables, by ratio and in total variation."""
FURTHEST = 5.0
"""The largest change of a factor's logarithm in one visit."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Particles:
    """A weighted sample of records of a log-linear model.

    Args:
        shares: of every attribute's cells, > 0, adding up to 1.
        factors: logarithms, by rising pairs; a pair without one is independent given the others.
        codes: of the records, shape (attributes, records).
        weights: of the records, adding up to 1.
    """

    shares: tuple[Array, ...]
    factors: Tables
    codes: Codes
    weights: Array

    @property
    def effective_share(self) -> float:
        """The effective sample size, 1 / sum of squared weights, as a share of the particles."""
        return float(1 / (self.weights**2).sum() / self.weights.size)

    def cells(self, pair: Pair) -> npt.NDArray[np.int64]:
        """Return the cell of every record in a pair's flat table."""
        first, second = pair
        return np.asarray(self.codes[first].astype(np.int64) * self.shares[second].size + self.codes[second])

    def table(self, pair: Pair) -> Array:
        """Return the shares of a pair."""
        shape = self.shares[pair[0]].size, self.shares[pair[1]].size
        return _sums(self.cells(pair), self.weights, shape[0] * shape[1]).reshape(shape)


def initial(shares: tuple[Array, ...], *, rng: Generator, size: int = SIZE) -> Particles:
    """Return records of independent attributes, all of one weight.

    Args:
        shares: of every attribute's cells, > 0.
        rng: the generator.
        size: the number of records.
    """
    equal = np.full(size, 1 / size)
    codes = [_systematic(own, size, rng)[np.argsort(rng.words(size))] for own in shares]
    return Particles(shares=shares, factors={}, codes=np.array(codes, dtype=np.int32), weights=equal)


def rake(particles: Particles, tables: Tables, *, passes: int, rng: Generator) -> Particles:
    """Return the particles nearer to every table, one after the other, `passes` times.

    Where few records come to bear the weight, they are moved and raked again, and kept so if they are about as near:
    moves can go wrong where attributes determine each other.
    Error: the particles' sampling error remains in what no table asks for, about sqrt(share / records) a cell; tables
    that contradict each other are met in turn.

    Args:
        particles: whose factors the visits change.
        tables: shares >= 0 that add up to 1, by rising pairs.
        passes: how often each is visited.
        rng: the generator.
    """
    found = _fit(particles, tables, passes)
    if found.effective_share >= LEAST_EFFECTIVE:
        return found
    fresh = _fit(move(found, rng=rng), tables, passes)
    return fresh if distance(fresh, tables) <= WORSE * distance(found, tables) + NEAR else found


def distance(particles: Particles, tables: Tables) -> float:
    """Return the mean total variation between the particles' tables and those asked for."""
    return float(np.mean([np.abs(particles.table(pair) - asked).sum() / 2 for pair, asked in tables.items()]))


def move(particles: Particles, *, rng: Generator) -> Particles:
    """Return as many records of one weight: drawn by weight, then each attribute redrawn given the record's others."""
    size = particles.weights.size
    codes = particles.codes[:, _systematic(particles.weights, size, rng)]
    for axis, shares in enumerate(particles.shares):
        scores = np.tile(np.log(shares), (size, 1))
        for (first, second), factor in particles.factors.items():
            if axis == first:
                scores += factor.T[codes[second]]
            elif axis == second:
                scores += factor[codes[first]]
        ends = np.exp(scores - scores.max(axis=1, keepdims=True)).cumsum(axis=1)
        points = rng.words(size) * 2.0**-64 * (1 - 2.0**-40) * ends[:, -1]
        codes[axis] = (ends <= points[:, None]).sum(axis=1)
    return replace(particles, codes=codes, weights=np.full(size, 1 / size))


def sample(particles: Particles, tables: Tables, size: int, *, rng: Generator) -> Codes:
    """Return records of one weight in random order, shape (attributes, size).

    Systematic sampling by weight, so that little sampling error is added; beyond the number of particles they are
    moved, and raked to the tables again, before more are drawn.
    """
    drawn = []
    for done in range(0, size, particles.weights.size):
        if done:
            particles = rake(move(particles, rng=rng), tables, passes=3, rng=rng)
        drawn.append(particles.codes[:, _systematic(particles.weights, min(size - done, particles.weights.size), rng)])
    found = np.concatenate([particles.codes[:, :0], *drawn], axis=1)
    return found[:, np.argsort(rng.words(size))]


def _fit(particles: Particles, tables: Tables, passes: int) -> Particles:
    places = {pair: particles.cells(pair) for pair in tables}
    factors, weights = dict(particles.factors), particles.weights
    for _ in range(passes):
        for pair, asked in tables.items():
            step = _step(_sums(places[pair], weights, asked.size), asked, weights.size)
            factors[pair] = factors.get(pair, 0.0) + step.reshape(asked.shape)
            weights = weights * np.exp(step)[places[pair]]
        weights = weights / weights.sum()
    return replace(particles, factors=factors, weights=weights)


def _sums(places: npt.NDArray[np.int64], weights: Array, size: int) -> Array:
    return np.bincount(places, weights=weights, minlength=size).astype(np.float64)


def _step(have: Array, asked: Array, size: int) -> Array:
    """Return the change of a factor's logarithm; none where no record is, which says little about so small a share."""
    ratio = np.log((asked.ravel() + PRIOR / size) / (have + PRIOR / size))
    return np.where(have > 0, np.clip(ratio, -FURTHEST, FURTHEST), 0.0)


def _systematic(weights: Array, size: int, rng: Generator) -> npt.NDArray[np.int64]:
    """Return places in rising order, each as often as its share of the weights says, rounded up or down."""
    ends = np.cumsum(weights)
    points = (np.arange(size) + float(rng.words(1)[0]) * 2.0**-64) * (ends[-1] / max(size, 1))
    return np.asarray(np.minimum(np.searchsorted(ends, points, side="right"), weights.size - 1))
