"""Columns of households that their persons make: how many, sums, the value of the first, and every person's own.

persons of a household, a rule, a column -> a value of the household. Every value follows from its persons alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.data.codec.codec import numbers_of
from dpress.data.kept_rows import Rule
from dpress.data.linked.members import Members, each


class HouseholdColumn:
    """A column of households: a base of every one."""

    __slots__ = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of persons that it reads."""
        raise NotImplementedError

    def values(self, below: pa.Table, members: Members) -> pa.Array:
        """Return its value of every household, shape (households,).

        Args:
            below: the rows of persons, with `columns`.
            members: which of them count.
        """
        raise NotImplementedError


def _holds(rule: Rule | None, below: pa.Table, members: Members) -> npt.NDArray[np.bool_]:
    """Return of which persons that count a rule holds, shape (persons,)."""
    if rule is None:
        return np.ones(members.persons.size, dtype=np.bool_)
    return each(below, rule.holds).astype(np.bool_)[members.persons]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountOf(HouseholdColumn):
    """How many persons, 0 to `most`.

    Args:
        rule: which; None for all.
    """

    rule: Rule | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the rule."""
        return () if self.rule is None else self.rule.columns

    def values(self, below: pa.Table, members: Members) -> pa.Array:
        """Return the numbers of persons; see `HouseholdColumn`."""
        of = members.of[_holds(self.rule, below, members)]
        return pa.array(np.bincount(of, minlength=members.households.size).astype(np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class SumOf(HouseholdColumn):
    """The sum of a number, of those persons that have one.

    Args:
        column: of persons.
        bounds: between which every number is clamped; None for numbers as they are.
        rule: whose numbers; None for all.
    """

    column: str
    bounds: tuple[float, float] | None
    rule: Rule | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The column, and those of the rule."""
        return (self.column, *(() if self.rule is None else self.rule.columns))

    def values(self, below: pa.Table, members: Members) -> pa.Array:
        """Return the sums; see `HouseholdColumn`."""
        numbers = each(below, lambda batch: numbers_of(self.column, batch)).astype(np.float64)[members.persons]
        numbers = np.clip(numbers, *self.bounds) if self.bounds is not None else numbers
        counts = _holds(self.rule, below, members) & np.isfinite(numbers)
        return pa.array(np.bincount(members.of[counts], numbers[counts], minlength=members.households.size))


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueOf(HouseholdColumn):
    """The value of the first person; missing where there is none.

    Args:
        column: of persons.
        rule: the first of whom; None for all.
    """

    column: str
    rule: Rule | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The column, and those of the rule."""
        return (self.column, *(() if self.rule is None else self.rule.columns))

    def values(self, below: pa.Table, members: Members) -> pa.Array:
        """Return the values; see `HouseholdColumn`."""
        held = np.flatnonzero(_holds(self.rule, below, members))[::-1]
        rows = np.full(members.households.size, -1, dtype=np.int64)
        rows[members.of[held]] = members.persons[held]  # the first of each household is written last
        return taken(below.column(self.column), rows)


def taken(column: pa.ChunkedArray, rows: npt.NDArray[np.int64]) -> pa.Array:
    """Return values by their rows; missing where a row is -1."""
    values = column.take(pa.array(rows, mask=rows < 0))
    return pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], type=values.type)


def columns_of(columns: Sequence[HouseholdColumn]) -> tuple[str, ...]:
    """Return the columns of persons that several columns of households read, each once."""
    return tuple(dict.fromkeys(name for column in columns for name in column.columns))
