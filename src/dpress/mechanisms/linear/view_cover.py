"""Which views (wider tables) to measure so that marginal tables are cheap under pure epsilon, and with what shares.

tables -> the weight of every set of attributes in their error -> covers by views, greedily -> the views' shares.
Source: Qardaji, Yang and Li 2014 (PriView), covers by views; prices and shares are ours.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.consistency import subsets

Axes = tuple[int, ...]
Weights = Mapping[Axes, float]

MOST_CELLS = 1 << 14  # of a view that is wider than a table
PRICES = (0.3, 1 / 3, 0.36)  # the powers of a view's variance that are tried as its price
ORDERS = 4  # of the attributes, in which views of equal price are met
ROUNDS = 24  # in each of which every third view makes room for others
WORK = 10_000  # sets times covers that are tried at most, but for the first covers
STEPS = 100  # of the search for shares
GRAIN = 1 << 20  # shares are whole multiples of its inverse
LEAST = 1e-5  # a view of a smaller share tells nothing that others do not


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """Views that together tell of all tables.

    Args:
        views: the axes of each, increasing.
        shares: of epsilon, adding up to 1.
        variance: the sum of the variances of all cells of all tables at epsilon 1, for real-valued Laplace noise.
    """

    views: tuple[Axes, ...]
    shares: tuple[Fraction, ...]
    variance: float


def weights_of(shape: Sequence[int], tables: Sequence[Axes]) -> dict[Axes, float]:
    """Return c_A for every set A of attributes that some table holds, by A.

    The variances of all cells of all tables add up to the sum of c_A v_A, v_A the variance of a cell of the table over
    A in what tells of A beyond its smaller tables: c_A = prod_{i in A} (n_i - 1) times the sum over the tables B that
    hold A of 1 / prod_{i in B, not in A} n_i (the residual decomposition; Xiao, He, Zhang and Kifer 2023).
    """
    weights: dict[Axes, float] = {}
    for table in map(sorted, tables):
        for axes in subsets(table):
            others = math.prod(shape[i] for i in table if i not in axes)
            weights[axes] = weights.get(axes, 0.0) + math.prod(shape[i] - 1 for i in axes) / others
    return weights


def best_cover(shape: Sequence[int], tables: Sequence[Axes]) -> Cover:
    """Return the best of several covers, each with the shares that suit it; nothing here is random.

    Args:
        shape: the number of cells along every axis.
        tables: the axes of every table.
    """
    weights, size = weights_of(shape, tables), len(shape)
    starts = range(0, size, -(-size // ORDERS))
    tries = max(len(PRICES), WORK // len(weights))
    first = [(price, start) for start in starts for price in PRICES][:tries]
    covers = [_shared(shape, weights, covering(shape, weights, *settings)) for settings in first]
    best = min(covers, key=_variance)
    for place in range(min(ROUNDS, tries - len(first))):
        ranked = sorted(best.views, key=lambda view: (view[place // 3 % size :], view))
        kept = [view for number, view in enumerate(ranked) if number % 3 != place % 3]
        views = covering(shape, weights, PRICES[place % len(PRICES)], place % size, kept)
        best = min(best, _shared(shape, weights, views), key=_variance)
    return best


def _variance(cover: Cover) -> float:
    return cover.variance


class Part(NamedTuple):
    """What some sets cost in a view, and their value; of several it adds up.

    Args:
        mass: the sum of c_A / prod_{i in A} n_i; times a view's cells, and 2, its variance at share 1.
        value: the sum of c_A^(1/3).
    """

    mass: float
    value: float


def covering(shape: Sequence[int], weights: Weights, power: float, start: int, kept: Sequence[Axes] = ()) -> list[Axes]:
    """Return views that tell of every set: those that are kept, and more, one after the other.

    Views of variances d_V at share 1 that tell of different sets come to (sum of d_V^(1/3))^3 with the best shares. So
    a view's price is d_V^(1/3), d_V of what no earlier view tells of, and its value the sum of c_A^(1/3) over the same
    sets. A view grows from the largest set left, attribute by attribute, as long as price over value falls.

    Args:
        shape: the number of cells along every axis.
        weights: of the sets, by their axes.
        power: in the place of 1/3 in the price; slightly smaller ones make wider views, of which more is used.
        start: the attribute from which sets of one size are ranked.
        kept: views that are there already.
    """
    most = max(map(len, weights))
    left = {_mask(a): Part(c / math.prod(shape[i] for i in a), c ** (1 / 3)) for a, c in weights.items()}
    views: list[Axes] = []

    def add(view: Axes) -> None:
        views.append(view)
        for axes in subsets(view, most):
            left.pop(_mask(axes), None)

    for view in kept:
        add(view)
    for axes in sorted(weights, key=lambda axes: (-len(axes), [(i - start) % len(shape) for i in axes])):
        if _mask(axes) in left:
            add(_Growth(shape, left, most, axes).grown(power))
    return views


def _mask(axes: Sequence[int]) -> int:
    """Return a set of attributes as the bits of a number."""
    return sum(1 << axis for axis in axes)


class _Growth:
    """One view that grows attribute by attribute; what each further attribute would add is kept up to date."""

    def __init__(self, shape: Sequence[int], left: Mapping[int, Part], most: int, axes: Axes) -> None:
        self.shape, self.left, self.most, self.axes = shape, left, most, [*axes]
        self.cells = math.prod(shape[i] for i in axes)
        self.mass, self.value = _total(left, map(_mask, subsets(axes, most)))
        self.gains = {axis: Part(0.0, 0.0) for axis in range(len(shape)) if axis not in axes}
        self._gain([*map(_mask, subsets(axes, most - 1))])

    def grown(self, power: float) -> Axes:
        """Return the view where price over value no longer falls."""
        price = (self.cells * self.mass) ** power / self.value
        while options := [
            ((self.cells * self.shape[axis] * (self.mass + mass)) ** power / (self.value + value), axis)
            for axis, (mass, value) in self.gains.items()
            if self.cells * self.shape[axis] <= MOST_CELLS
        ]:
            least, axis = min(options)
            if least >= price:
                break
            price = least
            self._take(axis)
        return tuple(sorted(self.axes))

    def _take(self, axis: int) -> None:
        mass, value = self.gains.pop(axis)
        self.mass, self.value, self.cells = self.mass + mass, self.value + value, self.cells * self.shape[axis]
        self._gain([_mask(part) | 1 << axis for part in subsets(self.axes, self.most - 2)])
        self.axes.append(axis)

    def _gain(self, bases: Sequence[int]) -> None:
        """Add to every further attribute the sets of it and one of these."""
        for axis, (mass, value) in self.gains.items():
            more = _total(self.left, (base | 1 << axis for base in bases))
            self.gains[axis] = Part(mass + more.mass, value + more.value)


def _total(left: Mapping[int, Part], masks: Iterator[int]) -> Part:
    """Return the sum over those of the sets that are left."""
    mass = value = 0.0
    for mask in masks:
        if (part := left.get(mask)) is not None:
            mass, value = mass + part.mass, value + part.value
    return Part(mass, value)


def _shared(shape: Sequence[int], weights: Weights, views: Sequence[Axes]) -> Cover:
    """Return views with the shares of epsilon that make the sum of variances least, as far as STEPS lead.

    Sum of c_A / p_A, p_A = 1/2 sum of s_V^2 g_VA over the views V that tell of A, g_VA = prod_{i in A} n_i over the
    view's cells. It is least where s_V is proportional to what V answers for, e_V = s_V^2 sum of c_A g_VA / p_A^2; of
    views that tell of different sets a step s_V^(2/3) e_V^(1/3) leads there at once.
    """
    places, most = {axes: place for place, axes in enumerate(weights)}, max(map(len, weights))
    rows = []
    for number, view in enumerate(views):
        cells = math.prod(shape[i] for i in view)
        within = (axes for axes in subsets(view, most) if axes in places)
        rows += [(number, places[axes], math.prod(shape[i] for i in axes) / cells) for axes in within]
    of_view, of_set, gains = (np.array(column) for column in zip(*rows, strict=True))
    costs, shares = np.array([*weights.values()]), np.full(len(views), 1 / len(views))

    def precisions() -> Array:
        return np.asarray(np.bincount(of_set, shares[of_view] ** 2 * gains, minlength=costs.size) / 2)

    for _ in range(STEPS):
        through = np.bincount(of_view, gains * (costs / precisions() ** 2)[of_set], minlength=len(views))
        shares = np.cbrt(shares**4 * through)
        shares /= shares.sum()
    useful = [number for number, share in enumerate(shares) if share >= LEAST]
    whole = np.maximum(np.floor(shares[useful] * GRAIN), 1).astype(np.int64)
    whole[np.argmax(whole)] += GRAIN - int(whole.sum())
    return Cover(
        views=tuple(views[number] for number in useful),
        shares=tuple(Fraction(int(share), GRAIN) for share in whole),
        variance=float((costs / precisions()).sum()),
    )
