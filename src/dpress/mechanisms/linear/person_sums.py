"""Distinct persons and sums of their totals, in every group and over all: a person counts once, however many rows.

rows of persons -> a total for each person and group, and for each person over all -> clipped to public bounds -> the
shares of every total, added up.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Relation
from dpress.core.maps.linear import LinearMap, Numbers
from dpress.core.methods.people import Codes
from dpress.core.methods.table_cells import table_cells
from dpress.mechanisms.linear.groups import NotAdditive

Integers = npt.NDArray[np.int64]

STEPS = 1 << 20  # of a total, from one bound to the other


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonSums(NotAdditive, LinearMap):
    """Persons of every group, and, of degree 1, the shares of their totals: sum of steps - u and sum of u.

    The total T of a person in a group is that of the levels i of the person's rows there, sum of (first + width i), and
    u = (T - low) / (high - low) steps, rounded, and clipped to 0..steps. Behind the groups stand the same numbers of
    the persons of all groups, with each person's total over all rows: they are no sums of the groups'.

    Promise: a person with at most k rows is in at most m = min(k, groups) groups, and adds steps^degree to each and to
    the numbers over all. So the L1 sensitivity is (m + 1) steps^degree, the squared L2 sensitivity
    (m + 1) steps^(2 degree), as the numbers of different groups are different ones; without groups m + 1 is 1. Where a
    person is replaced, twice that; of degree 0 at most min(2 m, groups), as some person is counted over all as before.
    Error: every number has the noise's variance v. With s = v / steps^(2 degree) persons have (degree + 1) s, and
    (sum of u - sum of (steps - u)) / steps 2 s, uncorrelated with the persons.
    Source: ours, on `MomentSums`; the bound of a person by clipping: Wilson et al. 2020, section 3.

    Args:
        shape: the number of cells along every axis.
        by: the axes of the groups.
        degree: 0 for persons alone, 1 for totals too.
        axis: whose code is the level, for totals; codes from `levels` on are none, and a person with none is left out.
        levels: how many there are.
        values: first and width: level i stands for first + width i.
        bounds: low and high of a total.
    """

    shape: tuple[int, ...]
    by: tuple[int, ...]
    degree: Literal[0, 1] = 0
    axis: int | None = None
    levels: int = 0
    values: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1))
    bounds: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1))

    def __post_init__(self) -> None:
        axes = {*self.by, *(() if self.axis is None else (self.axis,))}
        if not axes <= set(range(len(self.shape))) or len(set(self.by)) < len(self.by) or self.axis in self.by:
            raise ValueError(f"axes must be different axes of a table of {len(self.shape)} axes, got {sorted(axes)}")
        if bool(self.degree) == (self.axis is None):
            raise ValueError("totals are those of an axis; persons alone have none")
        if not self.bounds[0] < self.bounds[1]:
            raise ValueError("the bounds of a total must be increasing")
        if self.axis is not None and not 1 <= self.levels <= self.shape[self.axis]:
            raise ValueError(f"levels must lie between 1 and {self.shape[self.axis]}, got {self.levels}")

    @property
    def rows(self) -> int:
        """The number of sums."""
        return self.sets * (self.degree + 1)

    @property
    def summed(self) -> int:
        """How many numbers `sums` returns."""
        return self.rows

    @property
    def whole(self) -> int:
        """What a person adds to a group in all."""
        return STEPS if self.degree else 1

    @property
    def step(self) -> float:
        """The unit of the sums, in persons."""
        return 1 / self.whole

    @property
    def counts_all(self) -> bool:
        """Whether every person counts: none is without a level."""
        return self.axis is None or self.levels == self.shape[self.axis]

    def sums(self, codes: Codes, persons: Integers) -> Integers:
        """Return the sums of some persons, group by group and last those over all, shape (sets * (degree + 1),).

        Args:
            codes: of all rows of these persons, shape (axes, rows).
            persons: whose each row is, as an integer >= 0, shape (rows,).
        """
        if self.axis is not None:
            within = codes[self.axis] < self.levels
            codes, persons = codes[:, within], persons[within]
        levels = None if self.axis is None else codes[self.axis].astype(np.int64)
        groups = table_cells(codes, self.shape, self.by)
        blocks = [self._of_sets(groups, persons, levels, self.groups)]
        if self.by:
            blocks.append(self._of_sets(np.zeros_like(groups), persons, levels, 1))
        return np.concatenate(blocks)

    def cut(self, codes: Codes, persons: Integers) -> Integers:
        """Return how many totals lie below the bounds, above them, and in all: private. Arguments: see `sums`.

        A total of a person in a group counts, and, where there are groups, the person's total over all.
        """
        within = codes[self.axis or 0] < self.levels
        codes, persons = codes[:, within], persons[within]
        groups, levels = table_cells(codes, self.shape, self.by), codes[self.axis or 0].astype(np.int64)
        counts = np.zeros(3, dtype=np.int64)
        for places, sets in [(groups, self.groups), (np.zeros_like(groups), 1)][: 1 + bool(self.by)]:
            pairs, pair_of = np.unique(persons * sets + places, return_inverse=True)
            part = self._part(np.bincount(pair_of, minlength=len(pairs)), _added(pair_of, levels, len(pairs)))
            counts += [int((part < 0).sum()), int((part > 1).sum()), len(pairs)]
        return counts

    def answers(self, sums: Numbers) -> Numbers:
        """Return what is measured of the sums over all persons: themselves."""
        return sums

    def apply(self, cells: Numbers) -> Numbers:
        """Return the sums of a full table, which must be small, whose rows are persons of one row each."""
        places = np.repeat(np.arange(self.cells), np.asarray(cells, dtype=np.int64))
        codes = np.array(np.unravel_index(places, self.shape), dtype=np.int32)
        return self.sums(codes, np.arange(len(places)))

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return that of a person of one row."""
        return self.unit_sensitivity(order, relation, 1)

    def unit_sensitivity(self, order: int, relation: Relation, rows: int) -> int:
        """Return what a person of at most so many rows changes: see the promise."""
        most, largest = min(rows, self.groups), STEPS ** (order * self.degree)
        added: int = (most + bool(self.by)) * largest
        if relation is Relation.ADD_REMOVE:
            return added
        return 2 * added if self.degree else max(added, min(2 * most, self.groups))

    def _of_sets(self, groups: Integers, persons: Integers, levels: Integers | None, sets: int) -> Integers:
        """Return the sums of the persons of every set, shape (sets * (degree + 1),)."""
        pairs, pair_of = np.unique(persons * sets + groups, return_inverse=True)
        places = pairs % sets
        if levels is None:
            return np.bincount(places, minlength=sets).astype(np.int64)
        up = self._shares(np.bincount(pair_of, minlength=len(pairs)), _added(pair_of, levels, len(pairs)))
        sums = np.zeros((sets, 2), dtype=np.int64)
        np.add.at(sums, places, np.stack([STEPS - up, up], axis=1))
        return sums.ravel()

    def _shares(self, rows: Integers, levels: Integers) -> Integers:
        """Return u of the totals of so many rows whose levels add up to this."""
        shares: Integers = np.rint(np.clip(self._part(rows, levels), 0, 1) * STEPS).astype(np.int64)
        return shares

    def _part(self, rows: Integers, levels: Integers) -> Numbers:
        """Return where these totals lie: at 0 the lower bound, at 1 the upper one."""
        (first, width), (low, high) = (map(float, pair) for pair in (self.values, self.bounds))
        part: Numbers = (rows * first + levels * width - low) / (high - low)
        return part


def _added(places: Integers, levels: Integers, size: int) -> Integers:
    """Return the sums of levels by place, exactly, so that no order of the rows shows."""
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, places, levels)
    return sums
