"""What was found, in sentences that say no more than the noise allows: numbers with their errors -> sentences."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING

import numpy as np

from dpress.core.maps.linear import Array
from dpress.reporting.rounding import interval, listed, number, unit_for

CONFIDENCE = 0.95
"""That no sentence of a page names a group that is not the largest; and that of every interval by itself."""
ENDS = 8  # groups at either end, of which two are told apart where no extreme one is
MOST_NAMED = 3  # estimates that are named where none is significantly the largest
TENTH = 0.1  # of a percent, finer than which no share is told


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with the ends of its 95 % interval, and its standard error, where that rounds it elsewhere on a page."""

    value: float
    ends: tuple[float, float]
    error: float | None = None

    @property
    def half(self) -> float:
        """How far the interval reaches, to the side where it reaches further."""
        return max(self.value - self.ends[0], self.ends[1] - self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Numbers of groups that are compared.

    Args:
        labels: what each is called.
        values: the estimates, shape (groups,).
        exceeds: whether the true number of a group is above that of another one, by their places; wrong with a chance
            of at most 1 - confidence where it is not.
    """

    labels: Sequence[str]
    values: Array
    exceeds: Callable[[int, int, float], bool]


def largest(groups: Groups, confidence: float = CONFIDENCE) -> int | None:
    """Return the group that is significantly larger than every other one; None where none is.

    Error: a group is named that is not larger than every other one with a chance of at most 1 - confidence, whatever
    is true. For each of k groups take another one that is not smaller, where there is one: a wrong name is one of at
    most k wrong comparisons, each with a chance of at most (1 - confidence) / k (Bonferroni).

    >>> largest(Groups(labels="ab", values=np.array([1.0, 4.0]), exceeds=lambda first, second, _: True))
    1
    """
    first, *others = np.argsort(-groups.values, kind="stable").tolist()
    each = 1 - (1 - confidence) / len(groups.labels)
    return first if others and all(groups.exceeds(first, other, each) for other in others) else None


def smallest(groups: Groups, inhabited: Callable[[int, float], bool], confidence: float = CONFIDENCE) -> int | None:
    """Return the group that is significantly smaller than every other one that is not empty; None without one.

    Error: a group is named that is empty, or not smaller than all others that are not, with a chance of at most
    1 - confidence: of the comparisons of all ordered pairs of k groups, and of each with nothing, which count
    depends on the noise, so that each of the k^2 has a chance of (1 - confidence) / k^2.

    Args:
        groups: that are compared.
        inhabited: whether the true number of a group is above nothing, wrong with a chance of at most 1 - confidence.
        confidence: that no group is named wrongly.

    >>> groups = Groups(labels="abc", values=np.array([1.0, 4.0, 0.1]), exceeds=lambda first, second, _: True)
    >>> smallest(groups, lambda group, _: group < 2)
    0
    """
    each = 1 - (1 - confidence) / len(groups.labels) ** 2
    above = [group for group in np.argsort(groups.values, kind="stable").tolist() if inhabited(group, each)]
    last, others = above[0] if above else None, above[1:]
    return last if last is not None and others and all(groups.exceeds(other, last, each) for other in others) else None


def apart(groups: Groups, confidence: float = CONFIDENCE) -> tuple[int, int] | None:
    """Return two groups, the first of which is significantly larger; of the `ENDS` largest and smallest those furthest.

    Error: as of `largest`, where all comparisons hold together.
    """
    order = np.argsort(-groups.values, kind="stable").tolist()
    pairs = [(first, second) for first in order[:ENDS] for second in order[-ENDS:] if first != second]
    pairs.sort(key=lambda pair: groups.values[pair[1]] - groups.values[pair[0]])
    each = 1 - (1 - confidence) / len(order)
    return next((pair for pair in pairs if groups.exceeds(*pair, each)), None)


def total_sentence(total: Estimate, noun: str) -> str:
    """Return how many there are, in all.

    >>> total_sentence(Estimate(value=52_513.0, ends=(50_513.0, 54_513.0)), "pick-ups")
    '52,500 pick-ups, give or take 2,000.'
    """
    give = f", give or take {number(math.ceil(total.half))}" if total.half >= 0.5 else ""
    return f"{number(total.value, max(1.0, unit_for(total.error or total.half / 2)))} {noun}{give}."


def change_sentence(change: Estimate, since: str, unit: str = "", less: str = "fewer") -> str:
    """Return by how much a number changed, as far as that is significant.

    >>> change_sentence(Estimate(value=-340.2, ends=(-460.0, -220.0)), "March")
    'That is 340 fewer than in March (220 to 460).'
    """
    if change.ends[0] <= 0 <= change.ends[1]:
        return f"The noise hides whether that is more or {less} than in {since}."
    by, ends = _size(change, unit)
    return f"That is {by} {'more' if change.value > 0 else less} than in {since}{ends}."


def trend_sentence(change: Estimate, periods: tuple[str, str], unit: str = "") -> str:
    """Return whether a number rises or falls from the first of two periods to the last, as far as that is significant.

    >>> trend_sentence(Estimate(value=340.2, ends=(220.0, 460.0)), ("March", "May"), "EUR")
    'From March to May it rises by 340 EUR (220 to 460).'
    """
    first, last = periods
    if change.ends[0] <= 0 <= change.ends[1]:
        return f"From {first} to {last} the noise hides whether it rises or falls."
    by, ends = _size(change, unit)
    return f"From {first} to {last} it {'rises' if change.value > 0 else 'falls'} by {by}{ends}."


def _size(change: Estimate, unit: str) -> tuple[str, str]:
    """Return the size of a significant change, and its interval with a space before it, empty where it is known."""
    low, high = sorted(map(abs, change.ends))
    by, mark, ends = amount(Estimate(value=abs(change.value), ends=(low, high)), unit).partition(" (")
    return by, mark + ends


def value_sentence(name: str, value: Estimate, unit: str) -> str:
    """Return what a statistic is.

    >>> value_sentence("median of Age", Estimate(value=37.0, ends=(36.0, 38.0)), "years")
    'The median of Age is 37 years (36 to 38).'
    """
    return f"The {name} is {amount(value, unit, error=value.error)}."


def amount(value: Estimate, unit: str = "", finest: float = 0.0, *, error: float | None = None) -> str:
    """Return a number with its unit and interval, in the digits that these warrant, or `error`; none below `finest`.

    >>> amount(Estimate(value=30_493.1, ends=(30_267.0, 30_719.2)), "EUR")
    '30,490 EUR (30,260 to 30,720)'
    >>> amount(Estimate(value=math.nan, ends=(0.0, 9.0)), "years")
    'not known'
    """
    if math.isnan(value.value):
        return "not known"
    whole = not any(number % 1 for number in (value.value, *value.ends))
    step = max(1.0 if whole else finest, unit_for(value.half if error is None or not math.isfinite(error) else error))
    around = f" ({interval(*value.ends, step)})" if value.half > 0 else ""
    return f"{number(value.value, step)}{' ' * bool(unit)}{unit}{around}"


def extremes_sentence(subject: str, groups: Groups, amounts: Sequence[str], confidence: float = CONFIDENCE) -> str:
    """Return where a statistic is highest and lowest, else two groups that differ; empty where none are.

    Args:
        subject: the statistic, as a sentence begins with it.
        groups: at least two; their comparisons hold together, so that all of this has one confidence.
        amounts: the value of every group, as text.
        confidence: that no group is named wrongly.
    """
    turned = Groups(
        labels=groups.labels,
        values=-groups.values,
        exceeds=lambda first, second, each: groups.exceeds(second, first, each),
    )
    places = {"highest": largest(groups, confidence), "lowest": largest(turned, confidence)}
    named = [f"{end} in {groups.labels[at]}, {amounts[at]}" for end, at in places.items() if at is not None]
    if named:
        return f"{subject} is {', and '.join(named)}."
    if (pair := apart(groups, confidence)) is None:
        return ""
    higher, lower = (f"in {groups.labels[at]}, {amounts[at]}" for at in pair)
    return f"{subject} is higher {higher}, than {lower}; the noise hides which group has the highest value."


def shares_sentence(
    subject: str,
    groups: Groups,
    share: Callable[[int, float], Estimate],
    inhabited: Callable[[int, float], bool] | None,
    confidence: float = CONFIDENCE,
) -> str:
    """Return the largest and the smallest group of an attribute with their shares; of two both, and which is larger.

    Where none is significantly the largest: the largest estimates, and how many groups are significantly inhabited;
    error as of `smallest`, whose comparisons with nothing hold together.

    Args:
        subject: the attribute.
        groups: its values.
        share: of a group, in percent, with its interval at a confidence.
        inhabited: as of `smallest`; None where only what is significantly the largest of several is named.
        confidence: of the largest, and once more of the smallest.
    """
    place = largest(groups, confidence)
    if len(groups.labels) > 2:
        return _ends_sentence(subject, groups, share, place, inhabited, confidence)
    shares = [share(group, CONFIDENCE) for group in range(len(groups.labels))]
    half = max(share.half for share in shares)
    step = max(TENTH, unit_for(half))
    order = np.argsort(-groups.values, kind="stable").tolist()
    both = " and ".join(f"{groups.labels[each]} {number(shares[each].value, step)} %" for each in order)
    larger = "the noise hides which is larger" if place is None else f"{groups.labels[place]} is the larger group"
    return f"{subject}: {both}, give or take {number(half, step, ROUND_CEILING)} points; {larger}."


def _ends_sentence(  # noqa: PLR0917  # what `shares_sentence` has
    subject: str,
    groups: Groups,
    share: Callable[[int, float], Estimate],
    first: int | None,
    inhabited: Callable[[int, float], bool] | None,
    confidence: float,
) -> str:
    def named(place: int) -> str:
        return f"{groups.labels[place]}: {amount(share(place, CONFIDENCE), '%', TENTH)}"

    last = None if inhabited is None else smallest(groups, inhabited, confidence)
    least = f"; the smallest that is told from an empty one is {named(last)}" if last is not None else ""
    if first is not None:
        return f"The largest group of {subject} is {named(first)}{least}."
    if inhabited is None:
        return ""
    many = len(groups.labels)
    above = sum(inhabited(group, 1 - (1 - confidence) / many**2) for group in range(many))
    inside = "none" if not above else f"all {many}" if above == many else f"{above} of {many}"
    hidden = f"the noise hides which group is the largest, and {inside} {'is' if above < 2 else 'are'}"
    return f"{largest_estimates(f'of {subject}', groups, share, '%')}; {hidden} told from an empty one{least}."


def largest_estimates(
    of: str, groups: Groups, value: Callable[[int, float], Estimate], unit: str, *, most: int = MOST_NAMED
) -> str:
    """Return the largest estimates, which need not be those of the largest groups, as a sentence without its end.

    Error: who picks the largest of many estimates picks those that err upwards; so these intervals are those that hold
    for all groups together (Bonferroni).

    Args:
        of: what they are of, empty or as it stands behind "estimates".
        groups: at least two.
        value: of a group, with its interval at a confidence.
        unit: of the values.
        most: that are named; never all of them.

    >>> groups = Groups(labels="abc", values=np.array([1.0, 4.0, 3.0]), exceeds=lambda first, second, _: False)
    >>> largest_estimates("", groups, lambda group, _: Estimate(value=9.0 - group, ends=(2.0, 12.0)), "people")
    'The largest estimates are b: 8 people (2 to 12) and c: 7 people (2 to 12)'
    """
    many = len(groups.labels)
    order = np.argsort(-groups.values, kind="stable").tolist()[: max(1, min(most, many - 1))]
    each = 1 - (1 - CONFIDENCE) / many
    named = [f"{groups.labels[place]}: {amount(value(place, each), unit, TENTH)}" for place in order]
    verb = "estimates {} are" if len(named) > 1 else "estimate {} is"
    return f"The largest {verb.format(of).replace('  ', ' ')} {listed(named)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareDifference:
    """The share of a value in a group less that in another one.

    Args:
        value: what is counted.
        groups: the one where its share is larger, then the other.
        shares: in both.
        half: how far the 95 % interval of the difference reaches to both sides.
    """

    value: str
    groups: tuple[str, str]
    shares: tuple[float, float]
    half: float


def difference_sentence(subject: str, among: str, change: ShareDifference) -> str:
    """Return where the share of a value is larger, and by how much.

    >>> change = ShareDifference(value="Women", groups=("North", "South"), shares=(0.5801, 0.4902), half=0.035)
    >>> difference_sentence("Sex", "Area", change)
    'Sex: the share of Women is larger where Area is North, 58 %, than where it is South, 49 %: by 9 points (5 to 13).'
    """
    step = max(TENTH, unit_for(100 * change.half))
    by, half = 100 * (change.shares[0] - change.shares[1]), 100 * change.half
    first, second = (
        f"{group}, {number(100 * share, step)} %" for group, share in zip(change.groups, change.shares, strict=True)
    )
    points = f"{number(by, step)} points ({interval(by - half, by + half, step)})"
    where = f"where {among} is {first}, than where it is {second}"
    return f"{subject}: the share of {change.value} is larger {where}: by {points}."
