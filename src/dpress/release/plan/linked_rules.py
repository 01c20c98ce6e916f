"""Two tables of a specification as rules of their rows: which persons come first, and what they make of a household.

`[[table]]` -> conditions as rules, columns, bounds -> `LinkedRows`, once their sources are known. No row is read.
"""

import re
from collections.abc import Iterator

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.kept_rows import Rule
from dpress.data.linked.household_columns import CountOf, HouseholdColumn, SumOf, ValueOf
from dpress.data.linked.linked_rows import LinkedRows
from dpress.data.linked.members import ByColumn, ConditionFirst, Order
from dpress.data.linked.slot_columns import SlotColumn
from dpress.data.sources.source import Source
from dpress.data.specification.linked_table import Derived, LinkedTables, derived
from dpress.data.specification.slots import Slot, slots_of
from dpress.data.specification.spec import Spec
from dpress.release.plan.row_condition import rule_of

ALL = 1 << 62  # persons, where they are protected: with a cap one of them would decide whether another counts
CONDITION = re.compile(r"[=<>]|\s(in|is|between)\s")


def check_linked(spec: Spec, *, of_records: bool) -> None:
    """Refuse two tables whose conditions cannot be read, and records of both by a kind that makes none.

    Args:
        spec: with two tables.
        of_records: whether the kind makes records.

    Raises:
        NotSupported: it makes none, and [data] does not say which rows are counted.
        SchemaMismatch: a condition cannot be read.
    """
    tables = _tables(spec)
    if tables.both and not of_records:
        names = f'"{tables.above.name}" or "{tables.below.name}"'
        raise NotSupported(f"$.data.rows: expected whose rows are counted, {names}; records alone are of both")
    list(_order(spec, tables))
    dict(_made(spec, tables))


def linked_rows(spec: Spec, above: Source, below: Source) -> LinkedRows:
    """Return the rows of two tables as a specification joins them.

    Args:
        spec: with two tables.
        above: the rows of the table above.
        below: those of the one below.
    """
    tables = _tables(spec)
    return LinkedRows(
        above=above,
        below=below,
        keys=(tables.above.keys, tables.below.keys),
        most=tables.most if tables.protects_households(spec.privacy.protected.columns) else ALL,
        order=tuple(_order(spec, tables)),
        made=dict(_made(spec, tables)),
        whole=tuple(dict.fromkeys(slot.person for slot in _slots(spec, tables))),
        of_persons=tables.of_persons,
    )


def _tables(spec: Spec) -> LinkedTables:
    assert spec.linked is not None  # noqa: S101  # whoever calls has looked
    return spec.linked


def _order(spec: Spec, tables: LinkedTables) -> Iterator[Order]:
    """Yield what comes first among the persons of a household."""
    for place, text in enumerate(tables.below.order, 1):
        if CONDITION.search(text):
            at = f"$.table[{tables.below.name}].order[#{place}]"
            yield ConditionFirst(rule=rule_of(Schema(spec.attribute), text, at))
        else:
            column = text.removeprefix("-")
            attribute = _attribute(spec, column)
            read = column if attribute is None else attribute.read_from
            yield ByColumn(column=read, attribute=attribute, falling=text.startswith("-"))


def _made(spec: Spec, tables: LinkedTables) -> Iterator[tuple[str, HouseholdColumn]]:
    """Yield the columns of households that persons make, with their names."""
    for name, text in tables.above.derived.items():
        place = f"$.table[{tables.above.name}].derived.{name}"
        yield name, _column(spec, derived(text), place)
    if tables.both:
        yield tables.below.name, CountOf(rule=None)
        yield from ((slot.name, SlotColumn(slot=slot)) for slot in _slots(spec, tables))


def _slots(spec: Spec, tables: LinkedTables) -> tuple[Slot, ...]:
    """Return the attributes of every person's slot; none where the rows of one table are counted."""
    return slots_of(spec, tables) if tables.both else ()


def _column(spec: Spec, says: Derived, place: str) -> HouseholdColumn:
    rule: Rule | None = rule_of(Schema(spec.attribute), says.where, place) if says.where else None
    if says.word == "count":
        return CountOf(rule=rule)
    attribute = _attribute(spec, says.column)
    column = says.column if attribute is None else attribute.read_from
    if says.word == "first":
        return ValueOf(column=column, rule=rule)
    if attribute is not None and attribute.line is None:
        raise SchemaMismatch(f"{place}: expected the sum of numbers, and {says.column} has none")
    return SumOf(column=column, bounds=_bounds(attribute), rule=rule)


def _bounds(attribute: Tabular | None) -> tuple[float, float] | None:
    """Return the least and the largest number of an attribute, both included."""
    if attribute is None or attribute.line is None:
        return None
    low, end = attribute.line.ends
    return float(low), float(end - 1 if attribute.line.whole else end)


def _attribute(spec: Spec, name: str) -> Tabular | None:
    """Return the attribute of a name, where it has cells; None where there is none."""
    named = (attribute for attribute in spec.attribute if attribute.name == name and len(attribute.sides) == 1)
    return next((attribute.with_cells for attribute in named), None)
