"""A release of many periods: a folder of releases, one for each measured span, which answers for any of the periods.

folder -> specification, spans with their releases -> query -> the periods that it names -> spans that add up to them.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from dpress.core.basics import claim_words, notebook
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.core.maps import spans as counters
from dpress.core.maps.linear import Array
from dpress.inference.interval import Tail, half_width
from dpress.ledger.compose import DIVISION
from dpress.ledger.ledger import Ledger, verify
from dpress.query.boxes import product
from dpress.query.load import load_release
from dpress.query.published_tables import CONFIDENCE
from dpress.query.queries_by import groups
from dpress.query.query_tree import TOTAL, Condition, Query, both
from dpress.query.release import Release
from dpress.query.result import Result
from dpress.query.schema_queries import query_of
from dpress.query.table_answers import TableAnswers
from dpress.release.curator.ledger_heads import kept_heads
from dpress.release.periods.calendar import Calendar
from dpress.release.periods.series_folder import described, plain_of
from dpress.release.periods.single_period import single_period

Numbers = tuple[float, float]  # a count and its variance


@dataclass(frozen=True, kw_only=True)
class Series:
    """What was published so far.

    Args:
        folder: that holds a release for every span.
        calendar: of its specification.
        id: drawn when it was begun.
        ledger: that paid last, by the hash of its first line; None where none did, or an earlier version wrote.

    >>> import datetime, tempfile, dpress, pyarrow as pa
    >>> day = {"name": "day", "kind": "date", "bounds": ["2024-01-01", "2024-02-29"], "cells": "month"}
    >>> parts = {"privacy": {"epsilon": 1}, "periods": {"attribute": "day"}, "release": {"kind": "histogram"}}
    >>> spec, rows = dpress.load_spec({"attribute": [day], **parts}), pa.table({"day": [datetime.date(2024, 1, 9)]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     new = dpress.publish_period(spec, "2024-01", rows, out=f"{folder}/visits")
    ...     dpress.load_series(f"{folder}/visits").spans
    ((0, 0),)
    """

    folder: Path
    calendar: Calendar
    id: str
    ledger: str | None = None

    def __repr__(self) -> str:
        return f"Series({self.folder}: {len(self.periods)} of {len(self.calendar.names)} periods)"

    def _repr_html_(self) -> str:
        rows = [
            (self.calendar.folder(span), release.kind, release.method, claim_words.words(release.claim))
            for span, release in self.releases.items()
        ]
        return notebook.line(repr(self), strong=True) + notebook.table(("span", "kind", "method", "proven"), rows)

    @cached_property
    def spans(self) -> tuple[counters.Span, ...]:
        """The spans that are there, in the order in which they closed."""
        return tuple(span for span in self.calendar.spans if (self.folder / self.calendar.folder(span)).is_dir())

    @property
    def periods(self) -> tuple[str, ...]:
        """The names of the periods that are published whole, in order."""
        names, every = self.calendar.names, self.calendar.spans
        closed = [period for period in range(len(names)) if set(counters.closing(every, period)) <= set(self.spans)]
        return tuple(names[period] for period in closed if counters.closing(every, period))

    @property
    def alone(self) -> "tuple[Release | None, ...]":
        """The release of every published period alone; None where a running counter measures it within spans only."""
        places = map(self.calendar.place, self.periods)
        return tuple(self.releases.get((place, place)) for place in places)

    @property
    def unguarded(self) -> tuple[counters.Span, ...]:
        """The spans that no ledger paid for: nothing but their folders keeps their noise from being drawn again."""
        paid = {Path(place).parent.name for place in kept_heads(self.folder)}
        return tuple(span for span in self.spans if self.calendar.folder(span) not in paid)

    def part(self, span: counters.Span) -> str:
        """Return what a ledger calls the rows of a span; see decisions 50 and 69.

        Spans of a layer are disjoint, so that they compose in parallel; layers may overlap, and add up. Only spans of
        one series are known to be disjoint: another one may read dates in another way, or count other periods of a
        person, so its charges add up to these.
        """
        every, name = self.calendar.spans, self.calendar.folder(span)
        layer = f", layer {counters.layers(every)[span] + 1} of {counters.depth(every)}" if self.running else ""
        return f"{self._division}{layer}{DIVISION}{name}"

    @property
    def running(self) -> bool:
        """Whether spans of several periods are measured."""
        return self.calendar.counter != "separate"

    @property
    def _division(self) -> str:
        return f"{self.calendar.division}, series {self.id}"

    def paid(self, ledger: str | Path | Ledger | None) -> tuple[counters.Span, ...]:
        """Return the spans that a ledger was charged for, whether their folders are there or not.

        Raises:
            OSError, ValueError: it cannot be read.
        """
        if (account := Ledger.at(ledger)) is None:
            return ()
        parts = {entry.partition for entry in account.summary().entries}
        return tuple(span for span in self.calendar.spans if self.part(span) in parts)

    def check_ledger(self, ledger: str | Path | Ledger | None) -> None:
        """Refuse another ledger than the one that paid so far, and an older copy of it.

        Raises:
            ValueError: it did not pay, it has forgotten what it paid, or none is named where one did.
            OSError: there is no such ledger, or it cannot be read.
        """
        kept = kept_heads(self.folder)
        if ledger is None:
            if kept:
                raise ValueError(f"--ledger: a ledger paid for what {self.folder} holds; name it")
        elif self.spans and self.running and not kept:
            raise ValueError(
                f"--ledger: {self.folder} was begun without one, and a counter's spans share one loss; begin another "
                "series, or go on without"
            )
        elif kept:
            verify(ledger.path if isinstance(ledger, Ledger) else ledger, kept=kept)

    def check_next(self, period: int, paid: Collection[counters.Span] = ()) -> None:
        """Refuse a period that is there, or that is out of order.

        A person counts by the periods before, so that for persons none is drawn after a later one, lost or not;
        the last one that is lost may be drawn again. A row is in one period, whatever the order of draws.

        Args:
            period: that is to be added.
            paid: the spans that the ledger was charged for; a period whose noise is paid and lost may be left out.

        Raises:
            ValueError: it is.
        """
        names, there = self.calendar.names, self.periods
        if names[period] in there:
            raise ValueError(f"--period: {names[period]} is published already; noise is drawn once")
        drawn, persons = {*self.spans, *paid}, self.calendar.of_persons
        ends = [last + (names[last] in there) for _, last in drawn if persons or names[last] in there]
        earliest = following = max(ends, default=0)
        while following < period and drawn.issuperset(counters.closing(self.calendar.spans, following)):
            following += 1
        if period < earliest or (self.running and period > following):
            first = names[earliest] if earliest < len(names) else "none"
            order = f"periods are {'drawn in order, lost ones too' if persons else 'published in order'}"
            what = "the next one is" if self.running else f"{order}; the earliest that can follow is"
            raise ValueError(f"--period: {what} {first}, got {names[period]}")

    @cached_property
    def releases(self) -> Mapping[counters.Span, Release]:
        """The release of every span, checked as it is read.

        Raises:
            OSError, SchemaMismatch: see `load_release`; or a release is of another specification.
        """
        releases = {}
        for span in self.spans:
            release = load_release(self.folder / self.calendar.folder(span))
            if release.design.specification != json.loads(json.dumps(plain_of(self.calendar.of(span)))):
                raise SchemaMismatch(f"{self.folder / self.calendar.folder(span)} is not of this series' specification")
            releases[span] = release
        return releases

    def adds_up(self, text: str) -> bool:
        """Return whether a query is a count of tables, which is one of several periods, too, or compares periods."""
        query = query_of(self.calendar.spec.schema, text)
        compared = query.of == "difference" and self._dates(query)
        counted = all(release.answers.by_tables is not None for release in self.releases.values())
        return counted and (query.of == "count" or compared)

    def _dates(self, query: Query) -> bool:
        """Return whether the conditions of a query name periods."""
        name = self.calendar.dated.name
        conditions = (query.first, query.second, query.where or TOTAL)
        return any(test.attribute == name for condition in conditions for test in condition.tests)

    def by_period(self, text: str, *, confidence: float = CONFIDENCE) -> dict[str, Result]:
        """Answer a query of every published period by itself, by its name: `mean cost where ward = eyes`.

        Error: that of each period's release.

        Raises:
            ValueError: the query names periods, it is of groups, or no period answers it.
            NotSupported: a running counter measures other spans than periods.
        """
        self._check_separate(text)
        results = {}
        for span, release in self.releases.items():
            period = self.calendar.folder(span)
            results[period] = replace(release.query(text, confidence=confidence), query=f"{period}: {text}")
        if len({result.note for result in results.values()}) > 1:
            results = {name: result if result.note is None else replace(result, note=f"{name}: {result.note}")
                     for name, result in results.items()}  # fmt: skip
        return results

    def _check_separate(self, text: str) -> Query:
        """Return a query that every period answers by itself.

        Raises:
            ValueError, NotSupported: see `by_period`.
        """
        query = query_of(self.calendar.spec.schema, text)
        if self.running:
            raise NotSupported(f'{text!r} is known of separate periods, and counter = "{self.calendar.counter}"')
        if self._dates(query):
            instead = single_period(query, self.calendar.dated.name, str(self.folder))
            raise ValueError(f"{text!r}: every period answers by itself; {instead}")
        if not self.releases:
            raise ValueError(f"{text!r}: {self._published}")
        return query

    def query(self, text: str, *, confidence: float = CONFIDENCE, progress: object = None) -> Result:
        """Count what a condition names, over the periods that it names, or over all that are published.

        Error: sqrt(sum c^2 s^2), c how often each span counts (`core.maps.spans.coefficients`), s its standard error;
        the noise of spans is independent. Exact.

        Raises:
            ValueError: no such attribute or value, or periods that are not published, or of which nothing tells.
            NotSupported: the releases have no counts; each period answers for itself.
        """
        del progress  # nothing takes long
        query = query_of(self.calendar.spec.schema, text)
        if query.by or query.of not in ("count", "difference"):
            raise ValueError(f"{text!r} has an answer for every group or period; ask `series.results(...)` for all")
        return self._counted(query, text, confidence)

    def results(self, text: str, *, confidence: float = CONFIDENCE) -> tuple[Result, ...]:
        """Answer a query that has an answer for every group or period: `count by ward`, `mean cost by ward`.

        Counts are of the periods that the query names, or of all that are published, and `by` the periods of each.
        Anything else is answered of every published period by itself, which then is the first name of a group.

        Raises:
            ValueError, NotSupported: as `query` and `by_period`, or there are too many groups.
        """
        schema, dated = self.calendar.spec.schema, self.calendar.dated.name
        if not self.adds_up(text):
            return self._by_group(text, confidence)
        query = query_of(schema, text)
        pairs = groups(schema.tabular, query)
        if dated in query.by and not self._dates(query):
            pairs = ((group, each) for group, each in pairs if self._is_published(each))
        return tuple(replace(self._counted(each, text, confidence), group=group) for group, each in pairs)

    def _by_group(self, text: str, confidence: float) -> tuple[Result, ...]:
        """Return the answers of every published period, by the groups of a query."""
        query, dated, schema = self._check_separate(text), self.calendar.dated.name, self.calendar.spec.schema
        if not query.by:
            return (*self.by_period(text, confidence=confidence).values(),)
        pairs = [*groups(schema.tabular, replace(query, by=tuple(name for name in query.by if name != dated)))]
        return tuple(
            replace(release.answered(each, confidence, text=text), group=((dated, self.calendar.folder(span)), *group))
            for span, release in self.releases.items()
            for group, each in pairs
        )

    def _is_published(self, query: Query) -> bool:
        """Return whether all periods that a count is of are published."""
        weights = product(self.calendar.spec.schema, both(query.first, query.where))[self._axis]
        return not np.any(weights[: len(self.calendar.names)] * ~np.isin(self.calendar.names, self.periods))

    def _counted(self, query: Query, text: str, confidence: float) -> Result:
        wanted, local = self._weights(both(query.first, query.where), text)
        if query.of == "count":
            value, variance = self.added_up(wanted, local, text)
        else:
            value, variance = self._compared(
                (wanted, local), self._weights(both(query.second, query.where), text), text
            )
        half = half_width(variance, confidence, self.tail)
        result = Result.of_count(text, value, variance, half, confidence)
        return replace(result, of=query.of)

    def _weights(self, condition: Condition, text: str) -> tuple[Array, list[Array]]:
        """Return the weights of the periods, and those of every attribute's cells within a span."""
        weights = product(self.calendar.spec.schema, condition)
        local = [np.ones(1) if place == self._axis else factor for place, factor in enumerate(weights)]
        return self._wanted(weights[self._axis], text), local

    def _compared(self, first: tuple[Array, list[Array]], second: tuple[Array, list[Array]], text: str) -> Numbers:
        """Return the difference of two counts, and its variance: of the same groups, or of other, separate periods.

        Raises:
            NotSupported: how the noise of the two depends on each other is not known here.
        """
        (wanted, local), (other, beside) = first, second
        if all(map(np.array_equal, local, beside)):
            return self.added_up(wanted - other, local, text)
        if self.running or np.any(wanted * other):
            raise NotSupported(f"{text!r}: counts of different groups in the same periods; ask a period's own folder")
        (value, variance), (less, added) = self.added_up(wanted, local, text), self.added_up(other, beside, text)
        return value - less, variance + added

    def added_up(self, wanted: Array, local: list[Array], text: str = "") -> Numbers:
        """Return the count over some periods, and its variance.

        Args:
            wanted: the weight of every period.
            local: the weights of every attribute's cells within a span, which has one cell of time.
            text: that asks.

        Raises:
            ValueError: what is published does not add up to these periods.
            NotSupported: the releases have no counts.
        """
        share = counters.coefficients(self.spans, wanted)
        if share is None:
            raise ValueError(f"what is published does not add up to the periods of {text!r}")
        value = variance = 0.0
        for span, times in zip(self.spans, share.tolist(), strict=True):
            if abs(times) > counters.SOLVED:
                count, spread = self.span_count(span, local, text)
                value, variance = value + times * count, variance + times**2 * spread
        return value, variance

    def span_count(self, span: counters.Span, local: list[Array], text: str = "") -> Numbers:
        """Return the count of one span, and its variance; see `added_up`."""
        answers = self._answers(span, text)
        if not answers.together(local):
            raise ValueError(answers.unanswered(text))
        count = answers.answered(text, local, CONFIDENCE)
        return count.value, count.standard_error**2

    @property
    def tail(self) -> Tail:
        """How heavy the noise's tail is."""
        return self.releases[self.spans[-1]].tail

    @property
    def _axis(self) -> int:
        return self.calendar.spec.schema.axes([self.calendar.dated.name])[0]

    def _wanted(self, weights: Array, text: str) -> Array:
        """Return which periods are asked for: those named, or all that are published where none is."""
        there = np.isin(self.calendar.names, self.periods)
        named = weights[: len(there)]
        wanted = np.where(there, 1.0, 0.0) if np.all(weights == 1) else named
        if not wanted.any():
            raise ValueError(f"{text!r} names no period; {self._published}")
        if (missing := np.flatnonzero(wanted * ~there)).size:
            raise ValueError(f"{self.calendar.names[missing[0]]} is not published; {self._published}")
        return wanted

    @property
    def _published(self) -> str:
        there = self.periods
        return f"published are {len(there):,} from {there[0]} to {there[-1]}" if there else "none is published yet"

    def _answers(self, span: counters.Span, text: str) -> TableAnswers:
        """Return who answers counts of a span."""
        answers = self.releases[span].answers.by_tables
        if answers is None:
            raise NotSupported(f"only counts add up over periods; `by_period` has every one's own answer: {text!r}")
        return answers


def load_series(folder: str | Path) -> Series:
    """Read a series back.

    Raises:
        OSError: the folder holds none.
        SchemaMismatch: it was edited.

    >>> import datetime, tempfile, dpress, pyarrow as pa
    >>> day = {"name": "day", "kind": "date", "bounds": ["2024-01-01", "2024-02-29"], "cells": "month"}
    >>> parts = {"privacy": {"epsilon": 1}, "periods": {"attribute": "day"}, "release": {"kind": "histogram"}}
    >>> spec, rows = dpress.load_spec({"attribute": [day], **parts}), pa.table({"day": [datetime.date(2024, 1, 9)]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     new = dpress.publish_period(spec, "2024-01", rows, out=f"{folder}/visits")
    ...     load_series(f"{folder}/visits").periods
    ('2024-01',)
    """
    about = described(folder := Path(folder))
    return Series(folder=folder, calendar=Calendar(about.specification), id=about.id, ledger=about.ledger)
