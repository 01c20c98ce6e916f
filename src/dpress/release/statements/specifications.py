"""A part as a specification: its attributes as coarse as its conditions allow, its kind's parameters, its budget.

part, base -> attributes whose cells are what the statements tell apart -> the statements read over these -> parameters.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import msgspec

from dpress import catalog
from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported
from dpress.data.specification.spec import Spec, as_dict, from_dict
from dpress.query.condition_cells import runs_of
from dpress.query.sql.columns import Columns
from dpress.query.sql.reader import statements
from dpress.query.sql.statement import Statement
from dpress.release.statements.parts import Part, attribute_tests


def specification(part: Part, base: Spec, text: str, share: Fraction = Fraction(1)) -> Spec:
    """Return the specification of a part.

    Args:
        part: of the statements.
        base: whose attributes, promise and data they are about.
        text: of all statements.
        share: of the budget.

    Raises:
        SqlRefusal, SchemaMismatch: see `statements` and `from_dict`.
    """
    changed = coarsened(part, base, text)
    attributes, plain = changed.attribute, as_dict(changed)
    kind, parameters = _parameters(part, _read(changed, part, text), attributes)
    used = part.groups | {attribute for _, attribute in part.measured if attribute}
    names = [attribute.name for attribute in attributes if attribute.name in used] or [attributes[0].name]
    plain["release"] |= {"kind": kind, "attributes": names, "parameters": parameters}
    plain["privacy"] |= {name: shared(plain["privacy"][name], share) for name in base.privacy.loss.names}
    spec = from_dict(plain)
    return msgspec.structs.replace(spec, data=base.data)


def shared(budget: float, share: Fraction) -> float:
    """Return a share of a parameter of the budget, rounded down to six digits, so that all shares stay within it."""
    exact = Fraction(repr(budget)) * share
    return float(f"{float(exact * (1 - Fraction(1, 10**7))):.6g}") if share < 1 else budget


def columns_of(spec: Spec, text: str) -> Columns:
    """Return the columns of a specification's table."""
    unit = spec.privacy.protected.columns
    return Columns(text=text, attributes=spec.schema.tabular, unit=unit, joined=True)


def coarsened(part: Part, base: Spec, text: str) -> Spec:
    """Return a specification whose attributes that only tell groups and conditions have no more cells than these need.

    Of the wider cells that an attribute knows the first are taken in which every condition can be read.
    """
    cuts = _cuts(part, base, text)
    compared, added = _compared(base), {name for need in part.needs for name in need.added}
    whole = {attribute for _, attribute in part.measured} | added | compared
    ranges = {name: (first, last) for need in part.needs for name, first, last in need.ranges}
    if both := sorted(compared & ranges.keys()):
        raise NotSupported(f"$.data.where: it names {both[0]}, of which the statement counts a range; name it in one")
    spec = base
    for attribute in base.attribute:
        ways: Sequence[Attribute | None] = ()
        if attribute.name in ranges:
            ways = (attribute.with_cells.within(*ranges[attribute.name]),)
        elif attribute.name in cuts and attribute.name not in whole:
            ways = attribute.with_cells.coarser(cuts[attribute.name])
        changed = (_with(spec, way) for way in ways if way is not None)
        spec = next((each for each in changed if _reads(each, attribute.name, part, text)), spec)
    return spec


def _compared(spec: Spec) -> set[str]:
    """Return the attributes that `where` of [data] names, whose cells say which rows are counted."""
    if not spec.where:
        return set()
    from dpress.release.plan.row_condition import row_condition  # noqa: PLC0415  # Arrow takes a while to import

    rule = row_condition(spec)
    return set() if rule is None else {attribute.name for attribute in rule.attributes}


def _cuts(part: Part, base: Spec, text: str) -> dict[str, frozenset[int]]:
    """Return the borders between cells at which conditions cut, numbered from 0, by attribute."""
    schema, cuts = Schema(base.attribute), dict[str, set[int]]()
    for test in attribute_tests(_read(base, part, text)):
        ends = (end for first, last in runs_of(schema, test) for end in (first, last + 1))
        cuts.setdefault(test.attribute, set()).update(ends)
    return {name: frozenset(places) for name, places in cuts.items()}


def _read(spec: Spec, part: Part, text: str) -> Sequence[Statement]:
    return statements(text, columns_of(spec, text), only=part.statements)


def _with(spec: Spec, attribute: Attribute) -> Spec:
    """Return a specification with another attribute of a name."""
    changed = tuple(attribute if each.name == attribute.name else each for each in spec.attribute)
    return msgspec.structs.replace(spec, attribute=changed)


def _reads(spec: Spec, name: str, part: Part, text: str) -> bool:
    """Return whether every condition on an attribute can be read over a specification's cells."""
    schema = Schema(spec.attribute)
    try:
        for test in attribute_tests(_read(spec, part, text)):
            if test.attribute == name:
                runs_of(schema, test)
    except ValueError:
        return False
    return True


def _parameters(part: Part, of: Sequence[Statement], attributes: Sequence[Attribute]) -> tuple[str, dict[str, Any]]:
    """Return the kind of release that answers a part, and its parameters: those of the first room that has some."""
    for name, card in catalog.kinds().items():
        if part.answers in card.in_sql and (made := catalog.room(name).in_sql(part, of, attributes)) is not None:
            return made
    raise NotSupported(f"no kind of release answers {part.answers} of statements")
