"""Which records are possible, by the cells of a few attributes at a time. All of it is public.

constraints -> combinations of cells that may occur -> models whose other cells are 0, records that have no other.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]
_TINY = 1e-200
NEAR = 1e-4
"""Sums that are all off by no larger a share of themselves are scaled no more: noise is far larger."""
Cells = npt.NDArray[np.int32] | npt.NDArray[np.int64]
ByAxis = Mapping[int, Cells]


class Rule:
    """A rule that every record keeps: a base of all."""

    __slots__ = ()

    @property
    def axes(self) -> tuple[int, ...]:
        """The attributes that it is about."""
        raise NotImplementedError

    @property
    def computes(self) -> int | None:
        """The attribute that it computes from the others; None where it computes none."""
        return None

    def computed(self, codes: ByAxis) -> Cells:
        """Return the cells of that attribute, by the cells of the others."""
        raise NotImplementedError

    def holds(self, codes: ByAxis) -> Truths:
        """Return of which records it holds, by their cells."""
        raise NotImplementedError

    def check(self, shape: Sequence[int]) -> None:
        """Refuse what is no rule of attributes with so many cells.

        Raises:
            ValueError: naming what is wrong.
        """


def within(codes: Cells, runs: Sequence[tuple[int, int]]) -> Truths:
    """Return which cells are in some runs."""
    truths = [(first <= codes) & (codes <= last) for first, last in runs]
    return np.asarray(functools.reduce(np.logical_or, truths))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Leaf:
    """Which cells of some attributes may occur beside those of a centre; nothing else of them is joined.

    Args:
        axes: the attributes, rising; of no other leaf, and not of the centre.
        allowed: whether a combination may occur, of shape (combinations of the centre, cells of each).
    """

    axes: tuple[int, ...]
    allowed: Truths


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Combinations:
    """Which combinations of the cells of some attributes may occur: of a centre, and of leaves beside each of them.

    Args:
        centre: the attributes of the centre, rising.
        allowed: whether a combination of them may occur, of shape (cells of each).
        leaves: attributes that the centre alone joins with others; none where all are in the centre.
    """

    centre: tuple[int, ...]
    allowed: Truths
    leaves: tuple[Leaf, ...] = ()

    @property
    def axes(self) -> tuple[int, ...]:
        """All attributes: of the centre, then of every leaf."""
        return (*self.centre, *(axis for leaf in self.leaves for axis in leaf.axes))

    def centre_of(self, codes: Cells) -> Cells:
        """Return the combination of the centre that every record has, for codes of shape (attributes, records)."""
        return np.asarray(np.ravel_multi_index(tuple(codes[axis] for axis in self.centre), self.allowed.shape))

    def holds(self, codes: Cells) -> Truths:
        """Return which records have a combination that may occur, for codes of shape (attributes, records)."""
        centre = self.centre_of(codes)
        truths = self.allowed.ravel()[centre]
        for leaf in self.leaves:
            truths = truths & leaf.allowed[(centre, *(codes[axis] for axis in leaf.axes))]
        return np.asarray(truths)

    @property
    def open(self) -> Truths:
        """Which combinations of the centre may occur beside some cells of every leaf, shape of `allowed`."""
        truths = self.allowed.ravel()
        for leaf in self.leaves:
            truths = truths & leaf.allowed.any(axis=tuple(range(1, leaf.allowed.ndim)))
        return np.asarray(truths.reshape(self.allowed.shape))

    def grouped(self, groups: Sequence[Cells]) -> "Combinations":
        """Return the combinations of groups of cells: they may occur where some of their cells may."""
        centre = [groups[axis] for axis in self.centre]
        leaves = list[Leaf]()
        for leaf in self.leaves:
            whole = leaf.allowed.reshape(*self.allowed.shape, *leaf.allowed.shape[1:])
            whole = _grouped(whole, [*centre, *(groups[axis] for axis in leaf.axes)])
            leaves.append(Leaf(axes=leaf.axes, allowed=whole.reshape(-1, *whole.shape[len(centre) :])))
        return Combinations(centre=self.centre, allowed=_grouped(self.allowed, centre), leaves=tuple(leaves))

    def of(self, axes: Sequence[int]) -> Truths:
        """Return which combinations of some of its attributes, rising, may occur beside any cells of the others."""
        truths, order = self.open.ravel(), list(self.centre)
        for leaf in self.leaves:
            if kept := [axis for axis in leaf.axes if axis in axes]:
                others = tuple(place for place, axis in enumerate(leaf.axes, 1) if axis not in axes)
                beside = leaf.allowed.any(axis=others)
                spread = truths.reshape(*truths.shape, *[1] * len(kept))
                between = [1] * (truths.ndim - 1)
                truths = spread & beside.reshape(beside.shape[0], *between, *beside.shape[1:])
                order += kept
        whole = truths.reshape(*self.allowed.shape, *truths.shape[1:])
        whole = np.asarray(whole.any(axis=tuple(place for place, axis in enumerate(order) if axis not in axes)))
        left = [axis for axis in order if axis in axes]
        return np.asarray(whole.transpose([left.index(axis) for axis in sorted(left)]))

    def weighted(self, weights: Sequence[Array]) -> Array:
        """Return the product of weights of the cells of the centre, 0 where a combination may not occur.

        Where nothing is left of it, every combination that may occur weighs 1.

        Args:
            weights: >= 0, of the attributes in the order of `centre`.
        """
        return product(self.open, weights)


def product(allowed: Truths, weights: Sequence[Array]) -> Array:
    """Return the product of weights along every axis, 0 where nothing is allowed; 1 for 0 where nothing is left.

    Args:
        allowed: which combinations may occur, some of them.
        weights: >= 0, of the cells along each axis.
    """
    table = allowed.astype(np.float64)
    for place, along in enumerate(weights):
        table *= along.reshape([-1 if axis == place else 1 for axis in range(table.ndim)])
    return table if table.any() else allowed.astype(np.float64)


def _grouped(allowed: Truths, groups: Sequence[Cells]) -> Truths:
    for place, along in enumerate(groups):
        order = np.argsort(along, kind="stable")
        starts = np.searchsorted(along[order], np.arange(int(along.max()) + 1))
        allowed = np.logical_or.reduceat(np.take(allowed, order, axis=place), starts, axis=place)
    return allowed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Possible:
    """Which records may occur: those whose combinations all may.

    Args:
        parts: about attributes that no other part is about.
    """

    parts: tuple[Combinations, ...] = ()

    def holds(self, codes: Cells) -> Truths:
        """Return which records may occur, for codes of shape (attributes, records)."""
        truths = np.ones(codes.shape[1], dtype=np.bool_)
        for part in self.parts:
            truths &= part.holds(codes)
        return truths

    def grouped(self, groups: Sequence[Cells]) -> "Possible":
        """Return which records over groups of cells may occur.

        Args:
            groups: of every attribute, the group of every cell, from 0.
        """
        return Possible(parts=tuple(part.grouped(groups) for part in self.parts))

    def pair(self, axes: tuple[int, int], shape: tuple[int, int]) -> Truths | None:
        """Return which cells of the table of a pair may occur; None where all may.

        Args:
            axes: rising.
            shape: the cells of both.
        """
        allowed = np.ones(shape, dtype=np.bool_)
        for part in self.parts:
            if held := [axis for axis in axes if axis in part.axes]:
                sides = [size if axis in held else 1 for axis, size in zip(axes, shape, strict=True)]
                allowed &= part.of(held).reshape(sides)
        return None if allowed.all() else allowed


def with_margins(table: Array, margins: Sequence[Array], *, passes: int) -> Array:
    """Return a table scaled along one axis after the other to have sums asked for; cells of 0 stay 0; it adds up to 1.

    What cells of 0 forbid is not reached: a row without any other cell stays 0.

    Args:
        table: >= 0, not all 0.
        margins: of every axis the sums, >= 0, in any one unit.
        passes: how often each axis is scaled at most; no more once every sum is within NEAR of the one asked for.
    """
    scaled = table
    for _ in range(passes):
        farthest = 0.0
        for axis, margin in enumerate(margins):
            sums = scaled.sum(axis=tuple(other for other in range(table.ndim) if other != axis))
            ratios = margin / max(margin.sum(), _TINY) / np.maximum(sums, _TINY)
            farthest = max(farthest, float(np.abs(ratios - 1).max(where=(sums > 0) & (margin > 0), initial=0.0)))
            scaled = scaled * ratios.reshape([-1 if other == axis else 1 for other in range(table.ndim)])
        if farthest <= NEAR:
            break
    scaled = scaled if scaled.sum() > 0 else table
    return np.asarray(scaled / scaled.sum())


EVERYTHING = Possible()
"""All records may occur."""
