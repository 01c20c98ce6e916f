"""Numbers whose cells hold several: inequalities and sums that hold in the numbers drawn within cells.

Every number is a whole number of steps, a power of 2, so that sums are exact. Public inequalities, the cells of records
-> whether there are numbers in the cells of which all hold -> such numbers. Elimination of one number after the other
(Fourier, Motzkin) leaves what must hold of those before it; with coefficients of 1 that is exact for whole numbers.
"""

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.basics.rng import Generator
from dpress.core.maps.atoms import Box
from dpress.core.methods.possible import ByAxis, Cells, Rule, Truths, within
from dpress.inference.normal import uniform

ROUNDS = 8
"""How often numbers are drawn evenly from whole cells before they are drawn one after the other in what is left."""
MOST_ROWS = 1 << 10
"""Inequalities that elimination may leave."""
LARGEST = 1 << 46  # steps, so that elimination may add up some of them
NEVER = 2.0**200  # beyond all numbers: what does not have to hold
Edges = tuple[int, ...]
Steps = npt.NDArray[np.float64]  # whole numbers of steps


@dataclass(frozen=True, slots=True)
class Row:
    """A derived inequality: coefficients times numbers, at most the sum of these multiples of what is on the right.

    Args:
        factors: of every number.
        parts: of every right side, >= 0.
    """

    factors: Edges
    parts: Edges


