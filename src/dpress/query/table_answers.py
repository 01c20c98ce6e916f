"""ReleaseAnswers from tables of counts: what every kind has in common whose measurement a decoder turns into tables.

measurement -> estimates and variances of every cell -> published tables; queries -> numbers with intervals.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Decoder, MeasuringMechanism
from dpress.inference.interval import critical, half_width, possible
from dpress.inference.least_squares import LeastSquares, flat
from dpress.inference.postprocess import CONSISTENT, NAMES, adjust, answers, consistent, filled
from dpress.mechanisms.protocol.collection import method_of
from dpress.query import table_forms
from dpress.query.answers import Progress
from dpress.query.boxes import products
from dpress.query.decoded_cells import cells_of
from dpress.query.linear_forms import Compared, Group
from dpress.query.product_answers import ProductAnswers
from dpress.query.published_tables import CONFIDENCE, PublishedTable
from dpress.query.query_tree import Condition, Query
from dpress.query.release import Release
from dpress.query.released_file import Part
from dpress.query.result import Result
from dpress.query.sources import Source, Table, of_tables, some_of
from dpress.query.table_family import TableFamily
from dpress.query.table_files import table_files
from dpress.query.table_forms import ProductSums

APPROXIMATE = (
    "Reports cannot tell all values apart, and those that are likely were selected: counts are biased, and intervals "
    "approximate, as they know nothing of the selection."
)
UNBIASED = "From the unbiased counts."
MOST = 0.999
"""Confidence of the total, above which no count lies: a thousandth is as good as nothing beside other intervals."""


@dataclass(frozen=True, kw_only=True)
class TableAnswers(ProductAnswers):
    """Tables and queries of a release."""

    @property
    def by_tables(self) -> "TableAnswers":
        """These."""
        return self

    @cached_property
    def measurement(self) -> Measurement:
        """The noisy answers with their variance."""
        return measurement_of(self.release)

    @cached_property
    def decoder(self) -> Decoder:
        """How tables are estimated and queries answered."""
        mechanism: Any = self.release.mechanism
        decoder: Decoder = mechanism.decoder
        return decoder

    def count(self, condition: Condition, *, text: str, confidence: float, progress: Progress | None) -> Result:
        """Count the rows that fulfil a condition, from a published table; see `Release.query`.

        Where counts are adjusted so that they answer, the value is theirs, with the unbiased answer beside it, whose
        interval is cut to what is possible.
        """
        boxes = products(self.release.schema, condition)
        if len(boxes) > 1:
            source = table_forms.source_of(partial(self.answering, progress=progress), boxes, text)
            result = source.count(text, boxes, confidence)
        else:
            result = self.product(text, boxes[0], confidence, progress)
        return self._adjusted_result(result, boxes) if self.adjusted_answers else result

    def _adjusted_result(self, result: Result, boxes: Sequence[list[Array]]) -> Result:
        value = self.adjusted_sum(boxes)
        interval = possible(result.interval, value, self.most)
        return replace(result, value=value, unbiased=result.value, interval=interval)

    def adjusted_sum(self, boxes: Sequence[list[Array]]) -> float:
        """Return the sum of adjusted counts in disjoint boxes, of the smallest table that holds what they weigh."""
        tables, shape = self.decoder.tables, self.release.schema.shape
        used = {axis for weights in boxes for axis in _weighed(weights)}
        holding = [place for place, axes in enumerate(tables) if used <= set(axes)]
        place = min(holding, key=lambda place: math.prod(shape[axis] for axis in tables[place]))
        table = np.asarray(self._adjusted[place]).reshape([shape[axis] for axis in tables[place]])
        return math.fsum(_weighted(table, [weights[axis] for axis in tables[place]]) for weights in boxes)

    @property
    def adjusted_table(self) -> Array:
        """The adjusted counts of the only table, with an axis for each of its attributes."""
        (axes,), (counts,) = self.decoder.tables, self._adjusted
        return np.asarray(counts).reshape([self.release.schema.shape[axis] for axis in axes])

    @property
    def published_counts(self) -> tuple[Array, ...] | None:
        """The adjusted counts of a release that was read, where they answer; else None."""
        return None

    @property
    def adjusted_answers(self) -> bool:
        """Whether queries are answered by adjusted counts, of the only table or of tables that agree."""
        agree = len(self.decoder.tables) == 1 or CONSISTENT in self.postprocess
        return agree and answers(self.postprocess)

    @cached_property
    def most(self) -> float:
        """The most people that any count can hold: how many took part, or hardly more than are estimated."""
        if self.release.users is not None:
            return float(self.release.users)
        ones = [np.ones(size) for size in self.release.schema.shape]
        half = half_width(self.query_variance(ones), MOST, self.release.tail)
        return max(0.0, self.decoder.answer(self.measurement, ones) + half)

    def product(self, text: str, weights: list[Array], confidence: float, progress: Progress | None) -> Result:
        """Answer a product query."""
        del progress
        if not self.together(weights):
            raise ValueError(self.unanswered(text))
        return self.answered(text, weights, confidence)

    def answered(self, text: str, weights: list[Array], confidence: float) -> Result:
        """Return the answer that the decoder gives, with the exact error of the noise; how many took part is known."""
        if self.release.users is not None and not _weighed(weights):
            value, variance = float(self.release.users), 0.0
        else:
            value, variance = self.decoder.answer(self.measurement, weights), self.query_variance(weights)
        half = half_width(variance, confidence, self.release.tail)
        return Result.of_count(text, value, variance, half, confidence, APPROXIMATE if self.approximate else None)

    def query_variance(self, weights: list[Array]) -> float:
        """Return the variance of the answer to a query, in counts squared."""
        return self.decoder.query_variance(self.measurement.variance, weights)

    def answering(self, weights: list[Array], text: str, progress: Progress | None = None) -> ProductSums:
        """Return who answers queries about the attributes that one weighs, and their weighted sums."""
        del progress
        if not self.together(weights):
            raise ValueError(self.unanswered(text))
        return ProductSums(
            form=self._form,
            critical=lambda confidence: critical(confidence, self.release.tail),
            notes=(APPROXIMATE,) if self.approximate else (),
            symmetric=self.decoder.symmetric,
            cells=partial(cells_of, self),
        )

    def _form(self, weights: list[Array]) -> tuple[float, float]:
        """Return a weighted sum and its variance.

        How many took part in a collection is known: where one attribute is weighed, the mean weight counts everybody,
        and only what differs from it is estimated.
        """
        axes, constant = _weighed(weights), 0.0
        users = self.release.users
        if users is not None and not axes:
            return float(users), 0.0
        if users is not None and len(axes) == 1:
            (axis,), level = axes, float(weights[axes[0]].mean())
            weights, constant = [*weights[:axis], weights[axis] - level, *weights[axis + 1 :]], level * users
        if isinstance(self.decoder, LeastSquares):
            return float(flat(weights) @ self._cells) + constant, self.variance(weights)
        return self.decoder.answer(self.measurement, weights) + constant, self.variance(weights)

    @cached_property
    def _cells(self) -> Array:
        (cells,) = self.decoder.estimate(self.measurement)
        return cells

    @cached_property
    def variance(self) -> Callable[[list[Array]], float]:
        """What gives the variance of a weighted sum, in counts squared, for weights of any size and sign.

        A curator's is exact. A collection's estimator may know how its cells depend on one another. Where it does not,
        the variance V of `SeparateTables` holds for weights of one sign: of a sum of both signs the standard error is
        at most sqrt(V+) + sqrt(V-), and its square at most 2 (V+ + V-) = 2 V.
        """
        collection, decoder, spread = self.release.collection, self.decoder, self.measurement.variance
        if collection is None:
            return lambda weights: decoder.query_variance(spread, weights)
        variances = collection.estimator.query_variances(collection.tallies_in(self.release.kept))
        return variances or (lambda weights: 2 * decoder.query_variance(spread, weights))

    def group(self, attribute: str, where: Condition | None, progress: Progress | None = None) -> Group:
        """Return weighted sums of one attribute's cells, of unbiased counts; see `answers.ReleaseAnswers.group`."""
        group = super().group(attribute, where, progress)
        return replace(group, notes=(*group.notes, *self.of_unbiased))

    def compared(self, first: Condition, second: Condition, progress: Progress | None = None) -> Compared:
        """Return two counts with their errors, unbiased ones; see `answers.ReleaseAnswers.compared`."""
        compared = super().compared(first, second, progress)
        return replace(compared, notes=(*compared.notes, *self.of_unbiased))

    @property
    def of_unbiased(self) -> tuple[str, ...]:
        """That cells are the unbiased ones, where adjusted ones answer counts."""
        return (UNBIASED,) if self.adjusted_answers else ()

    def sources(self, query: Query) -> tuple[Source, ...]:
        """Return the published tables that hold the attributes of a query."""
        return of_tables(self._cell_errors, query)

    @cached_property
    def _cell_errors(self) -> tuple[Table, ...]:
        tabular, variances = self.release.schema.tabular, self.decoder.cell_variances(self.measurement.variance)
        return tuple(
            (file, tuple(tabular[axis] for axis in axes), variance)
            for file, axes, variance in zip(self.table_files, self.decoder.tables, variances, strict=True)
        )

    def together(self, weights: list[Array]) -> bool:
        """Return whether a published table holds the attributes that a query is about."""
        used = {axis for axis, weight in enumerate(weights) if not np.all(weight == 1)}
        return any(used <= set(axes) for axes in self.decoder.tables)

    def unanswered(self, text: str) -> str:
        """Return why no published table answers a query."""
        tables = [[self.release.schema.names[axis] for axis in axes] for axes in self.decoder.tables]
        return f"no published table answers {text!r}; the tables are {some_of(tables)}"

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The attributes that every file has tables of, by its name."""
        held: dict[str, dict[str, None]] = {}  # in the order in which they come
        for file, names in zip(self.table_files, self._named, strict=True):
            held.setdefault(file, {}).update(dict.fromkeys(names))
        return {file: tuple(names) for file, names in held.items()}

    @cached_property
    def table_files(self) -> tuple[str, ...]:
        """The file of every published table."""
        return table_files(self.release.format, self._named)

    @property
    def _named(self) -> list[tuple[str, ...]]:
        names = self.release.schema.names
        return [tuple(names[axis] for axis in axes) for axes in self.decoder.tables]

    @property
    def announced(self) -> tuple[str, ...]:
        """That errors are approximate, where they are."""
        return (APPROXIMATE,) if self.approximate else ()

    @property
    def approximate(self) -> bool:
        """Whether errors leave out what a selection does, so that intervals may hold less often than they say."""
        return bool(getattr(method_of(self.release.mechanism), "approximate", False))

    @property
    def postprocess(self) -> tuple[str, ...]:
        """The adjustments that the specification names."""
        return tuple(self.release.design.release["postprocess"])

    @property
    def described(self) -> Mapping[str, Any]:
        """The adjustments with what is known of their bias; nothing where there are none."""
        names = self.postprocess
        return {"postprocess": [{"name": name, "bias": NAMES[name].bias} for name in names]} if names else {}

    def parts(self, *, progress: Progress | None) -> Iterator[Part]:
        """Yield the published tables, those that share a file together, and those that were asked for."""
        del progress
        if len(self.tables) == len(self.table_files):
            yield from self.published()
        else:
            yield from (TableFamily(name=file, tables=partial(self._of_file, file)) for file in self.tables)
        yield from (table for table in self.asked_tables() if table.name in self.asked)

    def _of_file(self, file: str) -> Iterator[PublishedTable]:
        yield from (table for table in self.published() if table.name == file)

    def asked_tables(self) -> Iterator[PublishedTable]:
        """Yield the tables that were asked for and follow from the published ones."""
        yield from ()

    def by_attributes(self) -> Iterator[tuple[tuple[str, ...], Part]]:
        """Yield every table with the names of its attributes."""
        for table in (*self.published(), *self.asked_tables()):
            yield tuple(axis.name for axis in table.axes), table

    def published(self) -> Iterator[PublishedTable]:
        """Yield the published tables, as estimates and variances of every cell.

        Where the specification names post-processing, the adjusted counts are biased, and the interval is not about
        them.
        """
        schema, adjusted = self.release.schema, self._adjusted
        for place, (axes, count, variance) in enumerate(self._estimated()):
            yield PublishedTable(
                name=self.table_files[place],
                axes=tuple(schema.tabular[axis] for axis in axes),
                count=count,
                variance=variance,
                adjusted=adjusted[place],
                tail=self.release.tail,
                most=self.most if self.adjusted_answers else None,
            )

    def _estimated(self) -> Iterator[tuple[tuple[int, ...], Array, Array]]:
        """Yield the axes of every table, and estimates and variances of its cells."""
        estimates = self.decoder.estimate(self.measurement)
        variances = self.decoder.cell_variances(self.measurement.variance)
        yield from zip(self.decoder.tables, estimates, variances, strict=True)

    @cached_property
    def _adjusted(self) -> tuple[Array | None, ...]:
        """The counts of every table after post-processing: those that were published, where they answer."""
        if (published := self.published_counts) is not None and not any(np.isnan(each).any() for each in published):
            return published
        estimated = [*self._estimated()]
        tables = tuple(self.adjusted(*table) for table in estimated)
        if CONSISTENT in self.postprocess:
            axes, _, variances = zip(*estimated, strict=True)
            tables = tuple(consistent([*map(np.asarray, tables)], axes, self.release.schema.shape, variances))
        return tables if published is None else filled(published, tables)  # some of which its files hide

    def overview(self, cells: int) -> Iterator[PublishedTable]:
        """Yield every attribute by itself, then the tables of several attributes with at most so many cells."""
        tables = [table for table in (*self.published(), *self.asked_tables()) if table.count.size <= cells]
        names = {table.axes[0].name for table in tables if len(table.axes) == 1}
        yield from (table for table in tables if len(table.axes) == 1)
        for place, axis in enumerate(self.release.schema.tabular):
            if axis.name not in names and axis.size <= cells:
                yield self._summed(place, axis)
        yield from (table for table in tables if len(table.axes) > 1)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The counts after post-processing."""
        return (f"The release has the counts after {', '.join(self.postprocess)}, too.",) if self.postprocess else ()

    def _summed(self, place: int, axis: Tabular) -> PublishedTable:
        """Return one attribute's table, as the decoder answers it from a table of several."""
        ones = [np.ones(size) for size in self.release.schema.shape]
        queries = [[*ones[:place], cell, *ones[place + 1 :]] for cell in np.eye(axis.size)]
        answers = [self.answered(axis.name, weights, CONFIDENCE) for weights in queries]
        return PublishedTable(
            name=axis.name,
            axes=(axis,),
            count=np.array([answer.value for answer in answers]),
            variance=np.array([answer.standard_error**2 for answer in answers]),
            adjusted=None,
            tail=self.release.tail,
        )

    def adjusted(self, axes: tuple[int, ...], count: Array, variance: Array) -> Array | None:
        """Return the counts after post-processing; None where the specification names none."""
        if not self.postprocess:
            return None
        shape = self.release.schema.shape

        def noise(weights: list[Array]) -> float:
            along = dict(zip(axes, weights, strict=True))
            return self.variance([along.get(axis, np.ones(size)) for axis, size in enumerate(shape)])

        return adjust(
            count,
            self.postprocess,
            users=self.release.users,
            deviations=np.sqrt(variance),
            shape=tuple(shape[axis] for axis in axes),
            noise=noise,
        )

    @cached_property
    def all_tables(self) -> dict[str, pa.Table]:
        """The published tables by file name, all in memory; see `published_tables.PublishedTable.batches`."""
        return {table.name: table.table() for table in self.published()}


def _weighted(table: Array, weights: Sequence[Array]) -> float:
    """Return the sum of cells times the product of their weights along every axis."""
    for along in weights:
        table = np.tensordot(along, table, axes=1)
    return float(table)


def measurement_of(release: Release) -> Measurement:
    """Return the noisy answers that a release keeps, with their variance.

    Raises:
        ValueError: they are not as many as the mechanism has.
    """
    mechanism = release.mechanism
    if (collection := release.collection) is not None:
        return collection.measurement(collection.tallies_in(release.kept))
    return cast("Measurement", cast("MeasuringMechanism", mechanism).measured(release.kept))


def _weighed(weights: Sequence[Array]) -> list[int]:
    """Return the axes along which cells do not all count once."""
    return [axis for axis, cells in enumerate(weights) if not np.all(cells == 1)]
