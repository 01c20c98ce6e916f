"""Groups of rows: the cells of the table over some axes."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array, Numbers
from dpress.core.methods.people import Codes
from dpress.core.methods.table_cells import table_cells

Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]


def groups_in(shape: Sequence[int], by: Sequence[int]) -> int:
    """Return how many groups there are; one of all rows where `by` names no axis."""
    return math.prod(shape[axis] for axis in by)


def level_counts(  # noqa: PLR0917  # what names the groups and the cells
    codes: Codes,
    shape: Sequence[int],
    by: Sequence[int],
    axis: int,
    levels: int,
    cells: int,
    times: Numbers | None = None,
    borders: Sequence[int] = (),
) -> npt.NDArray[np.int64]:
    """Return how many rows every cell of levels has in every group, shape (groups * cells,).

    Args:
        codes: shape (axes, rows).
        shape: the number of cells along every axis.
        by: the axes of the groups.
        axis: whose code is the level.
        levels: how many levels there are; codes from there on are none.
        cells: level l is in the cell floor(l cells / levels), unless borders are given.
        times: how often each row stands there, shape (rows,); once unless given.
        borders: the first level of every cell but the first, increasing; empty for cells of one size.
    """
    level = codes[axis].astype(np.int64)
    within = level < levels
    cell = np.searchsorted(borders, level[within], side="right") if borders else level[within] * cells // levels
    places = table_cells(codes, shape, by)[within] * cells + cell
    weights = None if times is None else times[within]
    return np.rint(np.bincount(places, weights=weights, minlength=groups_in(shape, by) * cells)).astype(np.int64)


def first_levels(levels: int, cells: int, borders: Sequence[int] = ()) -> npt.NDArray[np.int64]:
    """Return the first level of every cell, and one more than the last level, shape (cells + 1,); see `level_counts`.

    >>> first_levels(5, 2), first_levels(5, 3, (1, 4))
    (array([0, 3, 5]), array([0, 1, 4, 5]))
    """
    if borders:
        return np.array([0, *borders, levels], dtype=np.int64)
    return np.asarray(-(-np.arange(cells + 1) * levels // cells), dtype=np.int64)


class OverGroups:
    """What sums over the rows of every group have in common."""

    __slots__ = ()
    shape: tuple[int, ...]
    by: tuple[int, ...]

    @property
    def groups(self) -> int:
        """The number of groups."""
        return groups_in(self.shape, self.by)

    @property
    def cells(self) -> int:
        """The number of cells of the full table."""
        return math.prod(self.shape)

    def of_sets(self, answers: Array, mask: Mask | None) -> Array:
        """Return the answers of every group, or of all groups that a mask names together, shape (sets, answers of one).

        Args:
            answers: group by group.
            mask: shape (groups,).
        """
        rows: Array = answers.reshape(self.groups, -1)
        return rows if mask is None else rows[mask].sum(axis=0, keepdims=True)

    def apply(self, cells: Numbers) -> Numbers:
        """Return the answers of a full table, which must be small."""
        raise NotImplementedError

    def transpose(self, answers: Array) -> Array:
        """Return A^T y, over a full table, which must be small."""
        return np.array([answers @ self.apply(cell) for cell in np.eye(self.cells, dtype=np.int64)])


class NotAdditive(OverGroups):
    """Numbers of every group, and of all groups together where there are several, which are no sum of the groups'."""

    __slots__ = ()

    @property
    def sets(self) -> int:
        """The number of groups, and one more for all together where there are groups."""
        return self.groups + bool(self.by)

    def of_sets(self, answers: Array, mask: Mask | None) -> Array:
        """Return the answers of every group; of a mask those of its one group, or of all; NaN of several groups.

        A person, or a value, may be in several groups, so the number of two is not the sum of that of each.

        Args:
            answers: of all sets, shape (sets * answers of one,).
            mask: shape (groups,).
        """
        rows: Array = answers.reshape(self.sets, -1).astype(np.float64)
        if mask is None:
            return rows[: self.groups]
        if mask.all():
            return rows[-1:]
        return rows[:-1][mask] if mask.sum() == 1 else np.full((1, rows.shape[1]), math.nan)


class OverRows(OverGroups):
    """Sums over the rows of every group, and what a full table has of them."""

    __slots__ = ()

    def sums(self, codes: Codes) -> Integers:
        """Return the sums over some rows, group by group: a kernel of `fold`.

        Args:
            codes: shape (axes, rows), at most 2^22 of them at a time, so that floats hold every sum exactly.
        """
        return self._added(codes, None)

    def answers(self, sums: Numbers) -> Numbers:
        """Return what is measured of the sums over all rows: themselves."""
        return sums

    def apply(self, cells: Numbers) -> Numbers:
        """Return the answers of a full table, which must be small."""
        places = np.flatnonzero(cells)
        codes = np.array(np.unravel_index(places, self.shape), dtype=np.int32)
        return self.answers(self._added(codes, np.asarray(cells)[places]))

    def _added(self, codes: Codes, times: Numbers | None) -> Integers:
        """Return the sums over rows of which each stands there so many times; once unless given."""
        raise NotImplementedError
