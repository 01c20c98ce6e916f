"""Levels that a measured attribute's values are rounded to: as many as moments take, or multiples of a stated unit."""

from collections.abc import Mapping
from fractions import Fraction

import msgspec

from dpress.core.attribute import Tabular
from dpress.core.bounded_attribute import Integer, Number, Numeric
from dpress.core.parameters import PLACE

LEVELS = {1: 1 << 20, 2: 1 << 15}  # the most of an attribute, by the degree of its moments
STATED = {1: 1 << 30, 2: 1 << 16}  # the most that a unit may give: steps^degree times 2^31 rows fit 63 bits

Units = Mapping[str, Fraction]


def finest(attribute: Tabular, degree: int, *, units: Units, quantiles: bool) -> Tabular:
    """Return a measured attribute with the levels of its moments.

    Args:
        attribute: with the cells that the specification states.
        degree: of its moments; 0 where none is measured.
        units: that the specification states, by attribute.
        quantiles: whether some are measured, too.

    Raises:
        ValueError: a unit that does not suit, or cells that do not.
    """
    if not degree or not isinstance(attribute, Number):
        return attribute
    if attribute.name in units:
        return _stated(attribute, degree, units[attribute.name])
    most = LEVELS[degree]
    if isinstance(attribute, Integer):
        return msgspec.structs.replace(attribute, bins=None if attribute.span <= most else most)
    if attribute.cuts is not None and quantiles:
        raise ValueError(
            f"attribute {attribute.name}: a mean and quantiles of one attribute need `bins` of one width, not `edges`"
        )
    bins = attribute.bins or 1
    low, high = map(float, attribute.ends)
    return msgspec.structs.replace(attribute, bounds=(low, high), cuts=None, bins=bins * max(1, most // bins))


def check_units(units: Units, measured: set[str]) -> None:
    """Refuse a unit that is none, or of an attribute that has no moments.

    Raises:
        ValueError: there is one.
    """
    for name, unit in units.items():
        if unit <= 0:
            raise ValueError(f"{PLACE}.unit.{name}: expected a number > 0, got {float(unit):g}")
        if name not in measured:
            raise ValueError(f"{PLACE}.unit.{name}: {name} has no mean, sum or variance to be rounded for")


def _stated(attribute: Number, degree: int, unit: Fraction) -> Tabular:
    """Return an attribute whose cells' middles are the multiples of a unit between its bounds."""
    place = f"{PLACE}.unit.{attribute.name}"
    if not isinstance(attribute, Numeric) or attribute.cuts is not None:
        raise ValueError(f"{place}: expected a numeric attribute with `bounds`; integers are their own unit")
    low, high = (Fraction(str(one)) for one in attribute.bounds)  # type: ignore[union-attr]  # without edges it has some
    steps = (high - low) / unit
    if steps.denominator != 1:
        raise ValueError(f"{place}: expected a number that divides the width of the bounds, {float(high - low):g}")
    if steps >= STATED[degree]:
        raise ValueError(
            f"{place}: {int(steps):,} steps between the bounds would overflow 63 bits over 2^31 rows; at most "
            f"{STATED[degree] - 1:,} fit: a larger unit, or closer bounds"
        )
    bounds = float(low - unit / 2), float(high + unit / 2)
    return msgspec.structs.replace(attribute, bounds=bounds, bins=int(steps) + 1)
