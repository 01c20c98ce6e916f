"""A latent class model of several attributes, fitted to noisy tables of their pairs all at once.

P(x) = sum_k weight_k prod_a share_ka(x_a): attributes are independent within a class. Every pair's table is a product
of two thin matrices, so that all of them together cost one matrix product, and what one table says helps all others.

one-way shares, noisy tables of pairs -> (what noise explains of the residuals, taken out -> one step of EM), round by
round -> classes. Post-processing: it sees no record.
Paper: Lazarsfeld and Henry 1968 (the model); Dempster, Laird and Rubin 1977 (EM), on the pairwise likelihood of
Lindsay 1988; Efron and Morris 1973 (shrinkage).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.inference.records.blocks import Blocks

Pair = tuple[int, int]

CLASSES = 200
MODELS, FEWEST_MODELS = 16, 2
"""From independent starts, whose mean is the estimate: what each makes of the noise differs, and averages out."""
ROUNDS, FEWEST_ROUNDS = 400, 60
FEW_CELLS = 200
"""Of all attributes together; beyond them models, and then rounds, are fewer: a round costs the square of the cells."""
NOISE = 0.8
"""Of a table's noise, the part that its residual is expected to hold: the model follows the rest."""
LEAST_RATIO = 1e-3
"""Of a share after a round to that before: noise may say that it is negative."""
_TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LatentClasses:
    """A mixture of classes within which attributes are independent.

    Args:
        sizes: the number of cells of every attribute.
        weights: of the classes, > 0, adding up to 1.
        cells: the share of every cell of every attribute within each class, shape (classes, cells of all attributes).
    """

    sizes: tuple[int, ...]
    weights: Array
    cells: Array

    @property
    def starts(self) -> npt.NDArray[np.int64]:
        """The place of every attribute's first cell."""
        return Blocks(sizes=self.sizes).starts

    @property
    def tables(self) -> Array:
        """The shares of all pairs of cells, shape (cells, cells); blocks of one attribute with itself mean nothing."""
        return np.asarray(self.cells.T @ (self.weights[:, None] * self.cells))

    def table(self, pair: Pair) -> Array:
        """Return the shares of a pair."""
        first, second = (self.of(axis) for axis in pair)
        return np.asarray(first.T @ (self.weights[:, None] * second))

    def of(self, axis: int) -> Array:
        """Return an attribute's shares within every class, shape (classes, cells)."""
        start = self.starts[axis]
        return self.cells[:, start : start + self.sizes[axis]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What is known of the attributes: shares of each, and of some pairs with noise.

    Args:
        one_way: shares of every attribute's cells, > 0, one after the other.
        pairs: noisy shares of pairs of cells, shape (cells, cells), symmetric; 0 where nothing was measured.
        variances: of their noise; infinite where nothing was measured.
    """

    one_way: Array
    pairs: Array
    variances: Array


def evidence(one_way: Sequence[Array], measured: Mapping[Pair, tuple[Array, float]]) -> Evidence:
    """Return one-way shares and noisy tables of pairs as one.

    Args:
        one_way: shares of every attribute's cells, > 0.
        measured: by rising pairs, unbiased noisy shares and the variance of each.
    """
    ends = np.cumsum([shares.size for shares in one_way])
    pairs, variances = np.zeros((ends[-1], ends[-1])), np.full((ends[-1], ends[-1]), math.inf)
    for (first, second), (shares, variance) in measured.items():
        block = tuple(slice(ends[axis] - one_way[axis].size, ends[axis]) for axis in (first, second))
        pairs[block], variances[block] = shares, variance
        pairs[block[::-1]], variances[block[::-1]] = shares.T, variance
    return Evidence(one_way=np.concatenate(one_way), pairs=pairs, variances=variances)


def initial(one_way: Sequence[Array], *, rng: Generator, classes: int = CLASSES) -> LatentClasses:
    """Return classes that differ at random from the attributes' shares: each times an exponential number.

    Args:
        one_way: shares of every attribute's cells, > 0.
        rng: the generator.
        classes: how many.
    """
    shares = []
    for marginal in one_way:
        even = (rng.words(classes * marginal.size) >> np.uint64(11)) * 2.0**-53
        raised = marginal * (-np.log1p(-even)).reshape(classes, marginal.size) + _TINY
        shares.append(raised / raised.sum(axis=1, keepdims=True))
    sizes = tuple(marginal.size for marginal in one_way)
    return LatentClasses(sizes=sizes, weights=np.full(classes, 1 / classes), cells=np.concatenate(shares, axis=1))


def fit(model: LatentClasses, evidence: Evidence, rounds: int) -> LatentClasses:
    """Return the model after so many rounds.

    Formula: in a round the table M of a pair that was measured as Y with noise variance v is expected to be
    T = M + (Y - M) tau M / (tau M + v): the exact table has prior mean M and variance tau M, tau by moments,
    max(0, |Y - M|^2 - NOISE cells v). EM then makes sum T log M over these pairs, and that of one-way shares, larger.
    A table whose residual is as large as its noise says nothing more: tau is 0, and T is M.
    Error: no formula.

    Args:
        model: to begin with.
        evidence: what it is fitted to.
        rounds: how many.
    """
    blocks, seen = Blocks(sizes=model.sizes), np.isfinite(evidence.variances)
    variances = np.where(seen, evidence.variances, 0.0)
    noise = NOISE * blocks.sums(variances)
    for _ in range(rounds):
        tables = model.tables
        residuals = np.where(seen, evidence.pairs - tables, 0.0)
        tau = blocks.spread(np.maximum(blocks.sums(residuals**2) - noise, 0.0)) * tables
        expected = tables + residuals * tau / np.maximum(tau + variances, 1e-300)
        ratios = np.where(seen, np.maximum(expected, LEAST_RATIO * tables) / np.maximum(tables, _TINY), 0.0)
        model = _maximised(model, ratios, evidence.one_way)
    return model


def fitted(one_way: Sequence[Array], evidence: Evidence, *, rng: Generator, most: int = MODELS) -> LatentClasses:
    """Return the mean of models from independent starts, with as many models and rounds as `affordable` says.

    Args:
        one_way: shares of every attribute's cells, > 0.
        evidence: what it is fitted to.
        rng: the generator.
        most: models, at most.
    """
    affordable_starts, rounds = affordable(evidence.one_way.size)
    starts = min(affordable_starts, most)
    models = [fit(initial(one_way, rng=rng), evidence, rounds) for _ in range(starts)]
    weights = np.concatenate([model.weights for model in models]) / starts
    return replace(models[0], weights=weights, cells=np.concatenate([model.cells for model in models]))


def affordable(cells: int) -> tuple[int, int]:
    """Return how many models, and how many rounds of each, take seconds to minutes.

    Args:
        cells: of all attributes together.

    >>> affordable(100), affordable(400), affordable(3000)
    ((16, 400), (4, 400), (2, 60))
    """
    whole = MODELS * ROUNDS * min(1.0, FEW_CELLS / cells) ** 2
    models = min(max(round(whole / ROUNDS), FEWEST_MODELS), MODELS)
    return models, min(max(round(whole / models), FEWEST_ROUNDS), ROUNDS)


def _maximised(model: LatentClasses, ratios: Array, one_way: Array) -> LatentClasses:
    """Return the model after one step of EM: what each class is expected to have of every cell, over all tables."""
    margins = one_way / np.maximum(model.weights @ model.cells, _TINY)
    counts = model.weights[:, None] * model.cells * (model.cells @ ratios + margins) + _TINY * _TINY
    sums = np.add.reduceat(counts, model.starts, axis=1)
    weights = sums.sum(axis=1)
    return replace(model, weights=weights / weights.sum(), cells=counts / np.repeat(sums, model.sizes, axis=1))
