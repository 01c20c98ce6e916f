"""Tables of a few attributes each, whose cells may be put together in groups: counted in one pass over the records.

public groups + records -> exact counts (one fold, in which each record adds 1 to one cell of every table).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Relation
from dpress.core.maps.linear import Array, Identity, LinearMap, Numbers, Stack
from dpress.core.methods.people import Codes, Counts, People

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupedTable(LinearMap):
    """The table over groups of some attributes' cells. Sensitivity 1 (add-remove), 2 (replace-one): a histogram.

    Args:
        shape: the number of cells of every attribute.
        axes: the attributes of the table.
        groups: the group of every cell of each of them, from 0.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    groups: tuple[Places, ...]

    @property
    def kept(self) -> tuple[int, ...]:
        """The shape of the table."""
        return tuple(int(groups.max()) + 1 for groups in self.groups)

    @property
    def cells(self) -> int:
        """The number of cells of the full table, which nobody ever forms but for tiny ones."""
        return math.prod(self.shape)

    @property
    def rows(self) -> int:
        """The number of cells of this table."""
        return math.prod(self.kept)

    def places(self, codes: Codes | Places) -> Places:
        """Return the cell of every record, given its codes of all attributes."""
        cells = [group[codes[axis]] for axis, group in zip(self.axes, self.groups, strict=True)]
        return np.asarray(np.ravel_multi_index(cells, self.kept), dtype=np.int64)

    def counted(self, codes: Codes) -> Counts:
        """Return how many records every cell has: the kernel of a fold."""
        return np.bincount(self.places(codes), minlength=self.rows).astype(np.int64)

    def apply(self, cells: Numbers) -> Numbers:
        """Return the table from the full one; for tiny ones."""
        answers = np.zeros(self.rows, dtype=cells.dtype)
        np.add.at(answers, self.places(self._everything()), cells)
        return answers

    def transpose(self, answers: Array) -> Array:
        """Return A^T y over the full table; for tiny ones."""
        return np.asarray(answers[self.places(self._everything())])

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return 1, or 2 where a row moves from one cell to another."""
        return Identity(self.rows).sensitivity(order, relation)

    def _everything(self) -> Places:
        return np.array(np.unravel_index(np.arange(self.cells), self.shape), dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tables:
    """Several of them, measured together with shares of one loss.

    Args:
        parts: over the same attributes.
        shares: of the parts, adding up to 1.
    """

    parts: tuple[GroupedTable, ...]
    shares: tuple[Fraction, ...] = (Fraction(1),)
    decoder: ClassVar[Any] = None

    @property
    def map(self) -> Stack[LinearMap]:
        """The tables, one below the other."""
        return Stack(self.parts)


def exact(parts: Sequence[GroupedTable], people: People) -> list[Counts]:
    """Return the exact counts of every table, private as the records are: one pass."""
    counts = people.fold(lambda codes: np.concatenate([part.counted(codes) for part in parts]))
    return np.split(counts, np.cumsum([part.rows for part in parts])[:-1])


def by_noise(sizes: Sequence[int]) -> tuple[Fraction, ...]:
    """Return shares in proportion to the numbers of cells to the power 2/3.

    They make the expected absolute error of all tables under Gaussian noise, the sum of cells / sqrt(share), as small
    as can be.
    Source: Zhang et al. 2021 (PrivSyn), section 4.

    >>> by_noise([8, 27])
    (Fraction(4, 13), Fraction(9, 13))
    """
    weights = [Fraction(max(round(1000 * size ** (2 / 3)), 1)) for size in sizes]
    return tuple(weight / sum(weights) for weight in weights)
