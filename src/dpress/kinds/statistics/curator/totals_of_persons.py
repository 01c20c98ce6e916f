"""What is measured of persons and their totals: parts of sums, one for every attribute with totals."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.basics.claim import Unit
from dpress.core.basics.parameters import PLACE
from dpress.data.specification.spec import Spec
from dpress.kinds.statistics.kind import Statistics
from dpress.kinds.statistics.level_values import bounded
from dpress.mechanisms.linear.person_sums import STEPS, PersonSums

MOST_LEVELS = 1 << 42  # of all rows of persons, each of at most 2^20 levels, that 63 bits hold


def person_parts(spec: Spec, schema: Schema, by: tuple[int, ...], terms: Statistics) -> tuple[PersonSums, ...]:
    """Return the parts: one for every attribute with totals, and one of persons where none of those counts them all.

    Args:
        spec: says who a person is, and how many rows one keeps.
        schema: the attributes, measured ones with their finest levels.
        by: the axes of the groups.
        terms: the parameters.

    Raises:
        ValueError: the unit is a row, or the bounds of a total are none.
    """
    if not terms.persons and terms.totals is None:
        return ()
    unit = spec.privacy.protected
    if unit.column is None:
        place = "persons" if terms.persons else "totals"
        raise ValueError(
            f"{PLACE}.{place}: needs [privacy] to name persons (unit = a column, rows_per_unit), got unit = 'row'"
        )
    totals = tuple(_totals(schema, by, terms, unit))
    if terms.persons and not any(part.counts_all for part in totals):
        return (*totals, PersonSums(shape=schema.shape, by=by))
    return totals


def _totals(schema: Schema, by: tuple[int, ...], terms: Statistics, unit: Unit) -> Iterator[PersonSums]:
    for name, (low, high) in (terms.totals or {}).items():
        place, axis = f"{PLACE}.totals.{name}", schema.axes([name])[0]
        attribute = bounded(schema, axis)
        edges = attribute.edges_at(np.array([0, 1])).astype(float)
        width = float(edges[1] - edges[0])
        first = float(edges[0]) if attribute.whole and width == 1 else float(edges.mean())
        last = first + width * (attribute.ordered - 1)
        if not low < high:
            raise ValueError(f"{place}: expected the lower number first, got [{float(low):g}, {float(high):g}]")
        if low > max(last, 0) * unit.rows or high < min(first, 0) * unit.rows:
            raise ValueError(f"{place}: no total of {unit.rows:,} rows lies in [{float(low):g}, {float(high):g}]")
        if unit.rows * attribute.ordered > MOST_LEVELS * STEPS:
            raise ValueError(f"{place}: {unit.rows:,} rows of {attribute.ordered:,} levels do not fit 63 bits")
        yield PersonSums(
            shape=schema.shape,
            by=by,
            degree=1,
            axis=axis,
            levels=attribute.ordered,
            values=(Fraction(first), Fraction(width)),
            bounds=(low, high),
        )
