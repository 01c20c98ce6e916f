"""Which records are possible, by the cells of a few attributes at a time. All of it is public.

constraints -> combinations of cells that may occur -> models whose other cells are 0, records that have no other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]
_TINY = 1e-200
Cells = npt.NDArray[np.int32] | npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Combinations:
    """Which combinations of the cells of some attributes may occur.

    Args:
        axes: the attributes, rising.
        allowed: whether a combination may occur, of shape (cells of each).
    """

    axes: tuple[int, ...]
    allowed: Truths

    def holds(self, codes: Cells) -> Truths:
        """Return which records have a combination that may occur, for codes of shape (attributes, records)."""
        return np.asarray(self.allowed[tuple(codes[axis] for axis in self.axes)])

    def grouped(self, groups: Sequence[Cells]) -> "Combinations":
        """Return the combinations of groups of cells: they may occur where some of their cells may."""
        allowed = self.allowed
        for place, axis in enumerate(self.axes):
            order = np.argsort(groups[axis], kind="stable")
            starts = np.searchsorted(groups[axis][order], np.arange(int(groups[axis].max()) + 1))
            allowed = np.logical_or.reduceat(np.take(allowed, order, axis=place), starts, axis=place)
        return Combinations(axes=self.axes, allowed=allowed)

    def of(self, axes: Sequence[int]) -> Truths:
        """Return which combinations of some of its attributes, rising, may occur beside any cells of the others."""
        others = tuple(place for place, axis in enumerate(self.axes) if axis not in axes)
        return np.asarray(self.allowed.any(axis=others))

    def weighted(self, weights: Sequence[Array]) -> Array:
        """Return the product of weights of every attribute's cells, 0 where a combination may not occur.

        Where nothing is left of it, every combination that may occur weighs 1.

        Args:
            weights: >= 0, of the attributes in the order of `axes`.
        """
        product = self.allowed.astype(np.float64)
        for place, along in enumerate(weights):
            product *= along.reshape([-1 if axis == place else 1 for axis in range(product.ndim)])
        return product if product.any() else self.allowed.astype(np.float64)


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
        passes: how often each axis is scaled.
    """
    scaled = table
    for _ in range(passes):
        for axis, margin in enumerate(margins):
            sums = scaled.sum(axis=tuple(other for other in range(table.ndim) if other != axis))
            ratios = margin / max(margin.sum(), _TINY) / np.maximum(sums, _TINY)
            scaled = scaled * ratios.reshape([-1 if other == axis else 1 for other in range(table.ndim)])
    scaled = scaled if scaled.sum() > 0 else table
    return np.asarray(scaled / scaled.sum())


EVERYTHING = Possible()
"""All records may occur."""
