"""Constraints of a specification as rules over cells: conditions as boxes, tables and hierarchies as lists of cells.

`[[constraint]]`, schema -> `record_rules`. No row is looked at.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.core.maps.atoms import Condition as CellCondition
from dpress.core.maps.atoms import Predicate
from dpress.data.specification.constraint import Constraint
from dpress.data.specification.slots import slots_of
from dpress.data.specification.spec import Spec
from dpress.kinds.microdata.linear_text import Comparison, comparison_of, linear
from dpress.kinds.microdata.ranged_text import RecordComparison, ranged, ranges_of
from dpress.kinds.microdata.slot_rules import numbers_in, occupied, slot_axes, slot_rules
from dpress.mechanisms.microdata.ranged_numbers import RangedSum, Ranges
from dpress.mechanisms.microdata.record_rules import NONE, Determined, Impossible, Rules
from dpress.query.boxes import possible, predicate
from dpress.query.query_tree import Condition
from dpress.query.schema_queries import conditions_of

PLACE = "$.constraint"


def rules_of(spec: Spec) -> Rules:
    """Return the rules of a specification's constraints.

    Raises:
        ValueError: a constraint cannot be read, or together they leave no record possible.
    """
    within, linked = comparisons(spec), spec.linked
    stated, each = [RecordComparison(form=form) for form in within.values()], list[Rules]()
    for place, constraint in enumerate(spec.constraints, 1):
        if place not in within:
            alone, more = _read(spec, constraint, place)
            each.append(alone)
            stated += more
    sums, ranges = _ranges(spec, stated, PLACE)
    who = (occupied(spec, linked),) if linked is not None and linked.both else ()
    rules = Rules(
        determined=tuple(rule for rules in each for rule in rules.determined),
        impossible=(*(rule for rules in each for rule in rules.impossible), *who),
        linear=tuple(rule for rules in each for rule in rules.linear),
        sums=sums,
        ranges=ranges,
    )
    try:
        rules.possible(spec.schema.shape)
    except ValueError as error:
        raise ValueError(f"{PLACE}: {error}") from None
    if linked is not None and linked.both:
        _check_somebody(rules, spec.schema, linked.below.name)
    return rules


def comparisons(spec: Spec) -> dict[int, Comparison]:
    """Return the constraints that compare numbers within cells, by their places from 1; see `ranged`.

    Raises:
        ValueError: one is about fewer than two numbers.
    """
    forms = dict[int, Comparison]()
    slots = slots_of(spec, spec.linked) if spec.linked is not None and spec.linked.both else ()
    for place, constraint in enumerate(spec.constraints, 1):
        text = constraint.impossible or constraint.holds or ""
        try:
            form = comparison_of(spec.schema, text, negated=bool(constraint.impossible))
        except ValueError as error:
            raise ValueError(f"{PLACE}[#{place}]: {error}") from None
        if form is not None and not any(slot.name in form.factors for slot in slots):
            forms[place] = form
    places = [*forms]
    return {places[each]: forms[places[each]] for each in sorted(ranged(spec.schema, [*forms.values()]))}


def _check_somebody(rules: Rules, schema: Schema, size: str) -> None:
    """Refuse rules under which all households are empty: an empty one breaks no rule of its persons."""
    empty = Impossible(boxes=((CellCondition(axis=schema.names.index(size), runs=((0, 0),)),),))
    try:
        replace(rules, impossible=(*rules.impossible, empty)).possible(schema.shape)
    except ValueError:
        raise ValueError(f"{PLACE}: together the constraints leave no rows of {size} possible") from None


def single(spec: Spec, constraint: Constraint, place: int) -> Rules:
    """Return the rule of a constraint by itself; see `rules_of`."""
    alone, stated = _read(spec, constraint, place)
    return replace(alone, ranges=_ranges(spec, stated, f"{PLACE}[#{place}]")[1]) if stated else alone


def _ranges(
    spec: Spec, stated: Sequence[RecordComparison], where: str
) -> tuple[tuple[RangedSum, ...], tuple[Ranges, ...]]:
    """Return the rules of comparisons of numbers within cells.

    Raises:
        ValueError: they are none that such numbers keep.
    """
    linked = spec.linked if spec.linked is not None and spec.linked.both else None
    schema = spec.schema if linked is None else numbers_in(spec, linked)
    slots = frozenset[int]() if linked is None else slot_axes(spec, linked)
    try:
        sums, ranges = ranges_of(schema, stated, spec.schema.shape)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    for rule in ranges:
        if slots & {*rule.about} and not {*rule.about} <= slots:
            names = ", ".join(schema.names[axis] for axis in rule.about)
            raise ValueError(
                f"{where}: {names}: numbers of households and of persons are compared where those of households are "
                "integers without `bins`"
            )
    return sums, ranges


def _read(spec: Spec, constraint: Constraint, place: int) -> tuple[Rules, tuple[RecordComparison, ...]]:
    """Return the rules of a constraint's cells, and what it says of numbers within cells of two persons."""
    schema, linked = spec.schema, spec.linked
    if constraint.unique:
        _check_key(spec, constraint.unique, place)
        return NONE, ()
    if constraint.determines:
        return Rules(determined=(_determined(schema, constraint, place),)), ()
    word = "impossible" if constraint.impossible else "holds"
    text = constraint.impossible or constraint.holds or ""
    try:
        if linked is not None and linked.both and (people := slot_rules(spec, linked, constraint)) is not None:
            never = (Impossible(boxes=people.never),) if people.never else ()
            return Rules(impossible=never), people.stated
        if (equation := linear(schema, text, negated=word == "impossible")) is not None:
            return Rules(linear=(equation,)), ()
        return Rules(impossible=(Impossible(boxes=_boxes(schema, text, negated=word == "holds")),)), ()
    except ValueError as error:
        raise ValueError(f"{PLACE}[#{place}].{word}: {error}") from None


