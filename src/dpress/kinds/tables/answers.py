"""Answers of a release of tables: a histogram or several marginals, from a table or from devices.

Where one larger table was cheaper to publish, every table that was asked for stands beside it, as its sums.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dpress.core.maps.linear import Array
from dpress.query.adjusted_files import adjusted_counts
from dpress.query.answering import Answering
from dpress.query.published_tables import PublishedTable
from dpress.query.sums_of_tables import summed
from dpress.query.table_answers import TableAnswers
from dpress.query.table_files import NUMBERED, table_files
from dpress.release.plan.linear_error import predicted


@dataclass(frozen=True, kw_only=True)
class Answers(TableAnswers):
    """Published tables, and those that were asked for."""

    @property
    def published_counts(self) -> tuple[Array, ...] | None:
        """The adjusted counts of a release that was read; see `query.adjusted_files`."""
        counts: tuple[Array, ...] | None = self.release.detail
        return counts

    @property
    def sums(self) -> dict[str, tuple[int, ...]]:
        """The axes of every table that was asked for and is only published as sums of a larger one, by file name."""
        tables, workload = self.decoder.tables, self.release.workload
        if tables == workload.tables or len(tables) != 1:
            return {}
        (whole,) = self._named
        named = [tuple(self.release.schema.names[axis] for axis in axes) for axes in workload.tables]
        if self.release.format <= NUMBERED:
            return dict(zip(table_files(self.release.format, named, "asked"), workload.tables, strict=True))
        beside = dict.fromkeys([whole, *named])  # each once, the published one first
        files = dict(zip(beside, table_files(self.release.format, beside), strict=True))
        return {files[names]: axes for names, axes in zip(named, workload.tables, strict=True)}

    @property
    def asked(self) -> Mapping[str, tuple[str, ...]]:
        """The attributes of every table that was asked for, by file name; nothing where those are the published."""
        names = self.release.schema.names
        written = self.sums if self.release.with_asked else {}
        published = self.table_files
        return {file: tuple(names[axis] for axis in axes) for file, axes in written.items() if file not in published}

    def asked_tables(self) -> Iterator[PublishedTable]:
        """Yield the tables that were asked for, each as the sums of the published one."""
        if not self.sums:
            return
        (whole,) = self.published()
        spread = self.measurement.variance
        for name, axes in self.sums.items():
            yield summed(whole, axes, name, lambda weights: self.decoder.query_variance(spread, weights))


ANSWERING = Answering(answers=Answers, predicted=predicted, restored=adjusted_counts)
