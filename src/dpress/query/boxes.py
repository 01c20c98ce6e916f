"""Conditions as cells: as a union of boxes, as disjoint boxes whose counts add up, as weights of every attribute.

`query_tree.Condition` -> every test's cells -> boxes, one set of cells for each attribute that matters.
"""

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.maps import atoms
from dpress.core.maps.atoms import MOST_BOXES, Box, Predicate
from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Range
from dpress.core.maps.runs import Runs, common, complement, of_codes
from dpress.query.condition_cells import interval_of, range_of, runs_of
from dpress.query.query_tree import Condition
from dpress.query.schema_queries import conditions_of

TOO_MANY = f"a query of more than {MOST_BOXES} alternatives is too long; use `in (a, b)`, or several"
Cells = dict[int, Runs]  # by axis, which cells a box has; axes that do not matter are left out
Products = list[list[Array]]  # of every box one vector of weights for every attribute
Rectangle = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class _Tests:
    """Which cells every test has, of axes of these sizes."""

    sizes: tuple[int, ...]
    cells: Callable[[Condition], tuple[int, Runs]]

    def boxes(self, condition: Condition, *, negated: bool = False) -> list[Cells]:
        """Return boxes, none of them empty, in one of which every row lies that fulfils a condition."""
        if condition.word == "not":
            return self.boxes(condition.parts[0], negated=not negated)
        if condition.word == "total":
            return [] if negated else [{}]
        if condition.attribute:
            return _few([self.test(condition, negated=negated)])
        parts = [self.boxes(part, negated=negated) for part in condition.parts]
        if (condition.word == "or") != negated:
            return _few(itertools.chain.from_iterable(parts))
        return reduce(lambda left, right: _few(_both(*pair) for pair in itertools.product(left, right)), parts)

    def test(self, condition: Condition, *, negated: bool = False) -> Cells:
        """Return the cells of one test; an axis of which all cells are asked is left out."""
        axis, runs = self.cells(condition)
        runs = complement(runs, self.sizes[axis]) if negated else runs
        return {} if runs == ((0, self.sizes[axis] - 1),) else {axis: runs}

    def disjoint(self, condition: Condition) -> tuple[Box, ...]:
        """Return disjoint boxes of a condition, the same for every condition of the same rows."""
        if (tests := joined(condition)) is None:
            return _apart(frozenset(map(_box, self.boxes(condition))), self.sizes)
        return (_box(reduce(_both, map(self.test, tests), {})),)  # it may be empty


def joined(condition: Condition) -> tuple[Condition, ...] | None:
    """Return the tests that `and` alone joins; None where a condition has other words."""
    if condition.word == "total":
        return ()
    parts = condition.parts if condition.word == "and" else (condition,)
    return parts if all(part.attribute for part in parts) else None


def _of(schema: Schema) -> _Tests:
    names = schema.names
    return _Tests(schema.shape, lambda test: (names.index(test.attribute), runs_of(schema, test)))


def possible(schema: Schema, condition: Condition) -> bool:
    """Say whether a row may fulfil a condition, by the specification alone.

    Raises:
        ValueError: a test asks for part of a cell, or there are too many boxes.
    """
    return bool(_of(schema).boxes(condition))


def predicate(schema: Schema, condition: Condition | str) -> Predicate:
    """Return the rows that a condition asks for as a union of boxes, none of them empty; they may overlap.

    Raises:
        ValueError: it holds of no row, or is more than 256 boxes; the message says what would be right.
    """
    condition = read(schema, condition)
    boxes = tuple(dict.fromkeys(map(_box, _of(schema).boxes(condition))))
    if not boxes:
        raise ValueError(f"{condition.text!r} holds of no row: its conditions exclude each other")
    return ((),) if () in boxes else boxes


def products(schema: Schema, condition: Condition | str) -> Products:
    """Return disjoint boxes as 0/1 weights, one vector of shape (cells,) for every attribute, in the schema's order.

    Tests that `and` joins are one box, also where it is empty.

    Raises:
        ValueError: a test asks for part of a cell, or there are too many boxes.
    """
    condition = read(schema, condition)
    if boxes := _of(schema).disjoint(condition):
        return [_weights(schema.shape, each) for each in boxes]
    axis = min((schema.names.index(test.attribute) for test in condition.tests), default=0)
    return [_weights(schema.shape, (atoms.Condition(axis, ()),))]


def product(schema: Schema, condition: Condition | str) -> list[Array]:
    """Return the weights of the only box.

    Raises:
        ValueError: as `products`, or there are several.
    """
    condition = read(schema, condition)
    first, *others = products(schema, condition)
    if others:
        raise ValueError(
            f"{condition.text!r} is a union of {len(others) + 1} boxes, and here one is answered at a time"
        )
    return first


def box(schema: Schema, condition: Condition | str) -> tuple[Range, ...]:
    """Return the range of cells that a query asks for on every axis; nothing as long as an axis is formed.

    Raises:
        ValueError: it does not ask for one range of each attribute.
    """
    condition = read(schema, condition)
    first = dict.fromkeys(schema.names, 0)
    last = dict(zip(schema.names, (size - 1 for size in schema.shape), strict=True))
    for name, (low, high) in _ranges(schema, condition):
        first[name], last[name] = max(first[name], low), min(last[name], high)
        if first[name] > last[name]:
            raise ValueError(f"{condition.text!r} asks for no cell of {name}; its conditions exclude each other")
    return tuple(Range(first[name] + 1, last[name] + 1) for name in schema.names)