def _check_key(spec: Spec, name: str, place: int) -> None:
    """Refuse a key that no model can promise, and one more than a file of records has."""
    where = f"{PLACE}[#{place}].unique"
    if name in spec.schema.names:
        raise ValueError(f"{where}: {name} is a released attribute; expected the name of a column that is made up")
    if spec.linked is not None and spec.linked.both:
        raise ValueError(f"{where}: records of two tables have made-up keys, which are unique, in the columns of `key`")
    if sum(bool(constraint.unique) for constraint in spec.constraints) > 1:
        raise ValueError(f"{where}: expected a single made-up key")


def _boxes(schema: Schema, text: str, *, negated: bool) -> Predicate:
    """Return which records a condition, or its opposite, leaves out."""
    condition = conditions_of(schema, text)
    never = Condition(word="not", parts=(condition,)) if negated else condition
    if not possible(schema, never):
        raise ValueError(f"{condition.text!r} says nothing: it is so of every record")
    boxes = predicate(schema, never)
    if () in boxes:
        raise ValueError(f"{condition.text!r} leaves no record possible")
    return boxes


def _determined(schema: Schema, constraint: Constraint, place: int) -> Determined:
    """Return for every cell of an attribute that of another, by a table or by a level of its hierarchy."""
    by, axis = constraint.determines or ("", "")
    if by == axis or not {by, axis} <= {*schema.names}:
        wanted = f"expected two of the released attributes, {', '.join(schema.names)}"
        raise ValueError(f"{PLACE}[#{place}].determines: {wanted}, got {[by, axis]}")
    columns = {column.name: column for column in schema.tabular}
    try:
        codes = _codes(columns[by], columns[axis], constraint.pairs)
    except ValueError as error:
        raise ValueError(f"{PLACE}[#{place}].determines: {error}") from None
    return Determined(axis=schema.names.index(axis), by=schema.names.index(by), codes=codes)


def _codes(by: Tabular, axis: Tabular, table: Mapping[str, str]) -> tuple[int, ...]:
    """Return the cell of an attribute for every cell of the one that determines it."""
    pairs = table or _level(by, axis)
    if strays := sorted({value for value in pairs.values() if axis.code(value) is None}):
        raise ValueError(f"{strays[0]!r} is no value of {axis.name}")
    of_code = {by.code(value): axis.code(group) for value, group in pairs.items()}
    beside = {by.code(name): axis.code(name) for name in by.extra if name in axis.extra}
    codes = [of_code.get(cell, beside.get(cell)) for cell in range(by.size)]
    if None in codes:
        raise ValueError(f"which {axis.name} {by.labels[codes.index(None)]!r} of {by.name} has is not in the table")
    return tuple(code for code in codes if code is not None)


def _level(by: Tabular, axis: Tabular) -> dict[str, str]:
    """Return the group of every value, of the first level whose groups are all values of an attribute."""
    rows: Sequence[Sequence[str]] = by.levels_of_groups
    levels = zip(*rows, strict=True) if rows else iter(())
    values = next(levels, ())
    fitting = (level for level in levels if all(axis.code(group) is not None for group in {*level}))
    if (groups := next(fitting, None)) is None:
        raise ValueError(
            f"expected a `table` with the {axis.name} of every {by.name}, or a hierarchy of {by.name} with a level "
            f"whose groups are values of {axis.name}"
        )
    return dict(zip(values, groups, strict=True))
