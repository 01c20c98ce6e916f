"""A joint distribution of many attributes as a chain of conditional tables, never as one table that does not fit.

P(x) = prod over the factors of P(own attributes | earlier attributes). One dense table is one factor without a given.
Hidden axes, such as latent classes, are summed out of every answer.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.inference.consistency import Axes

LIMIT = 1 << 24
"""The largest table, in cells, that a marginal may need on the way."""
_WEIGHT_BITS = 62
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """P(targets | given).

    Args:
        given: attributes of earlier factors.
        targets: attributes that this factor brings in.
        table: shape (sizes of given, sizes of targets); adds up to 1 over the targets.
    """

    given: Axes
    targets: Axes
    table: Array

    @property
    def axes(self) -> Axes:
        """The attributes of the table's axes."""
        return self.given + self.targets

    @property
    def rows(self) -> Array:
        """The conditional distributions, one a row."""
        return self.table.reshape(math.prod(self.table.shape[: len(self.given)]), -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """A distribution over the product of all attributes.

    Args:
        shape: the number of cells of every attribute.
        factors: each attribute, and each hidden axis, is one factor's own.
        gap: the largest total variation between a table it was fitted to and its own; 0 where it has them all.
        reason: one line on where the fit stopped, and why; empty where nothing was stopped.
        hidden: the number of cells of every axis that is no attribute; the factors number them after the attributes.
    """

    shape: Axes
    factors: tuple[Factor, ...]
    gap: float = 0.0
    reason: str = ""
    hidden: Axes = ()

    def __post_init__(self) -> None:
        seen: list[int] = []
        for factor in self.factors:
            if not set(factor.given) <= set(seen) or factor.table.shape != tuple(self.sizes[a] for a in factor.axes):
                raise ValueError(f"the factor over {factor.axes} does not follow from those before it")
            seen.extend(factor.targets)
        if sorted(seen) != list(range(len(self.sizes))):
            raise ValueError(f"every attribute must be one factor's own, got {seen}")

    @property
    def sizes(self) -> Axes:
        """The number of cells of every axis, hidden ones last."""
        return self.shape + self.hidden

    def marginal(self, axes: Axes, *, limit: int = LIMIT) -> Array:
        """Return the table over a few attributes, in the order named, by variable elimination.

        Raises:
            NotSupported: a table on the way has more than `limit` cells; the message says how many.
        """
        terms = [(factor.axes, factor.table) for factor in self._needed(axes)]
        for _ in range(len(self.sizes)):
            left = {axis for scope, _ in terms for axis in scope} - set(axes)
            if not left:
                break
            axis = min(left, key=lambda place: (self._cells(self._touched(terms, place)), place))
            scope = self._touched(terms, axis)
            visible = [place for place in scope if place < len(self.shape)]  # hidden ones: a product of matrices
            self._allow(visible, limit)
            kept = tuple(place for place in scope if place != axis)
            merged = _product([term for term in terms if axis in term[0]], kept)
            terms = [term for term in terms if axis not in term[0]] + [(kept, merged)]
        self._allow(axes, limit)
        return _product(terms, axes)

    def sample(self, records: int, *, rng: Generator) -> Codes:
        """Return independent synthetic records, shape (attributes, records).

        Every conditional probability is rounded down to a multiple of 2^-62, after it lost 2^-40 of itself to make room
        for rounding; the largest takes the rest, and the result is drawn exactly.
        """
        codes = np.zeros((len(self.sizes), records), dtype=np.int64)
        for factor in self.factors:
            sizes = [self.sizes[axis] for axis in factor.given]
            row = np.ravel_multi_index([codes[axis] for axis in factor.given], sizes) if sizes else np.zeros(records)
            cell = _drawn(factor.rows, np.asarray(row, dtype=np.int64), rng.words(records))
            drawn = np.unravel_index(cell, [self.sizes[axis] for axis in factor.targets])
            for axis, code in zip(factor.targets, drawn, strict=True):
                codes[axis] = code
        return codes[: len(self.shape)]

    def restricted(self, weights: Sequence[Array], *, limit: int = LIMIT) -> "Restricted":
        """Return the distribution of the records of a box, exactly, by elimination from the last factor to the first.

        Args:
            weights: 0 or 1 for every cell of every attribute.
            limit: cells of the largest table on the way.

        Raises:
            NotSupported: a table on the way is larger.
        """
        brings = {axis: place for place, factor in enumerate(self.factors) for axis in factor.targets}
        passed: list[list[tuple[Axes, Array]]] = [[] for _ in self.factors]
        factors, share = list(self.factors), 1.0
        for place in range(len(factors) - 1, -1, -1):
            factor = factors[place]
            limits = [((axis,), weights[axis]) for axis in factor.targets if axis < len(self.shape)]
            terms = [term for term in limits if not term[1].all()] + passed[place]
            if not terms:
                continue
            given = tuple(sorted({*factor.given}.union(*(scope for scope, _ in terms)) - {*factor.targets}))
            self._allow(given + factor.targets, limit)
            table = _product([(factor.axes, factor.table), *terms], given + factor.targets)
            sums = table.sum(axis=tuple(range(len(given), table.ndim)))
            factors[place] = replace(factor, given=given, table=_normalised(table, sums))
            if given:
                passed[max(brings[axis] for axis in given)].append((given, sums))
            else:
                share *= float(sums)
        return Restricted(joint=replace(self, factors=tuple(factors)), share=share)

    def _needed(self, axes: Iterable[int]) -> list[Factor]:
        """Return the factors that matter: the others add up to one."""
        needed, chosen = set(axes), []
        for factor in reversed(self.factors):
            if needed & set(factor.targets):
                needed |= set(factor.given)
                chosen.append(factor)
        return chosen

    def _touched(self, terms: Sequence[tuple[Axes, Array]], axis: int) -> Axes:
        return tuple(sorted({member for scope, _ in terms if axis in scope for member in scope}))

    def _cells(self, axes: Iterable[int]) -> int:
        return math.prod(self.sizes[axis] for axis in axes)

    def _allow(self, axes: Sequence[int], limit: int) -> None:
        if self._cells(axes) > limit:
            raise NotSupported(f"this needs a table of {self._cells(axes)} cells, more than the limit of {limit}")


class Restricted(NamedTuple):
    """The records of a joint distribution that are in a box.

    Args:
        joint: their distribution.
        share: of all records.
    """

    joint: Joint
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """Records in disjoint boxes.

    Args:
        parts: of every box that any are in, their distribution and their share.
    """

    parts: tuple[Restricted, ...]

    def sample(self, records: int, *, rng: Generator) -> Codes:
        """Return independent records, shape (attributes, records): each of a box by its share, then of that."""
        if len(self.parts) == 1:
            return self.parts[0].joint.sample(records, rng=rng)
        shares = np.array([part.share for part in self.parts])
        (boxes,) = dense(shares / shares.sum()).sample(records, rng=rng)
        codes = np.empty((len(self.parts[0].joint.shape), records), dtype=np.int64)
        for place, part in enumerate(self.parts):
            inside = np.flatnonzero(boxes == place)
            codes[:, inside] = part.joint.sample(inside.size, rng=rng)
        return codes


def _normalised(table: Array, sums: Array) -> Array:
    """Return conditional distributions; even ones where there is none, which no record reaches."""
    wide = sums.reshape(sums.shape + (1,) * (table.ndim - sums.ndim))
    even = 1.0 / math.prod(table.shape[sums.ndim :])
    return np.where(wide > 0, table / np.where(wide > 0, wide, 1.0), even)


def independent(shares: Sequence[Array]) -> Joint:
    """Return the product of one-way tables, the baseline of every evaluation; each has shares >= 0 that add up to 1."""
    factors = tuple(Factor(given=(), targets=(axis,), table=table) for axis, table in enumerate(shares))
    return Joint(shape=tuple(table.size for table in shares), factors=factors)


def dense(table: Array, *, gap: float = 0.0, reason: str = "") -> Joint:
    """Return the joint distribution that is one table."""
    factor = Factor(given=(), targets=tuple(range(table.ndim)), table=table)
    return Joint(shape=table.shape, factors=(factor,), gap=gap, reason=reason)


def _product(terms: Sequence[tuple[Axes, Array]], kept: Axes) -> Array:
    """Return the product of tables, summed over all axes but those kept, in their order."""
    if not terms:
        return np.ones(())
    labels = {axis: place for place, axis in enumerate(sorted({axis for axes, _ in terms for axis in axes}))}
    operands: list[Any] = [part for axes, table in terms for part in (table, [labels[axis] for axis in axes])]
    return np.asarray(np.einsum(*operands, [labels[axis] for axis in kept], optimize=len(terms) > 2))


def _drawn(rows: Array, row: Codes, words: npt.NDArray[np.uint64]) -> Codes:
    """Return one cell for every word, from the named row of weights, by bisection of the running totals."""
    ends = _ends(rows)
    point = words >> np.uint64(64 - _WEIGHT_BITS)
    low, high = np.zeros(row.size, dtype=np.int64), np.full(row.size, rows.shape[1] - 1, dtype=np.int64)
    for _ in range((rows.shape[1] - 1).bit_length()):
        middle = (low + high) // 2
        beyond = ends[row, middle] <= point
        low, high = np.where(beyond, middle + 1, low), np.where(beyond, high, middle)
    return low


def _ends(rows: Array) -> npt.NDArray[np.uint64]:
    """Return the running totals of integer weights that add up to 2^62 in every row; the largest takes the rest."""
    scaled = rows / rows.sum(axis=1, keepdims=True) * (1 - 2.0**-40) * 2.0**_WEIGHT_BITS
    weights = scaled.astype(np.uint64)
    rest = np.uint64(1 << _WEIGHT_BITS) - weights.sum(axis=1)
    weights[np.arange(len(rows)), rows.argmax(axis=1)] += rest
    return np.cumsum(weights, axis=1, dtype=np.uint64)
