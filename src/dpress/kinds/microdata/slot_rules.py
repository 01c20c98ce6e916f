"""Constraints of persons and households as rules over households: who is there, and what is so of each person.

conditions of persons -> of every slot -> boxes of cells that no household has, of slots that somebody is in.
"""

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.maps.atoms import Box, Condition, Predicate
from dpress.core.maps.runs import Runs, common, complement, of_codes
from dpress.data.specification.constraint import Constraint
from dpress.data.specification.linked_table import LinkedTables
from dpress.data.specification.slots import Slot, slots_of
from dpress.data.specification.spec import Spec
from dpress.kinds.microdata.linear_text import OPPOSITE, Comparison, as_written, comparison, set_apart, whole
from dpress.kinds.microdata.ranged_text import RecordComparison, ranged
from dpress.mechanisms.microdata.record_rules import Impossible, Linear
from dpress.query.boxes import possible, predicate
from dpress.query.query_tree import Condition as QueryCondition
from dpress.query.schema_queries import conditions_of

NOT_SO, SO = ((0, 0),), ((1, 1),)
ITSELF = re.compile(r"(?<!\w)(\w+)\s*(?:<=|>=|!=|<|>|=)\s*\1(?!\w)")
"""A number that is compared with itself."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotRules:
    """What a condition of persons says of households.

    Args:
        never: cells that no household has.
        stated: comparisons of numbers within cells, of households in a box.
    """

    never: Predicate
    stated: tuple[RecordComparison, ...]


def numbers_in(spec: Spec, tables: LinkedTables) -> Schema:
    """Return the attributes of households, of which slots of numbers in bins are numbers as they are of persons."""
    people = {slot.name: slot.person for slot in slots_of(spec, tables) if not slot.counts and not slot.person.extra}
    binned = {name: person for name, person in people.items() if person.numbers is not None}
    attributes = (
        msgspec.structs.replace(binned[each.name], name=each.name) if each.name in binned else each
        for each in spec.schema.attributes
    )
    return Schema(tuple(attributes))


def slot_axes(spec: Spec, tables: LinkedTables) -> frozenset[int]:
    """Return the slots of numbers in bins, by their places among the attributes of households."""
    names = spec.schema.names
    return frozenset(names.index(slot.name) for slot in slots_of(spec, tables) if not slot.counts)


def slot_rules(spec: Spec, tables: LinkedTables, constraint: Constraint) -> SlotRules | None:
    """Return what a condition of persons says of households; None where it is about households alone.

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
    names, kept, stated = spec.schema.names, dict[Box, None](), list[RecordComparison]()
    axes, numbers = {names.index(slot.name): slot for slot in people}, numbers_in(spec, tables)
    for each, number in about.items():
        if each != text and ITSELF.search(each):
            raise ValueError(f'{text!r} compares person {number} with that person; add persons = "others"')
        here = Condition(names.index(tables.below.name), ((0 if each == text else number, tables.most),))
        forms = list[Comparison]()
        for box in _never(spec, numbers, each, axes, forms, negated=bool(constraint.holds)):
            cells = tuple(part for part in box if part.axis < len(names))
            beyond = [part for part in box if part.axis >= len(names)]
            about_too = [names.index(name) for part in beyond for name in forms[part.axis - len(names)].factors]
            inside = _of_somebody(cells, axes, here, about_too)
            if len(beyond) > 1:
                raise ValueError(f"{text!r} compares numbers with several in a cell twice; state each by itself")
            if inside is not None and beyond:
                stated.append(RecordComparison(form=_kept(forms[beyond[0].axis - len(names)], beyond[0]), where=inside))
            elif inside is not None:
                kept[inside] = None
    if not kept and not stated:
        raise ValueError(f"{text!r} says nothing: it is so of everybody")
    return SlotRules(never=tuple(kept), stated=tuple(stated))


def _kept(form: Comparison, never: Condition) -> Comparison:
    """Return the opposite of what is never so: of a comparison, or of its opposite."""
    return replace(form, word=OPPOSITE[form.word] if never.runs == SO else form.word, solved="")


def _texts(text: str, people: Sequence[Slot], persons: str) -> Iterator[tuple[int, str]]:
    """Yield a condition of persons for every slot that it is about, with the slot's number."""
    names = "|".join(re.escape(name) for name in dict.fromkeys(slot.person.name for slot in people))
    numbers = sorted({slot.number for slot in people})
    about = {"each": numbers, "first": numbers[:1], "others": numbers[1:]}[persons]
    for number in about:
        yield number, re.sub(rf"(?<![\w.'\"])({names})(?![\w'\"])", rf"\1_{number}", text)


def _never(
    spec: Spec, numbers: Schema, text: str, axes: dict[int, Slot], forms: list[Comparison], *, negated: bool
) -> Predicate:
    """Return the boxes that a condition of households, or its opposite, leaves out.

    A comparison of numbers within cells is added to `forms`, and is an attribute of its own behind the others.
    """
    apart, rest = set_apart(numbers, text)

    def of_numbers(part: QueryCondition, *, negated: bool) -> Predicate:
        form = comparison(numbers, apart, part, negated=negated)
        if not ranged(numbers, [form]):
            return _listed(spec, whole(numbers, form), axes)
        forms.append(comparison(numbers, apart, part, negated=False))
        return ((Condition(len(spec.schema.names) + len(forms) - 1, NOT_SO if negated else SO),),)

    def boxes(part: QueryCondition, *, negated: bool) -> Predicate:
        if part.word == "not":
            return boxes(part.parts[0], negated=not negated)
        if part.attribute in apart:
            return of_numbers(part, negated=negated)
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


def _of_somebody(box: Box, axes: dict[int, Slot], here: Condition, more: Sequence[int]) -> Box | None:
    """Return a box of slots that somebody is in; None where nobody may be in them.

    Args:
        box: of households.
        axes: the slots.
        here: how many persons there are, where the one is there whom the box is about.
        more: attributes that are compared in the box.
    """
    slots = [axis for axis in dict.fromkeys((*(part.axis for part in box), *more)) if axis in axes]
    there = (Condition(axis, complement(((axes[axis].nobody,) * 2,), axes[axis].attribute.size)) for axis in slots)
    seen = here.runs[0][0] in {0, *(axes[axis].number for axis in slots)}
    return _both(box, (*there, *(() if seen else (here,))))
