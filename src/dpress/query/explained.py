"""Why an answer has the error that it has: the tables that it comes from, beside its own error.

release, queries -> results and sources -> `Explanation`s, one for all groups that have the same.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dpress.query.published_tables import CONFIDENCE
from dpress.query.queries_by import groups
from dpress.query.query_tree import Query
from dpress.query.release import Release
from dpress.query.result import Result
from dpress.query.schema_queries import query_of
from dpress.query.sources import COUNTS, Source

CLOSE = 1e-6  # relative: as much
TWICE = 2.0
Errors = tuple[float, float]
MODELLED = "No published table holds these attributes together: the answer comes from what was fitted to all of them."
UNKNOWN = "No error is known of it; its note says why."
PUBLIC = "It is known without error: how many took part, or all that was asked, is no secret."
ALONE = "It is a single one, and this is its error."
SPREAD = "The noise of these is independent: the squares of their errors add up."


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why some answers err as they do.

    Args:
        name: of the query, or of a number of a statement.
        of: what the answers are: counts, means and so on.
        answers: how many groups have it.
        errors: the smallest and the largest of their standard errors; NaN where none is known.
        sources: the published tables that hold the attributes, first the one that gives the answers.
    """

    name: str
    of: str
    answers: int
    errors: Errors
    sources: tuple[Source, ...]

    @property
    def reason(self) -> str:
        """Why the error is what it is, in a sentence."""
        if not self.sources:
            return MODELLED
        source, (low, high) = self.sources[0], self.errors
        if math.isnan(high):
            return UNKNOWN
        if high == 0:
            return PUBLIC
        if source.independent:
            return _beside_independent(source, low / source.independent, high / source.independent)
        return self._of_sums(source)

    def _of_sums(self, source: Source) -> str:
        """Return what an answer is made of whose error no error of its parts adds up to."""
        if source.sums:
            return f"It follows from sums of these {source.unit}: {', '.join(source.sums)}; and so does its error."
        if self.of in COUNTS:
            return f"Only together are these {source.unit} known, as the listed queries add them up."
        return f"It follows from weighted sums of these {source.unit}, and so does its error."


def explanations(release: Release, text: str) -> tuple[Explanation, ...]:
    """Explain every answer to a query, such as `count by ward` or `mean age where sex = f`.

    Args:
        release: that was asked.
        text: the query.

    Raises:
        ValueError: see `Release.results`.
    """
    columns = release.answers.columns or release.schema.tabular
    pairs = (release.answers.terms(query) for _, query in groups(columns, query_of(release.schema, text)))
    queries = (query for terms in pairs for _, query in terms)
    return tuple(explanation(release, query, release.answered(query, CONFIDENCE), text) for query in queries)


def explanation(release: Release, query: Query, result: Result, name: str, factor: float = 1.0) -> Explanation:
    """Explain one answer.

    Args:
        release: that was asked.
        query: that it answered.
        result: the answer.
        name: of the query.
        factor: that the answer is multiplied by, and all errors with it.
    """
    error = abs(factor) * result.standard_error
    sources = tuple(_times(source, abs(factor)) for source in release.answers.sources(query))
    return Explanation(name=name, of=result.of, answers=1, errors=(error, error), sources=sources)


def together(each: Iterable[Explanation]) -> tuple[Explanation, ...]:
    """Return explanations, those of groups with the same name and sources as one."""
    merged: dict[tuple[str, tuple[Source, ...]], Explanation] = {}
    for explained in each:
        key = explained.name, tuple(map(_rounded, explained.sources))
        merged[key] = _joined(merged[key], explained) if key in merged else explained
    return tuple(merged.values())


def lines(explained: Explanation) -> Iterator[tuple[Source | None, Errors | None]]:
    """Yield the sources, the one that answers with the standard errors of the answers."""
    yield (explained.sources[0] if explained.sources else None), explained.errors
    yield from ((source, None) for source in explained.sources[1:])


def _joined(first: Explanation, second: Explanation) -> Explanation:
    low, high = zip(first.errors, second.errors, strict=True)
    return replace(first, answers=first.answers + second.answers, errors=(min(low), max(high)))


def _rounded(source: Source) -> Source:
    """Return a source whose errors are equal where they differ by rounding alone."""
    error, independent = (
        None if error is None else float(f"{error:.9g}") for error in (source.error, source.independent)
    )
    return replace(source, error=error, independent=independent)


def _times(source: Source, factor: float) -> Source:
    if factor == 1:
        return source
    error, independent = (None if error is None else factor * error for error in (source.error, source.independent))
    return replace(source, error=error, independent=independent)


def _beside_independent(source: Source, low: float, high: float) -> str:
    """Return what errors are beside those of independent cells, as multiples of these."""
    if max(abs(low - 1), abs(high - 1)) < CLOSE:
        return ALONE if source.parts == 1 else SPREAD
    if high < 1 + CLOSE:
        return (
            f"Errors cancel in part, as all that was measured is reconciled (least squares): {_percent(1 - low)} less "
            f"than of so many independent {source.unit}."
        )
    much = f"{high:.3g} times the error" if high > TWICE else f"{_percent(high - 1)} more than the error"
    return (
        f"It is {much} of so many independent {source.unit}: their errors depend on each other, or more than noise is "
        "counted in."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