def _ranges(schema: Schema, condition: Condition) -> list[tuple[str, tuple[int, int]]]:
    """Return the ranges of cells that have to hold together, by the attributes' names."""
    if (tests := joined(condition)) is not None:
        return [(test.attribute, range_of(schema, test)) for test in tests]
    boxes = _of(schema).disjoint(condition)
    if len(boxes) != 1 or any(len(part.runs) > 1 for part in boxes[0]):
        raise ValueError(f"{condition.text!r} is not one range of each attribute; write `in a..b`, joined by `and`")
    return [(schema.names[part.axis], part.runs[0]) for part in boxes[0]]


def rectangles(schema: Schema, condition: Condition | str) -> list[Rectangle]:
    """Return disjoint rectangles of two numeric columns, infinite where they are not restricted.

    Raises:
        ValueError: a range is reversed, has no length, or lies outside the columns' bounds.
    """
    condition = read(schema, condition)
    if (tests := joined(condition)) is not None:
        return [_checked(schema, _common([(test.attribute, interval_of(schema, test)) for test in tests], schema))]
    intervals = {test: interval_of(schema, test) for test in condition.tests}
    ends = [sorted({-math.inf, math.inf, *(end for test, both in intervals.items() if test.attribute == name
            for end in both)}) for name in schema.names]  # fmt: skip

    def cells(test: Condition) -> tuple[int, Runs]:
        axis, (low, high) = schema.names.index(test.attribute), intervals[test]
        return axis, of_codes(range(ends[axis].index(low), ends[axis].index(high)))

    sizes = tuple(len(axis) - 1 for axis in ends)
    areas = []
    for each in _Tests(sizes, cells).disjoint(condition):
        runs = {part.axis: part.runs for part in each}
        every = [runs.get(axis, ((0, size - 1),)) for axis, size in enumerate(sizes)]
        for (left, right), (bottom, top) in itertools.product(*every):
            areas.append(((ends[0][left], ends[0][right + 1]), (ends[1][bottom], ends[1][top + 1])))
    if not areas:
        raise ValueError(f"{condition.text!r} holds nowhere: its conditions exclude each other")
    return areas


def read(schema: Schema, condition: Condition | str) -> Condition:
    """Return the tree of conditions, unless they are one.

    Raises:
        ValueError: they cannot be read.
    """
    return conditions_of(schema, condition) if isinstance(condition, str) else condition


def _common(intervals: list[tuple[str, tuple[float, float]]], schema: Schema) -> Rectangle:
    limits = dict.fromkeys(schema.names, (-math.inf, math.inf))
    for name, (low, high) in intervals:
        limits[name] = max(limits[name][0], low), min(limits[name][1], high)
    across, up = (limits[name] for name in schema.names)
    return across, up


def _checked(schema: Schema, rectangle: Rectangle) -> Rectangle:
    for column, (low, high) in zip(schema.tabular, rectangle, strict=True):
        if low >= high:
            raise ValueError(f"{column.name}: {low:.10g}..{high:.10g} has no length, and so no area")
        least, most = (low, high) if column.scale is None else map(float, column.scale.ends)
        if not max(low, least) < min(high, most):
            raise ValueError(f"{column.name}: nothing lies there; it runs from {least:.10g} to {most:.10g}")
    return rectangle


def _weights(shape: tuple[int, ...], cells: Box) -> list[Array]:
    weights = [np.ones(size) for size in shape]
    for part in cells:
        weights[part.axis] = np.zeros(shape[part.axis])
        for first, last in part.runs:
            weights[part.axis][first : last + 1] = 1.0
    return weights


def _both(left: Cells, right: Cells) -> Cells:
    return left | {axis: common(runs, left[axis]) if axis in left else runs for axis, runs in right.items()}


def _few(boxes: Iterable[Cells]) -> list[Cells]:
    """Return the boxes that are not empty, each once.

    Raises:
        ValueError: there are too many.
    """
    distinct: dict[Box, Cells] = {}
    for cells in boxes:
        if all(cells.values()):
            distinct[_box(cells)] = cells
        if len(distinct) > MOST_BOXES:
            raise ValueError(TOO_MANY)
    return list(distinct.values())


def _box(cells: Cells) -> Box:
    return tuple(atoms.Condition(axis, cells[axis]) for axis in sorted(cells))


def _apart(boxes: frozenset[Box], sizes: tuple[int, ...]) -> tuple[Box, ...]:
    """Return a union as disjoint boxes: by the cells of its first axis that have the same boxes of the others.

    Raises:
        ValueError: there are too many.
    """
    if not boxes or () in boxes:
        return ((),) if boxes else ()
    axis = min(each[0].axis for each in boxes)
    same: dict[tuple[Box, ...], list[int]] = {}
    starts = sorted({0, sizes[axis]}.union(*({low, high + 1} for each in boxes if each[0].axis == axis
                                             for low, high in each[0].runs)))  # fmt: skip
    for start, stop in itertools.pairwise(starts):
        left = (each if each[0].axis != axis else each[1:] for each in boxes
                if each[0].axis != axis or any(low <= start <= high for low, high in each[0].runs))  # fmt: skip
        same.setdefault(_apart(frozenset(left), sizes), []).extend((start, stop - 1))
    disjoint = []
    for others, ends in same.items():
        runs = _run_together(list(zip(ends[::2], ends[1::2], strict=True)))
        whole = runs == ((0, sizes[axis] - 1),)
        disjoint += [rest if whole else (atoms.Condition(axis, runs), *rest) for rest in others]
    if len(disjoint) > MOST_BOXES:
        raise ValueError(TOO_MANY)
    return tuple(disjoint)


def _run_together(runs: list[tuple[int, int]]) -> Runs:
    """Return rising stretches as runs, neighbours as one."""
    merged = runs[:1]
    for first, last in runs[1:]:
        merged[-1:] = [(merged[-1][0], last)] if first == merged[-1][1] + 1 else [merged[-1], (first, last)]
    return tuple(merged)
