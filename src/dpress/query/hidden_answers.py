"""The answers to a query that a design's tables hide: they are given, with a note.

design, query, result -> the same rules as of a table's rows -> the note.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.suppression import Display, display_of, noise_and_sampling
from dpress.query.published_tables import CONFIDENCE
from dpress.query.query_tree import TOTAL, Query
from dpress.query.result import Result
from dpress.query.statistics import answer
from dpress.query.suppressed_rows import COUNT

if TYPE_CHECKING:
    from dpress.query.answers import ReleaseAnswers

COMPARED = ("contrast", "difference")  # answers that no table has


def note_of(release: Mapping[str, Any], query: Query, result: Result, of_tables: "ReleaseAnswers") -> str:
    """Return the note on an answer such as the tables of a design hide; empty on any other. See `hides`."""
    return display_of(release).note if hides(release, query, result, of_tables) else ""


def hides(release: Mapping[str, Any], query: Query, result: Result, of_tables: "ReleaseAnswers") -> bool:
    """Return whether the tables of a design hide a number such as an answer.

    Args:
        release: what the design has under `release`.
        query: that was answered.
        result: its answer.
        of_tables: the answers of the release.
    """
    display = display_of(release)
    if not display.rules or result.of in COMPARED:
        return False
    judged = result if result.confidence == CONFIDENCE else answer(query, of_tables, CONFIDENCE, text=result.query)
    numbers = np.array([[judged.value], [judged.standard_error], *np.array([judged.interval]).T])
    sampling = population = None
    if judged.sampling is not None and judged.population is not None:
        sampling, (low, high) = np.array([judged.sampling]), np.array([judged.population]).T
        population = low, high
    error, ends = noise_and_sampling(numbers[1], (numbers[2], numbers[3]), sampling, population)
    counts = numbers[0] if result.of == COUNT else _count_behind(display, query, of_tables)
    hidden = display.hidden(numbers[0], error, ends, counts, signed=result.of == "relation")
    return bool(hidden[0])


def _count_behind(display: Display, query: Query, of_tables: "ReleaseAnswers") -> Array | None:
    """Return how many rows a statistic is of, where that decides; None where it is not answered."""
    if all(rule.measure != COUNT for rule in display.rules):
        return None
    try:
        counted = Query(of="count", first=query.where or TOTAL)
        return np.array([answer(counted, of_tables, CONFIDENCE, text=counted.text).value])
    except ValueError:
        return None
