"""The opening of a page of statistics: how many there are, the chief statistic, and the groups where it is extreme.

estimates of all groups, their intervals at any confidence -> `findings` -> sentences.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dpress.inference.group_moments import Estimates
from dpress.inference.interval import critical
from dpress.inference.suppression import noise_and_sampling
from dpress.kinds.statistics.group_answers import GroupAnswers
from dpress.kinds.statistics.group_results import COUNT, GroupResults
from dpress.kinds.statistics.units import in_sentence, in_units, valued, with_unit
from dpress.reporting.findings import (
    CONFIDENCE,
    Estimate,
    Groups,
    extremes_sentence,
    total_sentence,
)
from dpress.reporting.rounding import number
from dpress.reporting.statistic_titles import chief

ROUND = ("circular mean", "resultant length")  # on a circle nothing is highest
MOST_GROUPS = 1 << 12
FIFTH = 0.2  # of a group's size, within which its count must be known


def sentences(
    answers: GroupAnswers, each: GroupResults, whole: GroupResults, labels: Sequence[str], noun: str
) -> tuple[str, ...]:
    """Return the sentences that the page opens with.

    Error: with a chance of at most 5 % a group is named that is not the highest or the lowest: a group is named where
    its interval lies beyond those of all others, of which with that confidence all hold (Bonferroni over all groups,
    also those that are too small to be compared). With replicate weights intervals are of noise and sampling.

    Args:
        answers: of the release.
        each: the estimates of every group.
        whole: the estimates of all groups together.
        labels: of the groups.
        noun: what is counted.
    """
    name = chief(each.names)
    statistic = with_unit(name, answers.release.schema)
    parts = []
    if COUNT in whole.names and not np.isnan(whole.of(COUNT).value[0]):
        parts.append(total_sentence(_estimate(whole.of(COUNT), 0), noun))
    subject = f"The {statistic.name}"
    if name in whole.names and name != COUNT and not np.isnan([whole.of(name).value[0], whole.of(name).low[0]]).any():
        by = f" (weighted by {answers.weighted})" if answers.weighted else ""
        parts.append(_chief(_of_both(in_units(whole, name)), statistic.name + by, statistic.unit))
        subject = "It"
    if not 1 < len(labels) <= MOST_GROUPS or name in each.chosen or name.startswith(ROUND):
        return tuple(parts)
    return *parts, *_extremes(answers, name, subject, labels, statistic.unit)


def _chief(whole: Estimates, name: str, unit: str) -> str:
    """Return what the chief statistic is; where the noise exceeds all that is possible, that it tells nothing."""
    if whole.standard_error[0] <= whole.high[0] - whole.low[0]:
        return f"The {name} is {in_sentence(whole, 0, unit)}."
    possible = valued(f"{number(float(whole.low[0]))} to {number(float(whole.high[0]))}", unit)
    return f"The noise hides the {name}: it may be anything from {possible}."


def _of_both(statistic: Estimates) -> Estimates:
    """Return a statistic with the errors and intervals of noise and sampling, where these are stated."""
    ends = statistic.low, statistic.high
    error, (low, high) = noise_and_sampling(statistic.standard_error, ends, statistic.sampling, statistic.population)
    return replace(statistic, standard_error=error, low=low, high=high)


def _extremes(answers: GroupAnswers, name: str, subject: str, labels: Sequence[str], unit: str) -> tuple[str, ...]:
    """Return the sentence on the groups, those left out of which nothing is known."""

    @functools.cache
    def at(confidence: float) -> Estimates:
        return _of_both(in_units(GroupResults(sums=answers.estimates(None, confidence), chosen={}), name))

    hidden = f"The noise hides in which groups {subject[0].lower()}{subject[1:]} is higher than in others."
    estimates = at(CONFIDENCE)
    sure = ~np.isnan(estimates.value)
    places = np.flatnonzero(sure & _large(answers)).tolist()
    if len(places) < 2:
        return (hidden,) if sure.sum() > 1 else ()
    groups = Groups(
        labels=[labels[group] for group in places],
        values=estimates.value[places],
        exceeds=lambda first, second, confidence: bool(
            at(confidence).low[places[first]] > at(confidence).high[places[second]]
        ),
    )
    amounts = [in_sentence(estimates, group, unit) for group in places]
    if len(places) < len(labels):
        among = f"the {len(places)} of {len(labels)} groups whose size is known within a fifth"
        subject = f"Among {among}, {subject[0].lower()}{subject[1:]}"
    confidence = 1 - (1 - CONFIDENCE) * len(places) / len(labels)
    return (extremes_sentence(subject, groups, amounts, confidence) or hidden,)


def _large(answers: GroupAnswers) -> npt.NDArray[np.bool_]:
    """Return which groups' sizes are known within a fifth, shape (groups,): all where nothing was counted.

    Of a smaller one nearly nothing is known, so that it would hide what is known of all others.
    """
    sums = answers.groups().sums
    if sums is None or COUNT not in sums.names:
        return np.ones(answers.size, dtype=np.bool_)
    count, variance = sums.counts
    return count >= critical(CONFIDENCE, answers.release.tail) * np.sqrt(variance) / FIFTH


def _estimate(estimates: Estimates, group: int) -> Estimate:
    return Estimate(
        value=float(estimates.value[group]), ends=(float(estimates.low[group]), float(estimates.high[group]))
    )
