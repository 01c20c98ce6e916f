"""What was found in a series: the latest period, the one before, the first one, and groups that rise or fall.

parts of a page -> changes whose significance allows for all that are compared -> sentences.
"""

from collections.abc import Sequence

import numpy as np

from dpress.release.periods.period_numbers import Change
from dpress.reporting.findings import (
    CONFIDENCE,
    Estimate,
    change_sentence,
    total_sentence,
    trend_sentence,
    value_sentence,
)
from dpress.reporting.rounding import listed
from dpress.reporting.series_parts import Part
from dpress.reporting.statistic_titles import PERCENT

NAMED = 4  # groups of one direction that a sentence names


def opening(parts: Sequence[Part], periods: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences that the page opens with: of all rows together, of the count and the chief statistic.

    Error: with a chance of at most 5 % any of them names a rise or a fall where there is none. Of the first part two
    changes are compared, that of the latest period from the one before and that from the first one, each with half of
    that chance (Bonferroni); with two periods the two are one.

    Args:
        parts: of the page, the chief first.
        periods: that are published, in order.
    """
    whole = [part for part in parts if not part.axes and _has_interval(part)]
    if not whole:
        return tuple(_of_groups(part, len(periods)) for part in parts[:1])
    counted = (f"In {periods[-1]}: {_total(part)}" for part in whole[1:] if part.counted)
    return *counted, *_of_chief(whole[0], periods)


def _has_interval(part: Part) -> bool:
    return bool(np.isfinite([part.numbers.value[0, -1], part.numbers.low[0, -1]]).all())


def _of_groups(part: Part, periods: int) -> str:
    """Return what a page has that knows no interval of all rows together."""
    of = f" of {len(part.names):,} groups" if part.axes else ""
    return f"The {part.statistic.name}{of} in {periods:,} periods; no error of all rows together is known."


def _total(part: Part) -> str:
    return total_sentence(_latest(part), part.statistic.unit)


def _of_chief(part: Part, periods: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences on the first part: its latest value, the one before, and the first one."""
    since = [*dict.fromkeys((len(periods) - 2, 0))] if len(periods) > 1 else []
    return of_rows(part, periods, since, 1 - (1 - CONFIDENCE) / max(1, len(since)))


def of_rows(part: Part, periods: Sequence[str], since: Sequence[int], confidence: float) -> tuple[str, ...]:
    """Return the latest value of all rows together, and its change since some periods, where that is significant.

    Args:
        part: of all rows together.
        periods: that are published, in order.
        since: the places of the one before and of the first one, of these two as many as are compared.
        confidence: of each change.
    """
    if not _has_interval(part):
        return ()
    latest, unit = periods[-1], "" if part.counted else part.statistic.unit
    named = f"{part.statistic.name} in {latest}"
    value = f"In {latest}: {_total(part)}" if part.counted else value_sentence(named, _latest(part), unit)
    changes = [_first(part.numbers.change(place, len(periods) - 1, confidence)) for place in since]
    before, trend = ([change for change in some if np.isfinite(change.value)] for some in (changes[:1], changes[1:]))
    less, unit = "fewer" if part.counted else "less", "points" if unit == PERCENT else unit
    return (
        value,
        *(change_sentence(change, periods[-2], unit, less) for change in before),
        *(trend_sentence(change, (periods[0], latest), unit) for change in trend),
    )


def groups_sentence(part: Part, change: Change, since: str) -> str:
    """Return which groups rise and which fall since a period, where that is significant.

    Args:
        part: of groups.
        change: of every group, with the confidence that the page allows each.
        since: what the period is called.
    """
    risen, fallen = (_names(part, change, sign) for sign in (1.0, -1.0))
    name, size, hidden = part.statistic.name, len(part.names), int(np.count_nonzero(change.significant == 0))
    if hidden == size:
        return f"Since {since} the noise hides whether the {name} rises or falls in any of {size:,} groups."
    moves = [f"{verb} in {listed(names)}" for verb, names in (("rises", risen), ("falls", fallen)) if names]
    rest = f"; in {hidden:,} of {size:,} groups the noise hides whether it does" if hidden else ""
    return f"Since {since} the {name} {' and '.join(moves)}{rest}."


def _names(part: Part, change: Change, sign: float) -> list[str]:
    """Return the groups that change in one direction, the largest change first."""
    order = np.argsort(-sign * np.nan_to_num(change.value), kind="stable").tolist()
    names = [part.names[place] for place in order if change.significant[place] == sign]
    return names if len(names) <= NAMED else [*names[: NAMED - 1], f"{len(names) - NAMED + 1:,} more"]


def _latest(part: Part) -> Estimate:
    value, error, low, high = (float(column[0, -1]) for column in part.numbers.columns)
    return Estimate(value=value, ends=(low, high), error=error)


def _first(change: Change) -> Estimate:
    return Estimate(value=float(change.value[0]), ends=(float(change.low[0]), float(change.high[0])))
