"""The opening of a page of counts: how many there are, medians of numbers, and the largest groups.

facts -> what the release answers, with the exact error of differences -> `findings` -> sentences.
"""

import functools
import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.query.query_tree import Condition, Query
from dpress.query.release import Release
from dpress.reporting.differences import difference
from dpress.reporting.facts import Facts, facts
from dpress.reporting.findings import (
    CONFIDENCE,
    Estimate,
    Groups,
    largest_estimates,
    shares_sentence,
    total_sentence,
    value_sentence,
)
from dpress.reporting.headline import headline
from dpress.reporting.rounding import number

MOST_ATTRIBUTES = 3  # that sentences are about
MOST_GROUPS = 64
NAMED = 1 - (1 - CONFIDENCE) / (2 * MOST_ATTRIBUTES + 1)
"""Confidence of what names groups: the largest and the smallest of each attribute, and a difference between two."""
MOST_NUMBERS = 1 << 12  # cells of which there is a median


def opening(release: Release) -> tuple[str, ...]:
    """Return the sentences that the page of a release of counts opens with."""
    about = facts(release)
    return counted(about, headline(about))


def opened(facts: Facts, columns: Sequence[Tabular]) -> dict[str, Any]:
    """Return what a page of counts opens with, for its template: the sentences, and whether they may name a group.

    Args:
        facts: of the release.
        columns: the attributes that sentences may be about.
    """
    named = any(attribute.numbers is None for attribute in columns)
    return {"opening": counted(facts, columns), "named": named}


def counted(facts: Facts, columns: Sequence[Tabular]) -> tuple[str, ...]:
    """Return the sentences that the page of a release of counts opens with; none where it answers nothing of this.

    Error: with a chance of at most 5 % any sentence names a group wrongly: as the largest or the smallest of an
    attribute, or as one that differs from another, each with a seventh of that (`NAMED`). Where intervals are
    approximate, only how many there are.

    Args:
        facts: of the release.
        columns: the attributes that sentences may be about.
    """
    columns = () if facts.approximate else columns
    apart = difference(facts, columns, NAMED)
    return *_total(facts), *_about(facts, columns, ends=True), *((apart,) if apart else ())


def largest_groups(facts: Facts, columns: Sequence[Tabular]) -> tuple[str, ...]:
    """Return the medians and the largest groups of the first attributes, where the noise allows; error as `counted`."""
    return () if facts.approximate else tuple(_about(facts, columns, ends=False))


def _about(facts: Facts, columns: Sequence[Tabular], *, ends: bool) -> list[str]:
    """Return what is found of the first attributes of which anything is."""
    sentences = (sentence for attribute in columns if (sentence := _of_attribute(facts, attribute, ends=ends)))
    return [sentence for sentence, _ in zip(sentences, range(MOST_ATTRIBUTES), strict=False)]


def _total(facts: Facts) -> tuple[str, ...]:
    try:
        return (how_many(facts),)
    except ValueError:  # queries of one's own need not tell it
        return ()


def how_many(facts: Facts) -> str:
    """Return the sentence on how many there are, in all; of a collection how many reports count, which is no secret."""
    if facts.local:
        return f"{number(facts.mechanism.users)} {facts.counted}."
    return total_sentence(_estimate(facts, Query(of="count")), facts.counted)


def _of_attribute(facts: Facts, attribute: Tabular, *, ends: bool) -> str:
    """Return what is found of one attribute, its smallest group too with `ends`; empty where nothing answers."""
    subject = str(attribute.title or attribute.name)
    with suppress(ValueError):  # what no table of the release answers is left out
        if attribute.numbers is not None and attribute.size <= MOST_NUMBERS:
            median = _estimate(facts, Query(of="quantile", attribute=attribute.name))
            stated = math.isfinite(median.value) and math.isfinite(median.half)
            hidden = f"The noise hides the median of {subject}." if ends else ""
            return value_sentence(f"median of {subject}", median, str(attribute.unit or "")) if stated else hidden
        if attribute.numbers is None and attribute.size > 1:
            shares = _shares if attribute.size <= MOST_GROUPS else _most_of_many
            return shares(facts, attribute, subject, ends=ends)
    return ""


def _shares(facts: Facts, attribute: Tabular, subject: str, *, ends: bool) -> str:
    rows = [Condition(word="=", attribute=attribute.name, values=(label,)) for label in attribute.labels]

    @functools.cache
    def share(group: int, confidence: float) -> Estimate:
        return _estimate(facts, Query(of="share", first=rows[group]), 100.0, confidence)

    values = np.array([share(group, CONFIDENCE).value for group in range(attribute.size)])

    def exceeds(first: int, second: int, confidence: float) -> bool:
        query = Query(of="difference", first=rows[first], second=rows[second])
        return facts.answered(query, confidence).interval[0] > 0

    @functools.cache
    def inhabited(group: int, confidence: float) -> bool:
        return facts.answered(Query(of="count", first=rows[group]), confidence).interval[0] > 0

    groups = Groups(labels=attribute.captions, values=values, exceeds=exceeds)
    if np.isnan(values).any():
        return ""
    return shares_sentence(subject, groups, share, inhabited if ends else None, NAMED)


def _most_of_many(facts: Facts, attribute: Tabular, subject: str, *, ends: bool) -> str:
    """Return the largest estimates of an attribute with more groups than are compared; empty without `ends`."""
    alone = (view for view in facts.views if [axis.name for axis in view.axes] == [attribute.name])
    view = next(alone, None) if ends else None
    if view is None:
        return ""

    def share(group: int, confidence: float) -> Estimate:
        value = Condition(word="=", attribute=attribute.name, values=(attribute.labels[group],))
        return _estimate(facts, Query(of="share", first=value), 100.0, confidence)

    values = view.count if view.centre is None else view.centre  # what shares are made of, which are not adjusted
    groups = Groups(labels=attribute.captions, values=values, exceeds=lambda *_: False)
    return f"{largest_estimates(f'of the {number(attribute.size)} groups of {subject}', groups, share, '%')}."


def _estimate(facts: Facts, query: Query, scale: float = 1.0, confidence: float = CONFIDENCE) -> Estimate:
    result = facts.answered(query, confidence)
    low, high = (scale * end for end in result.interval)
    return Estimate(value=scale * result.value, ends=(low, high), error=scale * result.standard_error)