@dataclass(frozen=True, slots=True, kw_only=True)
class Inequality:
    """Coefficients times numbers and a number, at most 0, where a record is in a box.

    Args:
        coefficients: of the numbers that are drawn.
        beside: of the numbers that cells are.
        offset: the number, in steps.
        where: of which records it holds; of all where it is empty.
    """

    coefficients: Edges
    beside: Edges
    offset: int
    where: Box = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges(Rule):
    """Inequalities of numbers that are drawn within cells.

    Args:
        about: the attributes, rising.
        edges: of each, in steps: cell c has the numbers from edge c to one below edge c + 1.
        beside: the attributes of which every cell is a number, rising.
        places: of each the numbers of its cells, in steps.
        rows: the inequalities.
        step: a step is 2^-step.
    """

    about: tuple[int, ...]
    edges: tuple[Edges, ...]
    beside: tuple[int, ...]
    places: tuple[Edges, ...]
    rows: tuple[Inequality, ...]
    step: int

    @property
    def axes(self) -> tuple[int, ...]:
        """The attributes, and those of the boxes."""
        return tuple(sorted({*self.about, *self.beside, *(part.axis for row in self.rows for part in row.where)}))

    def holds(self, codes: ByAxis) -> Truths:
        """Return of which records there are numbers in their cells that fulfil all inequalities."""
        truths = np.ones(codes[self.axes[0]].size, dtype=np.bool_)
        for implied in self.implied:
            truths &= implied.holds(codes)
        return truths

    @property
    def implied(self) -> tuple["ImpliedInequality", ...]:
        """What must hold of cells so that there are such numbers, each of as few attributes as elimination leaves."""
        (first, *_), stated = stages(self), len(self.rows)
        return tuple(ImpliedInequality(ranges=self, parts=row.parts) for row in first if any(row.parts[:stated]))

    def numbers(self, codes: ByAxis, *, rng: Generator) -> dict[int, Steps]:
        """Return the numbers of records of which it holds, by attribute, also of those beside; see `drawn`."""
        stated = {axis: np.array(each)[codes[axis]] for axis, each in zip(self.beside, self.places, strict=True)}
        both = stated | dict(zip(self.about, self.drawn(codes, rng=rng), strict=True))
        return {axis: np.asarray(steps * 2.0**-self.step) for axis, steps in both.items()}

    def drawn(self, codes: ByAxis, *, rng: Generator) -> Steps:
        """Return numbers within the cells of records that fulfil all, in steps, shape (attributes, records).

        Drawn evenly from the cells, again and again where they do not fulfil all; and at last one after the other,
        each evenly from what the others leave it.

        Args:
            codes: of records of which it holds.
            rng: the generator; nothing private is drawn.
        """
        low, high = self._ends(codes)
        if not self.about:
            return low
        right, factors = self._right(codes), np.array([row.coefficients for row in self.rows], dtype=np.float64)
        numbers, left = low.copy(), np.arange(low.shape[1])
        for _ in range(ROUNDS):
            part = uniform(left.size * len(low), rng=rng).reshape(len(low), -1)
            tried = low[:, left] + np.floor(part * (high - low + 1)[:, left])
            kept = (factors @ tried <= right[: len(factors), left]).all(axis=0)
            numbers[:, left[kept]] = tried[:, kept]
            left = left[~kept]
        numbers[:, left] = self._in_turn(right[:, left], rng)
        return numbers

    def _in_turn(self, right: Steps, rng: Generator) -> Steps:
        """Return numbers that fulfil all, each drawn from what elimination says of it by those before."""
        numbers = np.zeros((len(self.about), right.shape[1]))
        for place, rows in enumerate(stages(self)[1:]):
            least, most = np.full(right.shape[1], -NEVER), np.full(right.shape[1], NEVER)
            for row in rows:
                rest = np.array(row.parts, dtype=np.float64) @ right
                rest -= np.array(row.factors[:place], dtype=np.float64) @ numbers[:place]
                if (factor := row.factors[place]) > 0:
                    most = np.minimum(most, np.floor(rest / factor))
                else:
                    least = np.maximum(least, np.ceil(rest / factor))
            numbers[place] = least + np.floor(uniform(least.size, rng=rng) * (most - least + 1))
        return numbers

    def _ends(self, codes: ByAxis) -> tuple[Steps, Steps]:
        """Return the least and the largest number of every cell, shape (attributes, records)."""
        low = np.zeros((len(self.about), codes[self.axes[0]].size))
        high = low.copy()
        for place, (axis, edges) in enumerate(zip(self.about, self.edges, strict=True)):
            along = np.array(edges, dtype=np.float64)
            low[place], high[place] = along[codes[axis]], along[codes[axis] + 1] - 1
        return low, high

    def _right(self, codes: ByAxis) -> Steps:
        """Return what is on the right of every inequality, of the largest and of the least numbers of the cells."""
        return np.stack([self.right(place, codes) for place in range(len(self.rows) + 2 * len(self.about))])

    def right(self, place: int, codes: ByAxis) -> Steps:
        """Return what is on the right of an inequality; behind these, the largest and minus the least numbers."""
        if (attribute := place - len(self.rows)) >= 0:
            low = attribute >= len(self.about)
            attribute -= low * len(self.about)
            edges = np.array(self.edges[attribute], dtype=np.float64)
            cells = codes[self.about[attribute]]
            return -edges[cells] if low else edges[cells + 1] - 1
        row = self.rows[place]
        rest = np.full(next(iter(codes.values())).size, -float(row.offset))
        for axis, factor, places in zip(self.beside, row.beside, self.places, strict=True):
            if factor:
                rest -= factor * np.array(places, dtype=np.float64)[codes[axis]]
        return np.asarray(np.where(_in(codes, row.where), rest, NEVER))

    def about_part(self, place: int) -> set[int]:
        """Return the attributes that the right side of an inequality is about; see `right`."""
        if (attribute := place - len(self.rows)) >= 0:
            return {self.about[attribute % len(self.about)]}
        row = self.rows[place]
        return {*(axis for axis, factor in zip(self.beside, row.beside, strict=True) if factor)} | {
            part.axis for part in row.where
        }

    def check(self, shape: Sequence[int]) -> None:
        """Refuse what is no rule of attributes with so many cells.

        Raises:
            ValueError: naming what is wrong.
        """
        every = (*self.about, *self.beside)
        if not every or len(every) != len({*every}) or not {*self.axes} <= {*range(len(shape))} or not self.rows:
            raise ValueError("a rule is about an attribute that there is not, or about none, or twice about the same")
        sizes = {(len(row.coefficients), len(row.beside)) for row in self.rows}
        if sizes != {(len(self.about), len(self.beside))} or sizes != {(len(self.edges), len(self.places))}:
            raise ValueError("a rule has numbers, and coefficients, for every attribute")
        for axis, edges in zip(self.about, self.edges, strict=True):
            if len(edges) != shape[axis] + 1 or any(low >= high for low, high in itertools.pairwise(edges)):
                raise ValueError("a rule has a rising edge for every cell, and one more")
        if any(len(places) != shape[axis] for axis, places in zip(self.beside, self.places, strict=True)):
            raise ValueError("a rule has a number for every cell")
        largest = max(abs(edge) for edges in (*self.edges, *self.places) for edge in edges)
        for row in self.rows:
            if sum(map(abs, (*row.coefficients, *row.beside))) * largest + abs(row.offset) > LARGEST:
                raise ValueError(f"a rule adds up numbers beyond {LARGEST:,} steps of 2^-{self.step}")
        stages(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpliedInequality(Rule):
    """What elimination leaves: multiples of right sides add up to 0 or more.

    Args:
        ranges: the inequalities.
        parts: of every right side, >= 0.
    """

    ranges: Ranges
    parts: Edges

    @property
    def axes(self) -> tuple[int, ...]:
        """The attributes of these right sides."""
        places = (place for place, times in enumerate(self.parts) if times)
        return tuple(sorted(set[int]().union(*map(self.ranges.about_part, places))))

    def holds(self, codes: ByAxis) -> Truths:
        """Return of which records it holds."""
        total = np.zeros(next(iter(codes.values())).size)
        for place, times in enumerate(self.parts):
            if times:
                total += times * self.ranges.right(place, codes)
        return np.asarray(total >= 0)


@functools.lru_cache(maxsize=64)
def stages(ranges: Ranges) -> tuple[tuple[Row, ...], ...]:
    """Return what must hold of no number, of the first, of the first two, ...: by elimination of the last ones.

    Raises:
        ValueError: two coefficients of a number are beyond 1, so that elimination is not exact; or rows are too many.
    """
    number, stated = len(ranges.about), len(ranges.rows)
    size = stated + 2 * number
    rows = [Row(row.coefficients, _unit(size, place)) for place, row in enumerate(ranges.rows)]
    for place in range(number):
        rows.append(Row(_unit(number, place), _unit(size, stated + place)))
        rows.append(Row(tuple(-factor for factor in _unit(number, place)), _unit(size, stated + number + place)))
    kept = list[tuple[Row, ...]]()
    for place in range(number - 1, -1, -1):
        kept.append(tuple(row for row in rows if row.factors[place]))
        rows = _without(rows, place, number - place + 1)
    return (tuple(rows), *reversed(kept))


def _without(rows: Sequence[Row], place: int, most: int) -> list[Row]:
    """Return what rows say once a number is eliminated; a row of more than so many right sides follows from others."""
    above = [row for row in rows if row.factors[place] > 0]
    below = [row for row in rows if row.factors[place] < 0]
    left = dict.fromkeys(row for row in rows if not row.factors[place])
    for first in above:
        for second in below:
            up, down = first.factors[place], -second.factors[place]
            if up > 1 and down > 1:
                raise ValueError(
                    "numbers with several in a cell are compared with coefficients of 1 but for a single number; "
                    "leave out one of these constraints, or `bins`"
                )
            factors = _added(down, first.factors, up, second.factors)
            parts = _added(down, first.parts, up, second.parts)
            if sum(map(bool, parts)) <= most:
                left[Row(factors, parts)] = None
    if len(left) > MOST_ROWS:
        raise ValueError("constraints of numbers with several in a cell are too many; leave out some of them")
    return list(left)


def _added(times: int, first: Edges, more: int, second: Edges) -> Edges:
    return tuple(times * left + more * right for left, right in zip(first, second, strict=True))


def _unit(size: int, place: int) -> Edges:
    return tuple(int(each == place) for each in range(size))


def _in(codes: ByAxis, box: Box) -> Truths | bool:
    """Return which records are in a box."""
    truths: Truths | bool = True
    for part in box:
        truths = truths & within(codes[part.axis], part.runs)
    return truths


@dataclass(frozen=True, slots=True, kw_only=True)
class RangedSum(Rule):
    """An attribute that is a sum of numbers drawn within cells.

    Args:
        axis: the attribute that is computed.
        about: the attributes that it is computed from, rising.
        coefficients: of each, as a numerator and a denominator.
        offset: that is added, likewise.
    """

    axis: int
    about: tuple[int, ...]
    coefficients: tuple[tuple[int, int], ...]
    offset: tuple[int, int]

    @property
    def axes(self) -> tuple[int, ...]:
        """The attribute and those that it is computed from."""
        return (self.axis, *self.about)

    @property
    def computes(self) -> int | None:
        """The attribute."""
        return self.axis

    def computed(self, codes: ByAxis) -> Cells:
        """Return the first cell: which one it is, the numbers say that are drawn within the cells of the others."""
        return np.zeros(codes[self.about[0]].size, dtype=np.int32)

    def holds(self, codes: ByAxis) -> Truths:
        """Return that it holds: `Ranges` say which cells leave it a number within its bounds."""
        return np.ones(codes[self.about[0]].size, dtype=np.bool_)

    def number(self, numbers: Mapping[int, Steps]) -> Steps:
        """Return the attribute's numbers: exact where coefficients are sums of powers of 2, else the nearest.

        Args:
            numbers: of the attributes that it is computed from.
        """
        total = np.full(numbers[self.about[0]].size, self.offset[0] / self.offset[1])
        for axis, (up, down) in zip(self.about, self.coefficients, strict=True):
            total = total + numbers[axis] * up / down
        return np.asarray(total)

    def check(self, shape: Sequence[int]) -> None:
        """Refuse what is no rule of so many attributes.

        Raises:
            ValueError: naming what is wrong.
        """
        if not self.about or len({*self.axes}) != len(self.axes) or not {*self.axes} <= {*range(len(shape))}:
            raise ValueError("a sum is of an attribute that there is not, or of none, or of itself")
        if len(self.coefficients) != len(self.about) or not all(down for _, down in (*self.coefficients, self.offset)):
            raise ValueError("a sum has a coefficient for every attribute")
