"""What constraints make of records: attributes that are computed from others, and combinations that may not occur.

public rules over the cells of all attributes -> which attributes are left to measure -> which of their cells may occur
together -> records of these -> records of all attributes. A rule is asked what it is about, what it computes and of
which records it holds, never which rule it is.
"""

import functools
import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dpress.core.basics.rng import Generator
from dpress.core.maps.atoms import Box
from dpress.core.methods.people import Codes
from dpress.core.methods.possible import ByAxis, Cells, Combinations, Leaf, Possible, Rule, Truths, within
from dpress.mechanisms.microdata.ranged_numbers import RangedSum, Ranges, Steps

MOST_COMBINATIONS = 1 << 20
"""Cells of attributes that constraints join, which are all listed."""
LARGEST = 1 << 53
"""Of a sum of numbers."""
Integers = npt.NDArray[np.int64]
AboutAxes = Sequence[tuple[frozenset[int], Rule]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Determined(Rule):
    """Every cell of an attribute has one cell of another.

    Args:
        axis: of the attribute that is determined.
        by: the attribute that determines it.
        codes: for every cell of `by` that of `axis`.
    """

    axis: int
    by: int
    codes: tuple[int, ...]

    @property
    def axes(self) -> tuple[int, ...]:
        """The attribute and what determines it."""
        return (self.by, self.axis)

    @property
    def computes(self) -> int | None:
        """The attribute."""
        return self.axis

    def computed(self, codes: ByAxis) -> Cells:
        """Return the cells of the attribute."""
        return np.asarray(np.array(self.codes, dtype=np.int32)[codes[self.by]])

    def holds(self, codes: ByAxis) -> Truths:
        """Return which records have that cell."""
        return np.asarray(self.computed(codes) == codes[self.axis])


@dataclass(frozen=True, slots=True, kw_only=True)
class Impossible(Rule):
    """Combinations of cells that no record has.

    Args:
        boxes: of which each is such combinations; they may overlap.
    """

    boxes: tuple[Box, ...]

    @property
    def axes(self) -> tuple[int, ...]:
        """The attributes of the boxes."""
        return tuple(sorted({part.axis for box in self.boxes for part in box}))

    def holds(self, codes: ByAxis) -> Truths:
        """Return which records are in none of the boxes."""
        tests = [[within(codes[part.axis], part.runs) for part in box] for box in self.boxes]
        return ~functools.reduce(np.logical_or, [functools.reduce(np.logical_and, box) for box in tests])


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear(Rule):
    """An equation or inequality of whole numbers: coefficients times values, added up with a number, beside 0.

    Args:
        about: the attributes, rising, of which every cell is an integer.
        coefficients: of each.
        lows: the integer of the first cell of each.
        sizes: the number of cells of each.
        offset: the number.
        word: how the sum stands to 0.
        solved: the attribute that an equation is solved for, which it computes; None where it computes none.
    """

    about: tuple[int, ...]
    coefficients: tuple[int, ...]
    lows: tuple[int, ...]
    sizes: tuple[int, ...]
    offset: int
    word: Literal["=", "!=", "<="]
    solved: int | None = None

    @property
    def axes(self) -> tuple[int, ...]:
        """The attributes."""
        return self.about

    @property
    def computes(self) -> int | None:
        """The attribute that an equation is solved for."""
        return self.solved

    def _sum(self, codes: ByAxis, but: int | None = None) -> Integers:
        """Return the sum, or the sum without an attribute."""
        terms = zip(self.about, self.coefficients, self.lows, strict=True)
        parts = [factor * (codes[axis].astype(np.int64) + low) for axis, factor, low in terms if axis != but]
        return np.asarray(sum(parts) + self.offset, dtype=np.int64)

    def check(self, shape: Sequence[int]) -> None:
        """Refuse what is no rule of attributes with so many cells.

        Raises:
            ValueError: naming what is wrong.
        """
        number = len(self.about)
        if not number or number != len({*self.about}) or not {*self.about} <= {*range(len(shape))}:
            raise ValueError("a rule is about an attribute that there is not, or about none, or twice about the same")
        if {number} != {len(self.coefficients), len(self.lows), len(self.sizes)} or 0 in self.coefficients:
            raise ValueError("a rule has a coefficient, a first integer and a size for every attribute")
        if self.sizes != tuple(shape[axis] for axis in self.about):
            raise ValueError("a rule is about a cell that there is not")
        if self.solved is not None and (self.solved not in self.about or self.word != "="):
            raise ValueError("a rule is solved for an attribute that it is not about, or is no equation")
        largest = max(abs(low) + size for low, size in zip(self.lows, self.sizes, strict=True))
        if sum(map(abs, self.coefficients)) * largest + abs(self.offset) > LARGEST:
            raise ValueError("a rule adds up numbers beyond 2^53")

    def computed(self, codes: ByAxis) -> Cells:
        """Return the cells of the attribute, the nearest where none has the number: then the equation does not hold."""
        place = self.about.index(-1 if self.solved is None else self.solved)
        value = -self._sum(codes, self.solved) // self.coefficients[place]
        return np.asarray(np.clip(value - self.lows[place], 0, self.sizes[place] - 1), dtype=np.int32)

    def holds(self, codes: ByAxis) -> Truths:
        """Return of which records it holds."""
        total = self._sum(codes)
        return np.asarray({"=": total == 0, "!=": total != 0, "<=": total <= 0}[self.word])


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """All rules of records.

    Args:
        determined: attributes whose cells others determine.
        impossible: combinations that no record has.
        linear: equations and inequalities of whole numbers.
        sums: attributes that are computed from numbers within cells.
        ranges: inequalities of numbers within cells.
    """

    determined: tuple[Determined, ...] = ()
    impossible: tuple[Impossible, ...] = ()
    linear: tuple[Linear, ...] = ()
    sums: tuple[RangedSum, ...] = ()
    ranges: tuple[Ranges, ...] = ()
    added_later: ClassVar[tuple[str, ...]] = ("linear", "sums", "ranges")

    @property
    def every(self) -> tuple[Rule, ...]:
        """The rules."""
        return (*self.determined, *self.linear, *self.sums, *self.ranges, *self.impossible)

    @property
    def computing(self) -> dict[int, Rule]:
        """By attribute the rule that computes it, each behind those of what it is computed from.

        Raises:
            ValueError: attributes are computed from each other.
        """
        first: dict[int, Rule] = {}
        for rule in self.every:
            if rule.computes is not None:
                first.setdefault(rule.computes, rule)
        ordered: dict[int, Rule] = {}
        while ready := [axis for axis, rule in first.items() if not ({*rule.axes} - {axis}) & {*first}]:
            ordered |= {axis: first.pop(axis) for axis in ready}
        if first:
            raise ValueError("attributes are computed from each other; leave out one of these constraints")
        return ordered

    def measured(self, attributes: int) -> tuple[int, ...]:
        """Return which of so many attributes are left to measure: those that no rule computes."""
        computing = self.computing
        return tuple(axis for axis in range(attributes) if axis not in computing)

    def completed(self, codes: Codes, attributes: int) -> Codes:
        """Return records of all attributes from those of what was measured.

        Args:
            codes: of the measured attributes, shape (measured attributes, records).
            attributes: how many there are in all.
        """
        by_axis = self._with_computed(dict(zip(self.measured(attributes), codes, strict=True)))
        return np.stack([np.asarray(by_axis[axis], dtype=np.int32) for axis in range(attributes)])

    def possible(self, shape: Sequence[int]) -> Possible:
        """Return which records of the measured attributes may occur.

        Args:
            shape: the cells of all attributes.

        Raises:
            ValueError: a rule does not fit the shape, no record may occur, or rules join attributes of too many cells.
        """
        return _possible(self, tuple(shape))

    def listed(self, shape: Sequence[int]) -> Possible:
        """Return the same, listed anew; see `possible`."""
        self._check(shape)
        measured, parts = self.measured(len(shape)), list[Combinations]()
        for axes, rules in _joined(self._about(), frozenset()):
            parts.append(self._part(measured, axes, rules, shape))
        return Possible(parts=tuple(part for part in parts if part.leaves or not part.allowed.all()))

    def broken(self, codes: Codes) -> int:
        """Return how many records, of shape (attributes, records), break a rule, or several."""
        by_axis, kept = dict(enumerate(codes)), np.ones(codes.shape[1], dtype=np.bool_)
        for rule in self.every:
            kept &= rule.holds(by_axis)
        return int((~kept).sum())

    def numbers(self, codes: Codes, *, rng: Generator) -> dict[int, Steps]:
        """Return the numbers that rules say something of within cells, by attribute, each of shape (records,).

        Args:
            codes: of all attributes, shape (attributes, records).
            rng: the generator; nothing private is drawn.
        """
        by_axis, numbers = dict(enumerate(codes)), dict[int, Steps]()
        for rule in self.ranges:
            numbers |= rule.numbers(by_axis, rng=rng)
        return numbers | {rule.axis: rule.number(numbers) for rule in self.sums}

    def _with_computed(self, codes: dict[int, Cells]) -> dict[int, Cells]:
        for axis, rule in self.computing.items():
            if all(source in codes for source in rule.axes if source != axis):
                codes[axis] = rule.computed(codes)
        return codes

    def _sources(self, axes: Sequence[int]) -> set[int]:
        """Return the measured attributes that some attributes are, or are computed from."""
        computing, sources = self.computing, {*axes}
        while computed := sources & {*computing}:
            for axis in computed:
                sources = (sources - {axis}) | ({*computing[axis].axes} - {axis})
        return sources

    def _about(self) -> list[tuple[frozenset[int], Rule]]:
        """Return rules with the measured attributes that each is about; boxes of one rule are rules of their own."""
        apart: list[Rule] = [Impossible(boxes=(box,)) for rule in self.impossible for box in rule.boxes]
        apart += [implied for rule in self.ranges for implied in rule.implied]
        return [(frozenset(self._sources(rule.axes)), rule) for rule in (*self.determined, *self.linear, *apart)]

    def _part(
        self, measured: Sequence[int], axes: AbstractSet[int], rules: AboutAxes, sizes: Sequence[int]
    ) -> Combinations:
        """Return which cells of some attributes may occur together: all listed, or those of a centre and its leaves."""
        centre, leaves = frozenset(axes), list[frozenset[int]]()
        if math.prod(sizes[axis] for axis in axes) > MOST_COMBINATIONS:
            centre, leaves = _star(rules, sizes)
        within = [rule for about, rule in rules if about <= centre]
        allowed = self._listed(centre, within, sizes)
        made = list[Leaf]()
        for leaf in leaves:
            beside = [rule for about, rule in rules if about & leaf]
            table = self._listed(centre, beside, sizes, leaf).reshape(-1, *(sizes[axis] for axis in sorted(leaf)))
            made.append(Leaf(axes=tuple(measured.index(axis) for axis in sorted(leaf)), allowed=table))
        part = Combinations(
            centre=tuple(measured.index(axis) for axis in sorted(centre)), allowed=allowed, leaves=tuple(made)
        )
        if not part.open.any():
            raise ValueError("together the constraints leave no record possible")
        return part

    def _listed(
        self,
        centre: AbstractSet[int],
        rules: Sequence[Rule],
        sizes: Sequence[int],
        leaf: AbstractSet[int] = frozenset(),
    ) -> Truths:
        """Return which combinations of a centre, and of a leaf beside it, keep some rules; shape (cells of each)."""
        axes = [*sorted(centre), *sorted(leaf)]
        shape = tuple(sizes[axis] for axis in axes)
        grid = np.unravel_index(np.arange(math.prod(shape)), shape)
        codes = self._with_computed({axis: along.astype(np.int32) for axis, along in zip(axes, grid, strict=True)})
        truths = np.ones(math.prod(shape), dtype=np.bool_)
        for rule in rules:
            truths &= rule.holds(codes)
        return truths.reshape(shape)

    def _check(self, shape: Sequence[int]) -> None:
        """Refuse rules about other attributes or cells than there are."""
        for rule in self.determined:
            if not {rule.axis, rule.by} <= {*range(len(shape))} or len(rule.codes) != shape[rule.by]:
                raise ValueError("a rule determines an attribute, or is determined by cells, that there are not")
            if not all(0 <= code < shape[rule.axis] for code in rule.codes):
                raise ValueError("a rule determines a cell that there is not")
        for equation in (*self.linear, *self.sums, *self.ranges):
            equation.check(shape)
        drawn, others = (
            {rule.axis for rule in self.sums},
            (*self.determined, *self.linear, *self.ranges, *self.impossible),
        )
        if any(drawn & {*rule.axes} for rule in others):
            raise ValueError(
                "an attribute that is computed from numbers with several in a cell has no other constraint than sums "
                "and comparisons"
            )
        for condition in (part for rule in self.impossible for box in rule.boxes for part in box):
            if not 0 <= condition.axis < len(shape) or not condition.runs:
                raise ValueError("a rule is about an attribute that there is not")
            if not all(0 <= first <= last < shape[condition.axis] for first, last in condition.runs):
                raise ValueError("a rule is about a cell that there is not")
        if not all(rule.boxes and all(rule.boxes) for rule in self.impossible):
            raise ValueError("a rule leaves no record possible")


@functools.lru_cache(maxsize=8)
def _possible(rules: Rules, shape: tuple[int, ...]) -> Possible:
    return rules.listed(shape)


def _joined(rules: AboutAxes, centre: AbstractSet[int]) -> list[tuple[frozenset[int], AboutAxes]]:
    """Return the attributes beside a centre that rules join, each with the rules about them."""
    joined = list[tuple[frozenset[int], AboutAxes]]()
    for about, rule in rules:
        axes, together = about - centre, [(about, rule)]
        if not axes:
            continue
        for others in [each for each in joined if each[0] & axes]:
            joined.remove(others)
            axes, together = axes | others[0], [*others[1], *together]
        joined.append((axes, together))
    return joined


def _star(rules: AboutAxes, sizes: Sequence[int]) -> tuple[frozenset[int], list[frozenset[int]]]:
    """Return a centre, without which rules join few attributes, and these: the most joined come into it first.

    Raises:
        ValueError: there is none that is small enough.
    """
    centre = frozenset[int]()
    while True:
        leaves = [axes for axes, _ in _joined(rules, centre)]
        listed = math.prod(sizes[axis] for axis in centre)
        wide = [axes for axes in leaves if listed * math.prod(sizes[axis] for axis in axes) > MOST_COMBINATIONS]
        if not wide:
            return centre, leaves
        if listed > MOST_COMBINATIONS or all(len(axes) == 1 for axes in wide):
            cells = math.prod(sizes[axis] for axis in centre | wide[0])
            raise ValueError(
                f"constraints join attributes of {cells:,} cells together; they may have {MOST_COMBINATIONS:,}: use "
                "fewer `bins`"
            )
        among = {axis for axes in wide for axis in axes}
        times = {axis: sum(axis in about for about in {about for about, _ in rules}) for axis in among}
        centre |= {max(sorted(among), key=lambda axis: times[axis])}


NONE = Rules()
"""No constraints."""
