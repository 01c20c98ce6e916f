"""The answers of a release, as every kind gives them: what `Answering.answers` of its `answers.py` makes.

release -> `ReleaseAnswers` -> results, tables, files.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Numbers
from dpress.query.cell_table import CellTable
from dpress.query.linear_forms import UNKNOWN, Compared, Group, Linear, linear_of
from dpress.query.published_tables import PublishedTable
from dpress.query.query_tree import Condition, Query
from dpress.query.released_file import Part
from dpress.query.result import Result
from dpress.query.schema_queries import query_of
from dpress.query.sources import Source, of_tables

if TYPE_CHECKING:
    from dpress.inference.joint.factors import Joint
    from dpress.inference.sampling_variance import SamplingVariance
    from dpress.query.record_source import RecordSource
    from dpress.query.table_answers import TableAnswers

Progress = Callable[[int], object]
Sides = tuple[Query, Query]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswers:
    """What a release keeps.

    Args:
        answers: the integers that are written.
        detail: what the room's answers need beside them; None where nothing is.
    """

    answers: Numbers
    detail: Any = None


class ReleaseAnswers(Protocol):
    """The answers of one release: a base of those of every kind, which states what it has beyond published tables."""

    __slots__ = ()
    undrawn: ClassVar[str] = "no joint distribution of all its attributes"
    """What a release has, and what not, of which no records can be drawn."""

    def count(self, condition: Condition, *, text: str, confidence: float, progress: Progress | None) -> Result:
        """Count the rows that fulfil a condition.

        Args:
            condition: of the rows.
            text: as it was asked.
            confidence: of the interval.
            progress: called with the number of fits done, where a fitted joint is fitted again.

        Raises:
            ValueError: a test names no cells, or nothing answers it.
        """
        ...

    @property
    def weighted(self) -> str:
        """The attribute that rows are weighted by; empty where they are not."""
        return ""

    def read(self, schema: Schema, text: str) -> Query:
        """Return what a text asks for; see `schema_queries.query_of`.

        Raises:
            ValueError: it cannot be read; the message says what would be right.
        """
        return query_of(schema, text)

    def terms(self, query: Query) -> "Sequence[tuple[tuple[tuple[str, str], ...], Query]]":
        """Return the queries that one asks together, each with what tells it apart: itself alone, but of regressions.

        Raises:
            ValueError: there is no such regression.
        """
        return (((), query),)

    def statistic(self, query: Query, text: str, confidence: float) -> Result | None:
        """Answer a statistic that was measured for itself; None for what follows from counts.

        Raises:
            ValueError: it was not measured.
        """
        del query, text, confidence
        return None

    def group(self, attribute: str, where: Condition | None, progress: Progress | None = None) -> Group:
        """Return weighted sums of one attribute's cells among the rows that fulfil conditions.

        Args:
            attribute: whose cells.
            where: the conditions; None for all rows.
            progress: called with the number of fits done, where a fitted joint is fitted again.

        Raises:
            ValueError: the conditions are none, leave no number, or nothing answers them.
        """
        del where, progress
        raise ValueError(f"{attribute}: this kind of release answers no means, sums or quantiles of counted cells")

    def compared(self, first: Condition, second: Condition, progress: Progress | None = None) -> Compared:
        """Return two counts with their errors.

        Raises:
            ValueError: one is no query for a count, or nothing answers it.
        """
        del first, second, progress
        raise ValueError("this kind of release answers no shares, ratios or differences of counts")

    def cell_table(self, names: Sequence[str], progress: Progress | None = None) -> CellTable:
        """Return the counts of all combinations of some attributes' cells.

        Raises:
            ValueError: no table holds them together, or how its errors depend on each other is not known.
        """
        del progress
        raise ValueError(f"this kind of release has no table of cells of {', '.join(names)} together")

    def correlation(self, sides: Sides, results: "tuple[Result, Result]") -> tuple[float | None, tuple[str, ...]]:
        """Return the correlation of the noise of two means or shares of different rows, or of two sums of the same.

        Beside it, what is to be known of it; None where nothing tells it, and the longest interval is taken.

        Args:
            sides: their queries.
            results: their answers.
        """
        del sides, results
        return None, (UNKNOWN,)

    def sampling(self, sides: Sides, results: "tuple[Result, Result]") -> "SamplingVariance | None":
        """Return the variance that the difference of means or shares, or the quotient of sums, has as that of a sample.

        None where nothing tells it.
        """
        del sides, results
        return None

    def linear(self, queries: Sequence[Query]) -> Linear:
        """Return numbers that are linear in the rows, with the exact covariance of their errors.

        Args:
            queries: counts, or sums that were measured for themselves.

        Raises:
            ValueError: one is neither, has no answer, or how the errors depend on each other is not known.
        """
        return linear_of(self.compared, queries)

    def sources(self, query: Query) -> tuple[Source, ...]:
        """Return the published tables that an answer may come from, first the one that gives it; none of a model."""
        return of_tables(((table.name, table.axes, table.variance) for table in self.published()), query)

    @property
    def by_tables(self) -> "TableAnswers | None":
        """The same where it adds up cells of tables, so that counts of several releases add up."""
        return None

    @property
    def approximate(self) -> bool:
        """Whether errors leave out what a selection does, so that intervals may hold less often than they say."""
        return False

    @property
    def fitted(self) -> "Joint | None":
        """The joint distribution that was fitted; None where none was."""
        return None

    def record_source(self, where: str) -> "RecordSource | None":
        """Return what draws records that fulfil a condition; None where a joint of the tables is to be made for it.

        Args:
            where: the condition; empty for all records.

        Raises:
            NotSupported: this release publishes too much to draw from, or too little.
            ValueError: the condition cannot be read, or holds of nothing that is published.
        """
        del where
        return None

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The attributes of every published table, by file name."""
        ...

    @property
    def columns(self) -> tuple[Tabular, ...]:
        """The attributes with the cells that queries are grouped by; none where they are the schema's."""
        return ()

    @property
    def asked(self) -> Mapping[str, tuple[str, ...]]:
        """The attributes of every table that was asked for and follows from the published ones, by file name."""
        return {}

    def published(self) -> Iterator[Any]:
        """Yield what is published: tables, or the records."""
        ...

    def asked_tables(self) -> Iterator[PublishedTable]:
        """Yield the tables of `asked`."""
        return iter(())

    @property
    def sheets(self) -> Mapping[str, Part]:
        """What stands in the copy of a file as CSV where that is not the same rows, by the name of the file."""
        return {}

    @property
    def beside(self) -> Mapping[str, str]:
        """The files beside the tables, by the field of the description that a release has them by."""
        return {}

    @property
    def described(self) -> Mapping[str, Any]:
        """What the description of the release says of this kind alone."""
        ...

    @property
    def measured(self) -> tuple[str, ...]:
        """The queries that were measured for themselves, where no counts are published."""
        return ()

    @property
    def announced(self) -> tuple[str, ...]:
        """Lines about files beside the tables, and about errors that are approximate."""
        return ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is to be known of that, and what the release has beyond it, a sentence each."""
        return ()

    def overview(self, cells: int) -> Iterator[PublishedTable]:
        """Yield what is looked at while reports arrive, tables of at most so many cells; where devices are asked."""
        del cells
        return iter(())

    def by_attributes(self) -> Iterator[tuple[tuple[str, ...], Part]]:
        """Yield every table, or the records, with the names of its attributes."""
        ...

    def parts(self, *, progress: Progress | None) -> Iterator[Part]:
        """Yield the files that are written, one after the other."""
        ...
