"""MST and AIM as published, with our exact noise, for `wide.py`: over the bins in which errors are compared.

MST: McKenna, Miklau and Sheldon 2021, Algorithms 1 to 3: a third of rho each for one-way tables, the tree, its pairs;
categories below three standard deviations in one cell; a tree is exact and needs no inference but its own.
AIM: McKenna, Mullins, Sheldon and Miklau 2022, Algorithms 1 and 2, for the workload of all pairs and the tables in
them: one-way tables first, alpha = 0.9, T = 16 d, weights by overlap, annealing. What differs: its model is fitted as
`graphical`'s is (latent classes), as a junction tree of all that it may measure is too large.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.methods.people import Codes, Counts
from dpress.inference.joint.fit import fit_margins
from dpress.inference.maps.top_down import on_simplex
from dpress.inference.records import latent_classes
from dpress.inference.records.latent_classes import Pair
from dpress.inference.records.raking import raked, redrawn
from dpress.mechanisms.microdata.record_sampling import drawn, mixture
from dpress.noise import choose
from dpress.noise.gaussian import DiscreteGaussian

FLOOR = 1e-6
Axes = tuple[int, ...]


def exact(codes: Codes, sizes: list[int], axes: Axes) -> Counts:
    """Return the exact table of some attributes."""
    shape = [sizes[axis] for axis in axes]
    cells = np.ravel_multi_index([codes[axis] for axis in axes], shape)
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape).astype(np.int64)


def noisy(table: Counts, rho: Fraction, rng: Generator) -> Array:
    """Return a histogram with Gaussian noise that costs rho under add-remove."""
    noise = DiscreteGaussian(sigma2=1 / (2 * rho))
    return (table + noise.sample(table.size, rng=rng).reshape(table.shape)).astype(np.float64)


def shares(counts: Array) -> Array:
    """Return shares, none of them 0, of noisy counts."""
    flat = on_simplex(counts.ravel()[None], np.array([max(counts.sum(), 1.0)]))[0]
    raised = np.maximum(flat / flat.sum(), FLOOR)
    return (raised / raised.sum()).reshape(counts.shape)


def mst(codes: Codes, sizes: list[int], loss: ZCDP, *, rng: Generator) -> Codes:
    """Return records of a maximum spanning tree of noisy pairs."""
    d, third = len(sizes), loss.rho / 3
    one_way = [noisy(exact(codes, sizes, (axis,)), third / d, rng) for axis in range(d)]
    least = 3 * math.sqrt(d / (2 * third))
    groups = [np.where(own >= least, np.cumsum(own >= least) - 1, (own >= least).sum()) for own in one_way]
    groups = [np.unique(own, return_inverse=True)[1] for own in groups]
    coarse = np.stack([own[row] for own, row in zip(groups, codes, strict=True)])
    kept = [int(own.max()) + 1 for own in groups]
    margins = [shares(np.bincount(own, weights=np.maximum(c, 0))) for own, c in zip(groups, one_way, strict=True)]
    size = round(float(np.mean([own.sum() for own in one_way])))
    tables = {pair: exact(coarse, kept, pair) for pair in itertools.combinations(range(d), 2)}
    tree = spanning_tree(tables, margins, size, third / (d - 1), rng)
    found = {
        pair: fit_margins(
            shares(noisy(tables[pair], third / (d - 1), rng)), {(place,): margins[a] for place, a in enumerate(pair)}
        ).table
        for pair in tree
    }
    made = along(tree, found, margins, size, rng)
    out = np.empty_like(codes, shape=made.shape)
    for axis, own in enumerate(groups):
        for group in range(kept[axis]):
            records, cells = np.flatnonzero(made[axis] == group), np.flatnonzero(own == group)
            out[axis, records] = cells[drawn(np.maximum(one_way[axis][cells], 0), records.size, rng=rng)]
    return out


def spanning_tree(
    tables: dict[Pair, Counts], margins: list[Array], size: int, rho: Fraction, rng: Generator
) -> list[Pair]:
    """Return d - 1 pairs, each chosen by the exponential mechanism among those that join two parts."""
    part, tree = list(range(len(margins))), list[Pair]()
    scores = {
        (a, b): int(np.abs(own - np.rint(size * np.outer(margins[a], margins[b])).astype(np.int64)).sum())
        for (a, b), own in tables.items()
    }
    epsilon = Fraction(math.isqrt(math.floor(8 * rho * 10**24)), 10**12)
    while len(tree) < len(margins) - 1:
        options = [(a, b) for a, b in tables if part[a] != part[b]]
        place = choose.exponential(np.array([scores[o] for o in options]), epsilon=epsilon, sensitivity=1, rng=rng)
        tree.append(options[place])
        first, second = (part[axis] for axis in options[place])
        part = [first if own == second else own for own in part]
    return tree


def along(tree: list[Pair], found: dict[Pair, Array], margins: list[Array], size: int, rng: Generator) -> Codes:
    """Return records of a tree from its first attribute outwards, each value rounded within the one before it."""
    made = np.zeros((len(margins), size), dtype=np.int64)
    made[0], known, left = drawn(margins[0], size, rng=rng), {0}, list(tree)
    while left:
        pair = next(one for one in left if (one[0] in known) != (one[1] in known))
        left.remove(pair)
        old, new = pair if pair[0] in known else pair[::-1]
        table = found[pair] if old == pair[0] else found[pair].T
        for value in range(table.shape[0]):
            records = np.flatnonzero(made[old] == value)
            made[new, records] = drawn(table[value], records.size, rng=rng)
        known.add(new)
    return made


class Known:
    """Noisy tables that may be measured again, by precision.

    Args:
        sizes: of the attributes.
    """

    def __init__(self, sizes: list[int]) -> None:
        self.sizes, self.size = sizes, 1.0
        self.counts, self.precisions = dict[Axes, Array](), dict[Axes, float]()

    def add(self, axes: Axes, counts: Array, precision: float) -> None:
        """Take one more noisy table in."""
        before = self.precisions.get(axes, 0.0)
        self.precisions[axes] = before + precision
        self.counts[axes] = (before * self.counts.get(axes, 0.0) + precision * counts) / (before + precision)

    @property
    def one_way(self) -> list[Array]:
        """The shares of every attribute."""
        return [shares(self.counts[axis,]) for axis in range(len(self.sizes))]

    @property
    def evidence(self) -> latent_classes.Evidence:
        """All of it."""
        pairs = {
            (axes[0], axes[1]): (own / self.size, 1 / (self.precisions[axes] * self.size**2))
            for axes, own in self.counts.items()
            if len(axes) == 2
        }
        return latent_classes.evidence(self.one_way, pairs)


def aim(codes: Codes, sizes: list[int], loss: ZCDP, *, rng: Generator) -> Codes:
    """Return records of pairs that are chosen and measured again with noise that is annealed."""
    d, known = len(sizes), Known(sizes)
    tables = {axes: exact(codes, sizes, axes) for k in (1, 2) for axes in itertools.combinations(range(d), k)}
    pairs = [axes for axes in tables if len(axes) == 2]
    weights = {axes: sum(len({*axes} & {*one}) for one in pairs) for axes in tables}
    rounds, left = 16 * d, loss.rho
    part, chosen = Fraction(9, 10) * loss.rho / rounds, Fraction(1, 10) * loss.rho / rounds
    for axis in range(d):
        known.add((axis,), noisy(tables[axis,], part, rng), float(2 * part))
        left -= part
    known.size = max(float(np.mean([known.counts[axis,].sum() for axis in range(d)])), 1.0)
    model = latent_classes.initial(known.one_way, rng=rng)
    while left > 0:
        if left <= 2 * (part + chosen):
            part, chosen = Fraction(9, 10) * left, Fraction(1, 10) * left
        expected = {axes: known.size * _expected(model, axes) for axes in tables}
        axes = _worst(tables, weights, expected, (part, chosen), rng)
        known.add(axes, noisy(tables[axes], part, rng), float(2 * part))
        left -= part + chosen
        model = latent_classes.fit(model, known.evidence, 20)
        change = np.abs(known.size * _expected(model, axes) - expected[axes]).sum()
        if change <= math.sqrt(2 / math.pi) * math.sqrt(1 / (2 * part)) * tables[axes].size:
            part, chosen = 4 * part, 4 * chosen
    model = latent_classes.fitted(known.one_way, known.evidence, rng=rng)
    of_class = np.bincount(drawn(model.weights, round(known.size), rng=rng), minlength=model.weights.size)
    made = mixture([model.of(axis) for axis in range(d)], of_class, rng=rng)
    pairs = list(itertools.combinations(range(d), 2))
    return redrawn(made, raked(made, model.sizes, model.tables, pairs), rng=rng)


def _expected(model: latent_classes.LatentClasses, axes: Axes) -> Array:
    return model.weights @ model.of(axes[0]) if len(axes) == 1 else model.table((axes[0], axes[1]))


def _worst(
    tables: dict[Axes, Counts],
    weights: dict[Axes, int],
    expected: dict[Axes, Array],
    costs: tuple[Fraction, Fraction],
    rng: Generator,
) -> Axes:
    """Return the table that is chosen by weight x (error - expected noise)."""
    noise = math.sqrt(2 / math.pi) * math.sqrt(1 / (2 * costs[0]))
    scores = [
        weights[axes] * int(np.abs(own - np.rint(expected[axes]).astype(np.int64)).sum() - round(noise * own.size))
        for axes, own in tables.items()
    ]
    epsilon = Fraction(math.isqrt(math.floor(8 * costs[1] * 10**24)), 10**12)
    place = choose.exponential(np.array(scores), epsilon=epsilon, sensitivity=max(weights.values()), rng=rng)
    return list(tables)[place]
