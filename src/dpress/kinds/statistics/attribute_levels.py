"""The levels that an attribute's values are added up at, row by row."""

from collections.abc import Mapping
from fractions import Fraction

import msgspec

from dpress.attributes.attribute import Tabular
from dpress.attributes.numbers.attribute import Number
from dpress.core.basics.parameters import PLACE
from dpress.mechanisms.linear.moment_sums import LARGEST

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
