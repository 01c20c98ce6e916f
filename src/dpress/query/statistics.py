"""Means, sums, quantiles, shares, ratios and differences from what is released: post-processing, which costs nothing.

Statistic -> weighted sums of cells with exact variances (`linear_forms`) -> Fieller's interval, or cumulative counts
inverted -> Result. An interval holds the statistic of the counted rows wherever in its cell every row lies: `within`
says what the width of the cells alone leaves open.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array
from dpress.inference.interval import cut_ends, margin, whole_counts
from dpress.inference.quantile import invert, quantile_weights
from dpress.inference.ratio import Ratio, fieller, pair_of
from dpress.query.condition_grammar import no_attribute
from dpress.query.linear_forms import Compared, Group
from dpress.query.query_tree import TOTAL, Condition, Query, both
from dpress.query.result import Result

if TYPE_CHECKING:
    from dpress.query.answers import Progress, ReleaseAnswers

MOST_CELLS = 512
"""Cells of a quantile; of more neighbouring ones are taken together, evenly."""
EMPTY = "The count that it is of, or divided by, is not distinguishable from zero: nothing is known beyond the bounds."
PERSONS = '; of persons it is measured by kind = "statistics", where `unit` names their column'
ELSEWHERE = {
    "variance": '; kind = "statistics" measures it; here `quantile 0.25 of NAME` and 0.75 tell the spread',
    "total": "; all rows are `total`, numbers are added up by `sum NAME`",
    "distinct": '; kind = "statistics" measures it',
    "set size": '; kind = "sets" measures it',
    "relation": '; a table of the attributes together answers relations, and kind = "statistics" measures some',
    **dict.fromkeys(("persons", "total per person"), PERSONS),
}
"""What measures a statistic that does not follow from counts."""
OF_NUMBERS = ("mean", "sum", "quantile", "circular mean", "resultant length")
Ends = tuple[float, float]
T = TypeVar("T")


def answer(
    query: Query, answers: "ReleaseAnswers", confidence: float, *, text: str, progress: "Progress | None" = None
) -> Result:
    """Answer a statistic; see `Release.mean` and the methods beside it.

    Args:
        query: the statistic, checked.
        answers: of the release.
        confidence: of the interval.
        text: as it was asked.
        progress: called with the number of fits done, where a fitted joint is fitted again.

    Raises:
        ValueError: the conditions are none on these attributes, or nothing answers them.
    """
    if query.sides:
        from dpress.query.contrasts import contrast, quotient  # noqa: PLC0415  # few ask for one

        side = partial(_side, answers=answers, progress=progress)
        answered = contrast if query.of == "contrast" else quotient
        return answered(query, answers, confidence, text=text, ask=side)
    if (statistic := answers.statistic(query, text, confidence)) is not None:
        return statistic
    if query.of == "count":
        return answers.count(both(query.first, query.where), text=text, confidence=confidence, progress=progress)
    compared = None
    if query.of in ("mean", "sum", "quantile"):
        group = answers.group(query.attribute, query.where, progress)
        made = {"mean": mean, "sum": total}.get(query.of)
        estimate = made(group, confidence) if made else quantile(group, query.level, confidence)
        notes = group.notes
    elif query.of not in ("share", "ratio", "difference"):
        raise ValueError(
            f"this release answers no {query.of}; counts, means, sums, quantiles, shares and ratios follow"
            + ELSEWHERE.get(query.of, "")
        )
    else:
        compared = answers.compared(*two_counts(query), progress)
        estimate = difference(compared, confidence) if query.of == "difference" else ratio(query, compared, confidence)
        notes = compared.notes
    value, error, interval, within = estimate
    empty = (EMPTY,) if math.isnan(value) else ()
    result = Result(
        query=text,
        of=query.of,
        value=value,
        standard_error=error,
        interval=interval,
        confidence=confidence,
        within=within,
        note=" ".join((*empty, *notes)) or None,
    )
    if compared is None or compared.sampling is None or empty:
        return result
    from dpress.query.contrasts import sampled  # noqa: PLC0415  # few releases have replicate weights

    return sampled(result, compared.sampling, (0.0, 1.0 if query.of == "share" else math.inf))


def _side(side: Query, confidence: float, answers: "ReleaseAnswers", progress: "Progress | None") -> Result:
    return answer(side, answers, confidence, text=side.text, progress=progress)


def check(schema: Schema, query: Query, weight: str = "") -> None:
    """Refuse a statistic of what is no number, and a level that is none.

    Args:
        schema: of the attributes.
        query: the statistic.
        weight: the attribute that rows are weighted by, whose values are numbers, listed ones too.

    Raises:
        ValueError: the message names the attribute or the level and what would be right.
    """
    for side in query.sides:
        check(schema, side, weight)
    if query.of == "contrast":
        from dpress.query.contrasts import check_apart  # noqa: PLC0415  # few ask for one

        check_apart(schema, query)
    if not isinstance(query.level, int | float) or not 0 < query.level < 1:
        raise ValueError(f"quantile: expected a level strictly between 0 and 1, got {query.level}")
    if query.of not in OF_NUMBERS or query.attribute == weight != "":
        return
    if query.attribute not in schema.names:
        raise ValueError(no_attribute(schema.names, query.attribute))
    column = schema.attribute(query.attribute)
    if column.numbers is None:
        kind = type(column).__name__.lower()
        raise ValueError(
            f"{query.of} of {column.name}: expected an integer or numeric attribute, {column.name} is {kind}; "
            f"ask for `share {column.name} = VALUE`"
        )


Estimate = tuple[float, float, Ends, Ends | None]  # value, standard error, interval, what cells leave open


def mean(group: Group, confidence: float) -> Estimate:
    """Return the mean of a group's numbers, each at the middle of its cell.

    Error: the ratio's; see `inference.ratio.fieller`. Were all rows at the lower, or at the upper ends of their cells
    the mean would be that of these ends: the interval runs from the lower end of the one's to the upper end of the
    other's, so that it misses the mean as seldom as two one-sided intervals do.
    """
    low, high = group.bounds
    centre, half = (low + high) / 2, (high - low) / 2 or 1.0
    critical = group.critical(confidence)

    def of(numbers: Array) -> Ratio:
        scaled = (numbers - centre) / half
        root = fieller(pair_of(lambda ratio: group.form(scaled - ratio)), critical, (2.0, 1.0))
        return Ratio(
            value=min(max(centre + half * root.value, low), high) if root.bounded else math.nan,
            standard_error=half * root.standard_error,
            interval=clipped((centre + half * root.interval[0], centre + half * root.interval[1]), group.bounds),
        )

    middle, lowest, highest = _at_ends(group, of)
    if not middle.bounded:
        return math.nan, math.nan, group.bounds, None
    ends = clipped((lowest.interval[0], highest.interval[1]), group.bounds)
    return middle.value, middle.standard_error, ends, (lowest.value, highest.value)


def total(group: Group, confidence: float) -> Estimate:
    """Return the sum of a group's numbers, each at the middle of its cell; its interval as that of `mean`.

    Error: that of a weighted sum of counts, exact; a step of the noise weighs no more than the largest number.
    """
    critical, step = group.critical(confidence), max(map(abs, group.bounds))
    middle, lowest, highest = _at_ends(group, group.form)
    low, high = lowest[0] - margin(lowest[1], critical, step), highest[0] + margin(highest[1], critical, step)
    within = min(lowest[0], highest[0]), max(lowest[0], highest[0])
    return middle[0], math.sqrt(middle[1]), (min(low, middle[0]), max(high, middle[0])), within


def quantile(group: Group, level: float, confidence: float) -> Estimate:
    """Return a quantile of a group's numbers: the middle of the cells that it is estimated in.

    Error: `inference.quantile.invert`; the interval is of whole cells. The standard error is half the length that the
    interval has beyond one cell's, over the critical value (Woodruff 1952).
    """
    low, high, borders = _at_most(group.low, group.high)
    everybody, variance = group.form(np.ones(group.low.size))
    critical = group.critical(confidence)
    has_variance = not math.isnan(variance)
    if everybody <= (margin(variance, critical, 1.0) if has_variance else 0.0):
        return math.nan, math.nan, group.bounds, None
    forms = [group.form(quantile_weights(border, level, group.low.size)) for border in borders]
    differences, variances = np.array(forms).T
    differences[-1] = max(differences[-1], (1 - level) * everybody)  # rounding, where the variance is 0
    step = max(level, 1 - level)
    quantiles = invert(differences, margin(variances, critical, step) if has_variance else np.zeros(differences.size))
    within = float(low[quantiles.estimate[0]]), float(high[quantiles.estimate[1]])
    value = (within[0] + within[1]) / 2
    if not has_variance:
        return value, math.nan, (math.nan, math.nan), within
    interval = float(low[quantiles.interval[0]]), float(high[quantiles.interval[1]])
    beyond = (interval[1] - interval[0]) - (within[1] - within[0])
    return value, beyond / (2 * critical), interval, within


def ratio(query: Query, compared: Compared, confidence: float) -> Estimate:
    """Return a share, or the ratio of two counts, not below 0; see `inference.ratio.fieller`."""
    bounds = (0.0, 1.0 if query.of == "share" else math.inf)
    root = fieller(compared.pair, compared.critical(confidence), (1.0, 1.0))
    value = min(max(root.value, bounds[0]), bounds[1]) if root.bounded else math.nan
    return value, root.standard_error, clipped(root.interval, bounds), None


def difference(compared: Compared, confidence: float) -> Estimate:
    """Return the difference of two counts, the interval rounded outwards to whole counts as a count's is."""
    pair = compared.pair
    value, variance = pair.first - pair.second, pair.variance(1.0)
    half = whole_counts(variance, compared.critical(confidence))
    return value, math.sqrt(variance), (value - half, value + half), None


def two_counts(query: Query) -> tuple[Condition, Condition]:
    """Return the conditions of numerator and denominator."""
    second = TOTAL if query.of == "share" else query.second
    return both(query.first, query.where), both(second, query.where)


def _at_ends(group: Group, of: Callable[[Array], T]) -> tuple[T, T, T]:
    """Return what numbers at the middle, the lower and the upper ends of the cells give."""
    middle = of((group.low + group.high) / 2)
    if np.array_equal(group.low, group.high):
        return middle, middle, middle
    return middle, of(group.low), of(group.high)


def _at_most(low: Array, high: Array) -> tuple[Array, Array, list[int]]:
    """Return the ends of at most `MOST_CELLS` cells, neighbours together, and the last cell of each."""
    last = np.unique(np.linspace(0, low.size, min(low.size, MOST_CELLS) + 1).astype(np.int64)[1:]) - 1
    first = np.concatenate([[0], last[:-1] + 1])
    return low[first], high[last], last.tolist()


def clipped(ends: Ends, bounds: Ends) -> Ends:
    """Return an interval within bounds, all of them where it lies outside; NaN as it is."""
    low, high = map(float, cut_ends(*ends, bounds))
    return low, high
