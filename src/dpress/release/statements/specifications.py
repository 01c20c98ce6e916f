"""A part as a specification: its attributes as coarse as its conditions allow, its kind's parameters, its budget.

part, base -> attributes whose cells are what the statements tell apart -> the statements read over these -> parameters.
"""

import itertools
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
from dpress.release.statements.parts import Part, conditions_of


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
    fine = statements(text, columns_of(base, text), only=part.statements)
    attributes = coarsened(part, base.attribute, fine)
    changed = msgspec.structs.replace(base, attribute=attributes)
    plain = as_dict(changed)
    coarse = statements(text, columns_of(changed, text), only=part.statements)
    kind, parameters = _parameters(part, coarse, attributes)
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


def coarsened(part: Part, attributes: Sequence[Attribute], of: Sequence[Statement]) -> tuple[Attribute, ...]:
    """Return the attributes, those that only tell groups and conditions with no more cells than these need."""
    schema = Schema(tuple(attributes))
    cuts: dict[str, set[int]] = {}
    for condition in itertools.chain.from_iterable(map(conditions_of, of)):
        for test in condition.tests:
            ends = (end for first, last in runs_of(schema, test) for end in (first, last + 1))
            cuts.setdefault(test.attribute, set()).update(ends)
    whole = {attribute for _, attribute in part.measured} | {name for need in part.needs for name in need.added}
    ranges = {name: (first, last) for need in part.needs for name, first, last in need.ranges}

    def fitted(attribute: Attribute) -> Attribute:
        if attribute.name in ranges:
            return attribute.with_cells.within(*ranges[attribute.name]) or attribute
        cut = frozenset(cuts.get(attribute.name, ()))
        return attribute if attribute.name in whole or not cut else attribute.with_cells.coarser(cut)

    return tuple(map(fitted, attributes))


def _parameters(part: Part, of: Sequence[Statement], attributes: Sequence[Attribute]) -> tuple[str, dict[str, Any]]:
    """Return the kind of release that answers a part, and its parameters: those of the first room that has some."""
    for name, card in catalog.kinds().items():
        if part.answers in card.in_sql and (made := catalog.room(name).in_sql(part, of, attributes)) is not None:
            return made
    raise NotSupported(f"no kind of release answers {part.answers} of statements")
