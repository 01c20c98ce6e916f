"""What a curator's mechanism sees of a table: sums over its rows, and what was drawn of them before."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dpress.core.methods.name_counts import CountNames
from dpress.core.methods.people import Codes, Counts, Kernel, People

Integers = npt.NDArray[np.int64]
Edges = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What is added up over the rows of a table, and over persons, whose rows are taken together.

    Args:
        of_rows: the integer sums over some rows, whose codes have shape (axes, rows).
        of_persons: those over some persons, from the codes of all their rows and whose each row is; None without any.
        shape: the cells along every axis that the codes must have; None where they may have any.
    """

    of_rows: Kernel
    of_persons: Callable[[Codes, Integers], Counts] | None = None
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was drawn of attributes before the rest is measured, by the place of the attribute.

    Args:
        names: the values of an attribute whose names nobody could list, in the order of their bytes.
        bounds: the lower and the upper one.
    """

    names: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    bounds: Mapping[int, tuple[float, float]] = field(default_factory=dict)


class Rows(Protocol):
    """The rows of a table, of which every person has been left the rows of one unit: exact sums, so private.

    All raise OSError where the rows cannot be read, and SchemaMismatch where they do not fit.
    """

    def tables(self, tables: Sequence[tuple[int, ...]]) -> Counts:
        """Return the counts of the tables over these axes, one after the other."""
        ...

    def sums(self, sums: Sums) -> Counts:
        """Return the sums over all rows, then those over all persons."""
        ...

    def names(self, axis: int) -> CountNames:
        """Return what counts the names of an attribute, of each person the same rows however often it is called.

        Raises:
            NotSupported: the attribute lists its names.
        """
        ...

    def between(
        self, axes: Sequence[int], edges: Callable[[float, float], tuple[float, ...]]
    ) -> dict[int, tuple[Edges, Integers]]:
        """Return by axis numbers between an attribute's bounds, and how many rows are between each two of them.

        Args:
            axes: of the attributes.
            edges: the numbers, increasing, between two bounds; those are left out that floats cannot tell apart.
        """
        ...

    def people(self) -> People:
        """Return the rows for as many sums as are needed, one after the other."""
        ...

    def completed(self, found: Found) -> "Rows":
        """Return the same rows, coded by what was found."""
        ...
