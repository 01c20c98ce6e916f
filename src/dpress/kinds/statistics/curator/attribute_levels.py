"""The levels that an attribute's values are added up at, row by row, and those of its totals, person by person."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

import msgspec
import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Number
from dpress.core.basics.claim import Unit
from dpress.core.basics.parameters import PLACE
from dpress.data.specification.spec import Spec
from dpress.kinds.statistics.kind import Statistics
from dpress.kinds.statistics.level_values import bounded
from dpress.mechanisms.linear.moment_sums import LARGEST
from dpress.mechanisms.linear.person_sums import STEPS, PersonSums

MOST_LEVELS = 1 << 42  # of all rows of persons, each of at most 2^20 levels, that 63 bits hold
LEVELS = {1: 1 << 20, 2: 1 << 15}  # the most of an attribute, by the degree of its moments, where no unit is stated


def finest(attribute: Tabular, degree: int | None, *, quantiles: bool, unit: Fraction | None) -> Tabular:
    """Return a measured attribute with as many levels as its moments take; any other as it is.

    Args:
        attribute: as the specification has it.
        degree: the highest of its moments; None where it has none.
        quantiles: whether it has quantiles, too.
        unit: the values are rounded to the multiples of it from the lower bound on.

    Raises:
        ValueError: the unit does not suit the attribute, or quantiles need cells of one width.
    """
    numbers = attribute.numbers
    if degree is None or numbers is None:
        if unit is not None:
            raise ValueError(f"{PLACE}.unit.{attribute.name}: it has no mean, sum, variance or total")
        return attribute
    if numbers.whole and unit is not None:
        raise ValueError(f"{PLACE}.unit.{attribute.name}: it is an integer attribute, whose unit is 1")
    if quantiles and not numbers.even:
        raise ValueError(
            f"attribute {attribute.name}: a mean and quantiles of one attribute need `bins` of one width, not `edges`"
        )
    if unit is not None:
        return _lattice(numbers, unit, degree)
    return numbers.with_levels(numbers.levels(LEVELS[degree]))


def _lattice(attribute: Number, unit: Fraction, degree: int) -> Tabular:
    """Return the attribute with a cell around every multiple of the unit, both bounds included."""
    place = f"{PLACE}.unit.{attribute.name}"
    low, high = (Fraction(repr(float(end))) for end in attribute.ends)
    if unit <= 0:
        raise ValueError(f"{place}: expected a number > 0, got {float(unit):g}")
    steps = (high - low) / unit
    if steps.denominator != 1:
        raise ValueError(
            f"{place}: expected a unit that divides the width of the bounds, {float(high - low):g}, got {float(unit):g}"
        )
    if steps**degree >= LARGEST // 2:
        moment = "squares of levels" if degree == 2 else "levels"
        raise ValueError(f"{place}: sums over 2^32 rows of {int(steps):,} {moment} do not fit 63 bits")
    half = unit / 2
    bounds = (float(low - half), float(high + half))
    finer: Tabular = msgspec.structs.replace(attribute, bounds=bounds, cuts=None, bins=int(steps) + 1)
    return finer


def check_units(units: Mapping[str, Fraction], names: tuple[str, ...]) -> None:
    """Refuse a unit of an attribute that there is not.

    Raises:
        ValueError: so it is.
    """
    for name in units:
        if name not in names:
            raise ValueError(f"{PLACE}.unit: there is no attribute {name!r}; the attributes are {', '.join(names)}")


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
