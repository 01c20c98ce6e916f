"""Answers about regions: tables of every level that add up, and any union of regions with its exact error.

noisy counts -> least squares over all levels and tables -> published tables; queries -> numbers with intervals.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.region_table import NoisyRegions
from dpress.inference.interval import critical
from dpress.inference.regions.cover import cover
from dpress.inference.regions.measured import Table
from dpress.inference.regions.spine_queries import Estimates, SpineQueries, table_of
from dpress.inference.regions.variances import cell_variances
from dpress.inference.suppression import display_of
from dpress.kinds.regions.drawn_regions import drawn_regions
from dpress.kinds.regions.level_files import file_stem
from dpress.kinds.regions.levels import level_names
from dpress.kinds.regions.region_counts import NOISY, NoisyCounts, RegionCounts, noisy_counts
from dpress.kinds.regions.region_errors import TableError, table_errors, wanted_tables
from dpress.kinds.regions.stored_tables import StoredFile, StoredTable
from dpress.kinds.regions.whole_counts import RECORDS, RegionRecords, whole_leaves
from dpress.mechanisms.linear.region_tables import RegionTables
from dpress.query import table_forms
from dpress.query.answering import Answering
from dpress.query.answers import KeptAnswers, Progress
from dpress.query.boxes import products
from dpress.query.product_answers import ProductAnswers
from dpress.query.published_tables import PublishedTable
from dpress.query.query_tree import Condition, Query
from dpress.query.record_source import RecordSource
from dpress.query.release import Release
from dpress.query.released_file import Part
from dpress.query.result import Result
from dpress.query.sources import Source, some_of, source
from dpress.query.table_files import NUMBERED, stem_of
from dpress.query.table_forms import ProductSums


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelTable:
    """A table that is published of every region of a level.

    Args:
        level: 0 for everything.
        table: its attributes, by their places beside the regions.
        file: its name.
        axes: the regions, but for everything, and the attributes.
    """

    level: int
    table: Table
    file: str
    axes: tuple[Tabular, ...]


@dataclass(frozen=True, kw_only=True)
class Answers(ProductAnswers):
    """Tables of regions, and unions of them."""

    @property
    def counts(self) -> RegionCounts:
        """What the release keeps."""
        counts: RegionCounts = self.release.detail
        return counts

    @property
    def queries(self) -> SpineQueries:
        """How queries are answered, and what their error is."""
        return self.mechanism.queries

    def count(self, condition: Condition, *, text: str, confidence: float, progress: Progress | None) -> Result:
        """Count the rows of a union of regions that fulfil conditions.

        Error: exact, `SpineQueries.variance`.

        Raises:
            ValueError: a test names no cells, or no table of these regions holds the attributes.
        """
        del progress
        boxes = products(self.release.schema, condition)
        return table_forms.source_of(self.answering, boxes, text).count(text, boxes, confidence)

    def sources(self, query: Query) -> tuple[Source, ...]:
        """Return the cells that a query adds up, of the widest regions that it names, from the tables of their levels.

        Raises:
            ValueError: see `count`.
        """
        variances, files = list[Array](), dict[str, tuple[str, ...]]()
        for weights in itertools.chain.from_iterable(products(self.release.schema, rows) for rows in query.rows):
            self._check(weights, query.text)
            weighed = tuple(axis for axis, cells in enumerate(weights[1:]) if not np.all(cells == 1))
            for level, (nodes, _) in cover(self.queries.measured.spine, weights[0]).items():
                each = self.level_table(level, weighed)
                cells = math.prod(np.count_nonzero(weights[1 + axis]) for axis in each.table)
                spread = cell_variances(self.queries.measured, each.table)[level][nodes]
                variances.append(np.repeat(spread, cells))
                files[each.file] = tuple(axis.name for axis in each.axes)
        names = next(iter(files.values()), ())
        return (source(", ".join(files), names, np.concatenate([np.zeros(0), *variances]), query),)

    def level_table(self, level: int, table: Table) -> LevelTable:
        """Return the first published table of a level that has the attributes of a table, by their places."""
        return next(each for each in self.level_tables if each.level == level and set(table) <= set(each.table))

    def answering(self, weights: list[Array], text: str, progress: Progress | None = None) -> ProductSums:
        """Return who answers queries about these attributes; see `ProductAnswers.answering`."""
        del progress
        self._check(weights, text)
        return ProductSums(form=self._form, critical=partial(critical, tail=self.release.tail), symmetric=True)

    def _check(self, weights: list[Array], text: str) -> None:
        """Refuse a query about attributes that no table of its regions holds together."""
        if not self.queries.together(weights):
            some = some_of([*self.tables.values()])
            raise ValueError(f"no published table of these regions answers {text!r}; the tables are {some}")

    def _form(self, weights: list[Array]) -> tuple[float, float]:
        return self.queries.answer(self.counts.estimates, weights), self.queries.variance(weights)

    def table(self, level: int, table: Table) -> Array:
        """Return a table of every node of a level, which its tables hold, shape (nodes, *kept sizes)."""
        return table_of(self.counts.estimates[level], table)

    @cached_property
    def errors(self) -> tuple[TableError, ...]:
        """The error of every table that was asked for, at every level where it is known."""
        return tuple(table_errors(self.queries, wanted_tables(self.release.workload)))

    @property
    def levels(self) -> tuple[str, ...]:
        """What the levels are called, everything first."""
        return level_names(self.release.schema.tabular[0])

    def axes(self, level: int, table: Table) -> tuple[Tabular, ...]:
        """Return the axes of a table of a level: its regions, called as the level, below everything; attributes."""
        place, *others = self.release.schema.tabular
        name = self.levels[level]
        regions = (msgspec.structs.replace(place, name=name, level=name),) if level else ()
        return (*regions, *(others[axis] for axis in table))

    @cached_property
    def level_tables(self) -> tuple[LevelTable, ...]:
        """What is published, coarse to fine."""
        listed = []
        for level, name in enumerate(self.levels):
            tables = self.queries.at(level)
            for number, table in enumerate(tables, 1):
                if axes := self.axes(level, table):
                    file = f"{self._stem(name, table, number) if len(tables) > 1 else file_stem(name)}.parquet"
                    listed.append(LevelTable(level=level, table=table, file=file, axes=axes))
        return tuple(listed)

    def _stem(self, level: str, table: Table, number: int) -> str:
        """Return what one of several tables of a level is called: the level, and the table's attributes."""
        if self.release.format <= NUMBERED:
            return f"{file_stem(level)}_{number}"
        return stem_of([level, *(self.release.schema.names[1 + axis] for axis in table)])

    def record_source(self, where: str) -> RecordSource | None:
        """Return what draws records of the finest regions, of whole numbers where there are any; None without a table.

        One that has all attributes, of every finest region.
        """
        depth, every = len(self.levels) - 1, tuple(range(len(self.release.schema.names) - 1))
        if every not in self.queries.at(depth):
            return None
        counts = self.counts.estimates if (whole := self.whole()) is None else whole
        return drawn_regions(self.release.schema, counts[depth][every].__getitem__, where)

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The level and the attributes of every table, by file name."""
        return {each.file: tuple(axis.name for axis in each.axes) for each in self.level_tables}

    @property
    def beside(self) -> Mapping[str, str]:
        """The noisy counts as they were drawn."""
        return {"noisy": NOISY} | ({"records": RECORDS} if self.mechanism.whole is not None else {})

    @property
    def described(self) -> Mapping[str, Any]:
        """Where the noisy counts are, and the records."""
        return self.beside

    @property
    def mechanism(self) -> RegionTables:
        """What measured."""
        return cast("RegionTables", self.release.mechanism)

    def whole(self, leaves: Numbers | None = None) -> Estimates | None:
        """Return whole numbers that add up, by level and table; None where the specification asks for none.

        Args:
            leaves: those of the leaves' cells, where they are known.
        """
        if self.mechanism.whole is None or self.counts.whole is not None:
            return self.counts.whole
        leaves = self._leaves if leaves is None else leaves
        levels = self.queries.measured.spine.up(leaves)
        every = tuple(range(leaves.ndim - 1))
        return [
            {table: whole.sum(axis=tuple(1 + axis for axis in every if axis not in table)) for table in tables}
            for whole, tables in zip(levels, map(self.queries.at, range(len(levels))), strict=True)
        ]

    @cached_property
    def _leaves(self) -> Numbers:
        return whole_leaves(self.mechanism, self.counts.estimates)

    def published(self) -> Iterator[PublishedTable]:
        """Yield the tables, coarse to fine, as estimates and variances of every cell; see `published_with`."""
        yield from self.published_with(self.whole())

    def published_with(self, whole: Estimates | None) -> Iterator[PublishedTable]:
        """Yield the tables with whole numbers beside the counts: biased, and without an error of their own."""
        for each in self.level_tables:
            count = self.counts.estimates[each.level][each.table][:]
            variances = cell_variances(self.queries.measured, each.table)[each.level]
            yield PublishedTable(
                name=each.file,
                axes=each.axes,
                count=count.ravel(),
                variance=np.repeat(variances, math.prod(count.shape[1:])),
                adjusted=None if whole is None else whole[each.level][each.table][:].ravel(),
                tail=self.release.tail,
            )

    def parts(self, *, progress: Progress | None) -> Iterator[Part]:
        """Yield the tables, the records where they were asked for, then the noisy counts."""
        if self.counts.files:
            yield from (*self.published(), *self.counts.files)
            return
        leaves = None
        if self.mechanism.whole is not None:
            leaves = whole_leaves(self.mechanism, self.counts.estimates, progress)
        yield from self.published_with(self.whole(leaves))
        if leaves is not None:
            yield RegionRecords(axes=self.release.schema.tabular, counts=leaves)
        yield NoisyCounts(levels=self.levels, names=self.release.schema.names[1:], counts=self.counts.noisy)

    def by_attributes(self) -> Iterator[tuple[tuple[str, ...], Part]]:
        """Yield every table with the names of its level and attributes."""
        for table in self.published():
            yield tuple(axis.name for axis in table.axes), table


def _with_everything(levels: Sequence[dict[Table, Any]]) -> None:
    """Add up the first level where nothing is tabled beside the regions: no file has that one number."""
    if {*levels[0]} <= {()}:
        levels[0][()] = np.array([np.sum(levels[1][()][:])])


def measured(mechanism: object, drawn: NoisyRegions, *_: object) -> KeptAnswers:
    """Return the noisy counts, and the tables that least squares makes of them."""
    queries = cast("RegionTables", mechanism).queries
    fitted = queries.estimates(drawn.levels)
    _with_everything(fitted)
    return KeptAnswers(answers=np.zeros(0, dtype=np.int64), detail=RegionCounts(estimates=fitted, noisy=drawn.levels))


def restored(release: Release, description: Mapping[str, Any], folder: Path) -> RegionCounts:
    """Return the tables of a folder: cells are read when they are asked for; of files that hide some, made again."""
    answers = Answers(release=release)
    files = [StoredFile(path=folder / name, digest=description["sha256"][name]) for name in answers.beside.values()]
    if display_of(release.design.release).rules:
        fitted = answers.queries.estimates(noisy_counts(answers.queries.measured, files[0]))
        _with_everything(fitted)
        return RegionCounts(estimates=fitted, files=files)
    levels: list[dict[Table, Any]] = [{} for _ in answers.levels]
    whole: list[dict[Table, Any]] = [{} for _ in answers.levels]
    for each in answers.level_tables:
        nodes = answers.queries.measured.spine.sizes[each.level]
        shape = (nodes, *(axis.size for axis in each.axes[1 if each.level else 0 :]))
        stored = partial(StoredTable, path=folder / each.file, digest=description["sha256"][each.file], shape=shape)
        levels[each.level][each.table] = stored(column="count")
        whole[each.level][each.table] = stored(column="adjusted")
    _with_everything(levels)
    if answers.mechanism.whole is not None:
        _with_everything(whole)
    return RegionCounts(estimates=levels, whole=whole if answers.mechanism.whole is not None else None, files=files)


ANSWERING = Answering(answers=Answers, measured=measured, restored=restored)
