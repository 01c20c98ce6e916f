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

from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.linear import Array, Identity, LinearMap, Numbers, Stack
from dpress.core.methods.people import Codes, Counts, People
from dpress.inference.interval import Tail
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

Places = npt.NDArray[np.int64]
FEWEST_GROUPS = 4
"""Of a number in a table of a pair."""
MOST_GROUPS = 64
"""Of an attribute, so that no table of a pair grows beyond reason."""
MOST_CELLS = 4096
"""Groups of all attributes together, while they may have FEWEST_GROUPS each: models hold squares of them in memory."""


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


def one_way_parts(shape: Sequence[int]) -> list[GroupedTable]:
    """Return the table of every attribute, each cell by itself."""
    return [
        GroupedTable(shape=tuple(shape), axes=(axis,), groups=(np.arange(size, dtype=np.int64),))
        for axis, size in enumerate(shape)
    ]


def measuring(parts: Sequence[GroupedTable], loss: Loss, unit: Unit) -> MatrixMechanism:
    """Return what measures tables with a loss, shared by their sizes (`by_noise`)."""
    strategy = Tables(parts=tuple(parts), shares=by_noise([part.rows for part in parts]))
    return MatrixMechanism(strategy=strategy, loss=loss, unit=unit)


def most_groups(attributes: int) -> int:
    """Return how many groups an attribute may have in tables of pairs, those that are put together not counted.

    >>> most_groups(14), most_groups(100), most_groups(800)
    (64, 40, 5)
    """
    return min(MOST_GROUPS, max(MOST_CELLS // attributes, FEWEST_GROUPS))


def mean_absolute(tail: Tail) -> float:
    """Return E|z| of noise with standard deviation 1, as if it were continuous: sqrt(1/2) of Laplace, sqrt(2/pi)."""
    return math.sqrt(1 / 2 if tail == "laplace" else 2 / math.pi)


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
    weights = [_weight(size) for size in sizes]
    total = sum(weights)
    return tuple(Fraction(weight, total) for weight in weights)


def variances(sizes: Places, loss: Loss, unit: Unit) -> Array:
    """Return the variances of the noise in tables of so many cells that share a loss (`measuring`), without the tables.

    Args:
        sizes: of the tables, in cells, shape (tables,).
        loss: of all of them together.
        unit: whom the promise protects.
    """
    alike, places, number = np.unique(sizes, return_inverse=True, return_counts=True)
    weights = [_weight(int(size)) for size in alike]
    total = sum(int(many) * weight for many, weight in zip(number, weights, strict=True))
    smallest = GroupedTable(shape=(2,), axes=(0,), groups=(np.arange(2),))  # all tables have its sensitivity
    ways = [measuring([smallest], part_of(loss, Fraction(weight, total)), unit) for weight in weights]
    return np.array([way.noises[0].variance for way in ways])[places]


def _weight(size: int) -> int:
    return max(round(1000 * math.pow(size, 2 / 3)), 1)
