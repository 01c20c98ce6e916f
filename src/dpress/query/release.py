"""A release: what is published, and answers with their error. What it answers is its kind's to say."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from dpress import catalog
from dpress.attributes.domain import Schema
from dpress.core.basics import claim_words, notebook
from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.linear import Numbers
from dpress.core.maps.workload import Areas, Workload
from dpress.core.methods.mechanism import Mechanism
from dpress.document.design import Design, as_plain, fingerprint
from dpress.inference.interval import Tail
from dpress.mechanisms.protocol.collection import Collection, as_collection
from dpress.query.answers import Progress, ReleaseAnswers
from dpress.query.designs import amounts, mechanism_of, with_users
from dpress.query.folder import write_folder
from dpress.query.hidden_answers import note_of
from dpress.query.kept_tables import kept_files, kept_tables
from dpress.query.keyed_tables import KeyedTables
from dpress.query.published_tables import CONFIDENCE
from dpress.query.queries_by import groups
from dpress.query.query_tree import Condition, Query
from dpress.query.released_file import Part
from dpress.query.result import Result
from dpress.query.schema_queries import conditions_of
from dpress.query.statistics import answer, check
from dpress.query.suppressed_rows import as_shown
from dpress.query.table_files import held

if TYPE_CHECKING:
    from dpress.query.sql.sql_table import SqlTable

FORMAT = 3


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class Release:
    """A finished release; everything in it may be published.

    Args:
        design: what was decided.
        kept: the integers that are written: noisy answers, or a collection's tallies.
        charged: the loss that was charged.
        private: False if a seeded generator drew the noise: then it protects nobody.
        created: UTC, ISO 8601.
        predicted: the error predicted for who took part, in the design's unit, or None; of a map its own answers'.
        ledger_head: the hash of the ledger's last entry after the charge, or None without a ledger.
        ledger: the hash of its first entry, which names it; None where an earlier version did not state it.
        rejected: how many reports of a collection were left out, by reason.
        csv: whether its folder has every table and the records as CSV, too.
        titles: whether these are written with titles in the place of names, and labels in that of values.
        with_asked: whether its folder has the tables that were asked for beside a larger one; older ones do not.
        format: of its folder; what its files are called, see `table_files`.
        detail: what its kind's answers need beside the kept integers.

    >>> import dpress, pyarrow as pa
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 10}
    >>> plain = {"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    >>> release = dpress.publish(dpress.load_spec(plain), pa.table({"age": [34] * 900}))
    >>> low, high = release["age in 30..39"].interval
    >>> 850 < low < high < 950
    True
    """

    design: Design
    kept: Numbers
    charged: Loss
    private: bool
    created: str
    predicted: float | None
    ledger_head: str | None = None
    ledger: str | None = None
    rejected: Mapping[str, int] = field(default_factory=dict)
    csv: bool = False
    titles: bool = False
    with_asked: bool = True
    format: int = FORMAT
    detail: Any = None

    def __repr__(self) -> str:
        names = (attribute.name for attribute in self.design.attributes)
        return f"Release({self.kind} of {', '.join(names)}; {self.method}; {claim_words.words(self.claim)})"

    def _repr_html_(self) -> str:
        answers, unit = self.answers, self.claim.unit
        promised = f"{claim_words.words(self.claim)} proven, per {unit.name}, {unit.relation}"
        lines = "".join(map(notebook.line, (promised, *answers.announced)))
        tables = [(file, held(file, names)) for file, names in {**answers.tables, **answers.asked}.items()]
        files = notebook.table(("file", "attributes"), tables) if tables else ""
        figure = notebook.bars(first.bars) if (first := next(iter(self.tables.values()), None)) is not None else ""
        return notebook.line(f"{self.kind}, by {self.method}", strong=True) + lines + files + figure

    @property
    def kind(self) -> str:
        """The kind, as its specification names it."""
        return str(self.design.release["kind"])

    @property
    def method(self) -> str:
        """The method that measured, or that devices answered by."""
        return self.design.method

    @property
    def schema(self) -> Schema:
        """The attributes whose cells were counted."""
        return self.design.schema

    @cached_property
    def mechanism(self) -> Mechanism:
        """What measured, with the number of users who took part in a collection."""
        return with_users(mechanism_of(self.design), self.kept)

    @property
    def collection(self) -> Collection | None:
        """What devices were asked, with the number of users who took part; None of a table."""
        return as_collection(self.mechanism)

    @cached_property
    def workload(self) -> Workload | Areas:
        """The queries that the predicted error is about."""
        return self.design.queries.workload(self.schema.shape)

    @cached_property
    def claim(self) -> Claim:
        """The promise of the mechanism that measured; nothing at all if the noise came from a seeded generator."""
        claim, basis = self.mechanism.claim, "the noise was drawn from a seeded generator for a test: not private"
        return claim if self.private else Claim(published=claim.published, proven=None, unit=claim.unit, basis=basis)

    @property
    def users(self) -> int | None:
        """How many users took part in a collection, which is public; None for a table, whose rows are estimated."""
        return None if self.collection is None else self.collection.users

    @property
    def reports(self) -> int:
        """How many users took part, of a collection.

        Raises:
            TypeError: it is of a table.
        """
        if self.users is None:
            raise TypeError("a table has no reports: how many rows it has is estimated")
        return self.users

    @property
    def tail(self) -> Tail:
        """The kind of noise."""
        return self.mechanism.tail

    @property
    def lower_bound(self) -> float:
        """The mean variance that no method of this kind goes below, for those who took part; 0 where none is known."""
        return self.design.prediction.lower_bound * self.scale

    @property
    def scale(self) -> float:
        """By how much the predicted errors of the plan differ for those who took part."""
        planned = self.design.prediction.error
        return self.predicted / planned if planned and self.predicted is not None else 1.0

    @cached_property
    def answers(self) -> ReleaseAnswers:
        """What its kind makes of it: estimates, tables, queries."""
        answers: ReleaseAnswers = catalog.room(self.design.kind).answering.answers(release=self)
        return answers

    @cached_property
    def tables(self) -> KeyedTables:
        """Every table, or the records, by the names of its attributes: `release.tables["age", "sex"].to_pandas()`."""
        return KeyedTables((names, self._counted(part)) for names, part in self.answers.by_attributes())

    def query(self, text: str, *, confidence: float = CONFIDENCE, progress: Progress | None = None) -> Result:
        """Answer a query such as `age in 30..40 and sex = Female`, or `mean age where sex = Female`.

        Where persons keep a bounded number of rows, the answer is about those rows, and its note says so.

        Error: that of the kind's answers; the standard error is exact wherever the note does not say otherwise.

        Args:
            text: the query.
            confidence: of the interval.
            progress: called with the number of fits done, where a fitted joint is fitted again for its error.

        Raises:
            ValueError: the text is no query on these attributes, or nothing answers it.
        """
        query = self.answers.read(self.schema, text)
        if query.by or len(self.answers.terms(query)) > 1:
            what = "group" if query.by else "coefficient"
            raise ValueError(f"{text!r} has an answer for every {what}; ask `release.results(...)` for all of them")
        return self.answered(query, confidence, text=text, progress=progress)

    def results(
        self, text: str, *, confidence: float = CONFIDENCE, progress: Progress | None = None
    ) -> tuple[Result, ...]:
        """Answer a query by attributes (`mean cost by ward`): of every group, or coefficient, in turn (`Result.group`).

        Error: of each answer by itself that of `query`; the interval of one holds with the confidence, not all at once.

        Args:
            text: the query; without `by` it has one answer.
            confidence: of every interval.
            progress: as of `query`.

        Raises:
            ValueError: as `query`, or there are too many groups.
        """
        pairs = groups(self.answers.columns or self.schema.tabular, self.answers.read(self.schema, text))
        return tuple(
            replace(self.answered(each, confidence, text=text, progress=progress), group=(*group, *term))
            for group, query in pairs
            for term, each in self.answers.terms(query)
        )

    def __getitem__(self, text: str) -> Result:
        """Answer a query with 95 % confidence: `release["age in 30..40"]`; see `query`."""
        return self.query(text)

    __iter__ = None  # it is no sequence

    def mean(self, attribute: str, *, where: str | None = None, confidence: float = CONFIDENCE) -> Result:
        """Return the mean of an integer or numeric attribute: of all rows with a number, or of those of a condition.

        A number counts as the middle of its cell; `Result.within` says what the cells' width leaves open, and the
        interval holds the mean wherever the numbers lie in them. Numbers outside the bounds count as clamped.
        Error: Fieller's interval from the exact variance of sum - r count; see `inference.ratio.fieller`.

        Args:
            attribute: the name.
            where: conditions as in `query`; left out, all rows.
            confidence: of the interval.

        Raises:
            ValueError: no such attribute, one without numbers, or conditions that nothing answers.
        """
        return self.answered(Query(of="mean", attribute=attribute, where=self._where(where)), confidence)

    def sum(self, attribute: str, *, where: str | None = None, confidence: float = CONFIDENCE) -> Result:
        """Return the sum of an attribute's numbers; as `mean`, its error that of a weighted sum of counts."""
        return self.answered(Query(of="sum", attribute=attribute, where=self._where(where)), confidence)

    def quantile(
        self, attribute: str, level: float, *, where: str | None = None, confidence: float = CONFIDENCE
    ) -> Result:
        """Return the smallest number that at least a share of the rows does not exceed.

        Error: cumulative counts, inverted; see `inference.quantile.invert`. The interval is of whole cells.

        Args:
            attribute: the name.
            level: the share, strictly between 0 and 1.
            where: conditions as in `query`; left out, all rows.
            confidence: of the interval.

        Raises:
            ValueError: as `mean`, or a level that is none.
        """
        query = Query(of="quantile", attribute=attribute, level=level, where=self._where(where))
        return self.answered(query, confidence)

    def median(self, attribute: str, *, where: str | None = None, confidence: float = CONFIDENCE) -> Result:
        """Return the quantile of level 1/2."""
        return self.quantile(attribute, 0.5, where=where, confidence=confidence)

    def share(self, conditions: str, *, where: str | None = None, confidence: float = CONFIDENCE) -> Result:
        """Return the share of the rows, or of those of a condition, that fulfil conditions; Fieller's interval."""
        return self.answered(Query(of="share", first=self._rows(conditions), where=self._where(where)), confidence)

    def ratio(self, first: str, second: str, *, confidence: float = CONFIDENCE) -> Result:
        """Return the ratio of two counts, each given by its conditions; Fieller's interval."""
        return self.answered(Query(of="ratio", first=self._rows(first), second=self._rows(second)), confidence)

    def difference(self, first: str, second: str, *, confidence: float = CONFIDENCE) -> Result:
        """Return a count less another one, with the exact variance of that."""
        return self.answered(Query(of="difference", first=self._rows(first), second=self._rows(second)), confidence)

    def _where(self, text: str | None) -> Condition | None:
        return None if text is None else self._rows(text)

    def _rows(self, text: str) -> Condition:
        return conditions_of(self.schema, text)

    def answered(
        self, query: Query, confidence: float = CONFIDENCE, *, text: str = "", progress: Progress | None = None
    ) -> Result:
        """Answer a query that was read; without a text it is named by its own. See `query`."""
        check(self.schema, query, self.answers.weighted)
        return self._noted(query, answer(query, self.answers, confidence, text=text or query.text, progress=progress))

    def sql(self, statement: str, *, confidence: float = CONFIDENCE) -> "SqlTable":
        """Answer a statement of SQL over the release as one table, which may have any name; nothing is charged.

        Error: of every number that of `query`. Groups are those that the specification lists, also where nobody is.

        Args:
            statement: `select` with `where`, `group by`, `having`, `order by` and `limit`; the reference has the rest.
            confidence: of every interval.

        Raises:
            SqlRefusal: it cannot be read, or is of a form that has no answer.
            ValueError: nothing in the release answers it.
        """
        from dpress.query.sql.answer import answers  # noqa: PLC0415  # sqlglot takes a while to import

        table, *others = answers(self, statement, confidence)
        if others:
            raise ValueError(f"{1 + len(others)} statements; give them one at a time")
        return table

    def _noted(self, query: Query, result: Result) -> Result:
        """Return an answer that says which rows it is about, where not all, and whether tables hide such a number."""
        rows = claim_words.chosen_rows(self.design.where, self.claim.unit.counted, self.design.whom)
        notes = (result.note, *rows, note_of(self.design.release, query, result, self.answers))
        return replace(result, note=" ".join(filter(None, notes)) or None)

    def _counted(self, part: Part) -> Part:
        """Return a file of counts with which rows they are of, and without what is hidden; any other as it is."""
        shown = part.name in {*self.answers.tables, *self.answers.asked}
        return as_shown(part, self.claim.unit.counted, self.design.release) if shown else part

    @property
    def files(self) -> tuple[str, ...]:
        """The files of tables, records and trees in its folder, without their copies as CSV."""
        beside = (file for name, file in self.answers.beside.items() if name in self.answers.described)
        return (*self.answers.tables, *self.answers.asked, *beside, *kept_files(self.design.attributes))

    def manifest(self) -> dict[str, Any]:
        """Return the release's description as plain objects, without the tables."""
        from importlib.metadata import version  # noqa: PLC0415  # brings email; only writing needs it

        return {"dpress": version("dpress"), **self.described()}

    def described(self) -> dict[str, Any]:
        """Return the description but for the version that wrote it."""
        answers, claim, design = self.answers, self.claim, as_plain(self.design)
        return {
            "format": self.format,
            "created": self.created,
            "private": self.private,
            "method": self.method,
            "claim": {
                **claim_words.figures(claim),
                "relation": claim.unit.relation.value,
                "unit": [*claim.unit.columns] if claim.unit.also else claim.unit.name,
                "rows_per_unit": claim.unit.rows,
                "basis": claim.basis,
            },
            "charged": amounts(self.charged),
            "ledger_head": self.ledger_head,
            **({"ledger": self.ledger} if self.ledger is not None else {}),
            "error": self._error(),
            **({"users": self.users, "rejected": dict(self.rejected)} if self.design.local else {}),
            "tables": {name: [*names] for name, names in answers.tables.items()},
            **({"asked": {name: [*names] for name, names in answers.asked.items()}} if answers.asked else {}),
            **answers.described,
            "design_id": self.design.id,
            "design_hash": fingerprint(design),
            "design": design,
        }

    def _error(self) -> dict[str, Any]:
        predicted = self.predicted if self.predicted is not None and math.isfinite(self.predicted) else None
        return {"predicted": predicted, "lower_bound": self.lower_bound, "unit": self.design.prediction.unit}

    def write(self, path: str | Path, *, progress: Progress | None = None, refitted: Progress | None = None) -> Path:
        """Write the release to a new folder, whole or not at all, and return it.

        Args:
            path: the folder.
            progress: called with the number of cells written so far.
            refitted: called with the number of fits done, where a joint is fitted again for its error.

        Raises:
            OSError: the folder exists, or the disk is full; nothing is left behind.
        """
        tables = map(self._counted, self.answers.parts(progress=refitted))
        parts = itertools.chain(tables, kept_tables(self.design.attributes))
        sheets = self.sheets if self.csv else None
        titles = (self.answers.columns or self.schema.tabular) if self.titles else ()
        return write_folder(path, self.manifest(), self.kept, parts, sheets=sheets, titles=titles, progress=progress)

    @property
    def sheets(self) -> dict[str, Part]:
        """What stands in the copy of a file as CSV where that is not the same rows, by the name of the file."""
        return {name: self._counted(sheet) for name, sheet in self.answers.sheets.items()}


def with_typical(release: Release) -> Release:
    """Return a release with the error that its own answers show, where its kind tells that instead of a prediction."""
    typical = catalog.room(release.design.kind).answering.typical
    return release if typical is None else replace(release, predicted=typical(release))
