"""Constraints of persons and households as rules over households: who is there, and what is so of each person.

conditions of persons -> of every slot -> boxes of cells that no household has, of slots that somebody is in.
"""

import functools
import itertools
import re
from collections.abc import Iterator, Sequence

import numpy as np

from dpress.core.maps.atoms import Box, Condition, Predicate
from dpress.core.maps.runs import Runs, common, complement, of_codes
from dpress.data.specification.constraint import Constraint
from dpress.data.specification.linked_table import LinkedTables
from dpress.data.specification.slots import Slot, slots_of
from dpress.data.specification.spec import Spec
from dpress.kinds.microdata.linear_text import as_written, comparison, set_apart
from dpress.mechanisms.microdata.record_rules import Impossible, Linear
from dpress.query.boxes import possible, predicate
from dpress.query.query_tree import Condition as QueryCondition
from dpress.query.schema_queries import conditions_of

MOST_LISTED = 1 << 12
"""Cells of numbers that a condition compares, but those of the last."""


def occupied(spec: Spec, tables: LinkedTables) -> Impossible:
    """Return the rule of who is there: the slots of as many persons as a household has, and no other one.

    Args:
        spec: of records of two tables.
        tables: that belong together.
    """
    names, boxes = spec.schema.names, list[Box]()
    size = names.index(tables.below.name)
    for slot in slots_of(spec, tables):
        axis, nobody = names.index(slot.name), ((slot.nobody, slot.nobody),)
        somebody = complement(nobody, slot.attribute.size)
        boxes.append((Condition(size, ((0, slot.number - 1),)), Condition(axis, somebody)))
        boxes.append((Condition(size, ((slot.number, tables.most),)), Condition(axis, nobody)))
    return Impossible(boxes=tuple(boxes))


def boxes_of(spec: Spec, tables: LinkedTables, constraint: Constraint) -> Predicate | None:
    """Return the cells that a condition of persons leaves no household; None where it is about households alone.

    A condition about an attribute of persons is so of everybody, or of whom `persons` names; `age_1` is the first's.

    Raises:
        ValueError: it cannot be read.
    """
    text, people = constraint.impossible or constraint.holds or "", slots_of(spec, tables)
    about = {each: number for number, each in _texts(text, people, constraint.persons or "each")}
    if {*about} == {text} and not any(slot.name in text for slot in people):
        if constraint.persons:
            raise ValueError(f"{text!r} is about no attribute of persons")
        return None
    names, kept = spec.schema.names, dict[Box, None]()
    axes = {names.index(slot.name): slot for slot in people}
    for each, number in about.items():
        here = Condition(names.index(tables.below.name), ((0 if each == text else number, tables.most),))
        boxes = (_of_somebody(box, axes, here) for box in _never(spec, each, axes, negated=bool(constraint.holds)))
        kept |= dict.fromkeys(box for box in boxes if box is not None)
    if not kept:
        raise ValueError(f"{text!r} says nothing: it is so of everybody")
    return tuple(kept)


def _texts(text: str, people: Sequence[Slot], persons: str) -> Iterator[tuple[int, str]]:
    """Yield a condition of persons for every slot that it is about, with the slot's number."""
    names = "|".join(re.escape(name) for name in dict.fromkeys(slot.person.name for slot in people))
    numbers = sorted({slot.number for slot in people})
    about = {"each": numbers, "first": numbers[:1], "others": numbers[1:]}[persons]
    for number in about:
        yield number, re.sub(rf"(?<![\w.'\"])({names})(?![\w'\"])", rf"\1_{number}", text)


def _never(spec: Spec, text: str, axes: dict[int, Slot], *, negated: bool) -> Predicate:
    """Return the boxes that a condition of households, or its opposite, leaves out."""
    apart, rest = set_apart(spec.schema, text)

    def boxes(part: QueryCondition, *, negated: bool) -> Predicate:
        if part.word == "not":
            return boxes(part.parts[0], negated=not negated)
        if part.attribute in apart:
            return _listed(spec, comparison(spec.schema, apart, part, negated=negated), axes)
        if not apart.keys() & {test.attribute for test in part.tests}:
            never = QueryCondition(word="not", parts=(part,)) if negated else part
            return predicate(spec.schema, never) if possible(spec.schema, never) else ()
        each = [boxes(operand, negated=negated) for operand in part.parts]
        alternatives = (part.word == "or") != negated
        return tuple(itertools.chain.from_iterable(each)) if alternatives else functools.reduce(_together, each)

    try:
        return boxes(conditions_of(spec.schema, rest, [*apart]), negated=negated)
    except ValueError as error:
        raise ValueError(as_written(str(error), apart)) from None


def _listed(spec: Spec, equation: Linear, axes: dict[int, Slot]) -> Predicate:
    """Return the boxes of which an equation or inequality holds, cell by cell."""
    *before, last = equation.about
    shape = spec.schema.shape
    places = [np.arange(axes[axis].first if axis in axes else 0, shape[axis]) for axis in before]
    if np.prod([cells.size for cells in places]) > MOST_LISTED:
        raise ValueError(f"it compares numbers of more than {MOST_LISTED:,} cells; use fewer integers")
    boxes = list[Box]()
    for cells in itertools.product(*places):
        codes = {axis: np.full(shape[last], cell, dtype=np.int32) for axis, cell in zip(before, cells, strict=True)}
        held = np.flatnonzero(equation.holds({**codes, last: np.arange(shape[last], dtype=np.int32)}))
        if held.size:
            fixed = [Condition(axis, ((int(cell), int(cell)),)) for axis, cell in zip(before, cells, strict=True)]
            boxes.append((*fixed, Condition(last, of_codes(held.tolist()))))
    return tuple(boxes)


def _together(first: Predicate, second: Predicate) -> Predicate:
    """Return the boxes in both of two unions."""
    pairs = (_both(first_box, other) for first_box, other in itertools.product(first, second))
    return tuple(box for box in pairs if box is not None)


def _both(first: Box, second: Box) -> Box | None:
    """Return what is in both of two boxes; None where nothing is."""
    runs = dict[int, Runs]()
    for part in (*first, *second):
        runs[part.axis] = common(runs[part.axis], part.runs) if part.axis in runs else part.runs
    return tuple(Condition(axis, runs[axis]) for axis in sorted(runs)) if all(runs.values()) else None


def _of_somebody(box: Box, axes: dict[int, Slot], here: Condition) -> Box | None:
    """Return a box of slots that somebody is in; None where nobody may be in them.

    Args:
        box: of households.
        axes: the slots.
        here: how many persons there are, where the one is there whom the box is about.
    """
    slots = [part.axis for part in box if part.axis in axes]
    there = (Condition(axis, complement(((axes[axis].nobody,) * 2,), axes[axis].attribute.size)) for axis in slots)
    seen = here.runs[0][0] in {0, *(axes[axis].number for axis in slots)}
    return _both(box, (*there, *(() if seen else (here,))))
