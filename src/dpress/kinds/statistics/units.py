"""Statistics in the units that people read: shares in percent, all else in the unit of the attribute."""

import math
from dataclasses import replace

from dpress.attributes.domain import Schema
from dpress.inference.group_moments import IN_UNITS, Estimates, changed
from dpress.inference.suppression import MARK
from dpress.kinds.statistics.group_results import GroupResults
from dpress.reporting.rounding import error, interval, number, stated
from dpress.reporting.statistic_titles import SHARE, Titled, titled

PERCENT = "%"


def in_units(results: GroupResults, name: str) -> Estimates:
    """Return one statistic, a share in percent."""
    statistic = results.of(name)
    if not name.startswith(SHARE):
        return statistic
    return changed(statistic, lambda column: 100 * column, IN_UNITS)


def with_unit(name: str, schema: Schema) -> Titled:
    """Return what a statistic is called, with the unit of `in_units`."""
    title = titled(name, schema)
    return replace(title, unit=PERCENT) if name.startswith(SHARE) else title


def points(unit: str) -> str:
    """Return the unit of an error: of percent points."""
    return "points" if unit == PERCENT else unit


def valued(text: str, unit: str) -> str:
    """Return a number with its unit; as it is without one, or where there is no number.

    >>> valued("30 to 40", "EUR"), valued("not known", "EUR"), valued("3", "")
    ('30 to 40 EUR', 'not known', '3')
    """
    return f"{text} {unit}" if unit and text not in {"none", "not known", MARK} else text


def texts(statistic: Estimates, place: int, unit: str) -> tuple[str, str, str]:
    """Return a value, its interval and its standard error, with their unit."""
    value, ends, spread = _rounded_texts(statistic, place)
    return valued(value, unit), valued(ends, unit), valued(spread, points(unit))


def _rounded_texts(statistic: Estimates, place: int) -> tuple[str, str, str]:
    if statistic.hidden is not None and statistic.hidden[place]:
        return MARK, MARK, MARK
    value, deviation = float(statistic.value[place]), float(statistic.standard_error[place])
    low, high = float(statistic.low[place]), float(statistic.high[place])
    if statistic.multiple > 1:
        multiple = float(statistic.multiple)
        return number(value, multiple), interval(low, high, multiple), error(deviation)
    if math.isnan(low):
        return "not known" if math.isnan(value) else number(value), "none", "not known"
    return stated(value, (low, high), deviation)


def sampled(statistic: Estimates, place: int, unit: str) -> tuple[str, str, str]:
    """Return the error of sampling, the interval that holds it and the noise, and the design effect; `none` without."""
    if statistic.sampling is None or statistic.population is None or math.isnan(statistic.sampling[place]):
        return "none", "none", "none"
    low, high = (float(ends[place]) for ends in statistic.population)
    deviation, value = float(statistic.sampling[place]), float(statistic.value[place])
    both, spread = stated(value, (low, high), deviation or float(statistic.standard_error[place]))[1:]
    effect = math.nan if statistic.design_effect is None else float(statistic.design_effect[place])
    sampling = valued(spread, points(unit)) if deviation else "hidden by the noise"
    return sampling, valued(both, unit), "none" if math.isnan(effect) or not deviation else f"{effect:.2f}"


def in_sentence(statistic: Estimates, place: int, unit: str) -> str:
    """Return a value with its unit and interval as a sentence has it, in the digits of the page's tables."""
    value, ends, _ = _rounded_texts(statistic, place)
    return value if value == "not known" else f"{valued(value, unit)} ({ends})"
