"""ReleaseAnswers from tables of counts: what every kind has in common whose measurement a decoder turns into tables.

measurement -> estimates and variances of every cell -> published tables; queries -> numbers with intervals.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Decoder, MeasuringMechanism
from dpress.inference.interval import critical, half_width
from dpress.inference.least_squares import LeastSquares, flat
from dpress.inference.postprocess import NAMES, adjust
from dpress.mechanisms.protocol.collection import method_of
from dpress.query import table_forms
from dpress.query.answers import Progress
from dpress.query.boxes import products
from dpress.query.product_answers import ProductAnswers
from dpress.query.published_tables import PublishedTable
from dpress.query.query_tree import Condition, Query
from dpress.query.release import CONFIDENCE, Release
from dpress.query.released_file import Part
from dpress.query.result import Result
from dpress.query.sources import Source, Table, of_tables
from dpress.query.table_forms import ProductSums

APPROXIMATE = (
    "Reports cannot tell all values apart, and those that are likely were selected: counts are biased, and intervals "
    "approximate, as they know nothing of the selection."
)


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
        """Count the rows that fulfil a condition, from a published table; see `Release.query`."""
        boxes = products(self.release.schema, condition)
        if len(boxes) > 1:
            source = table_forms.source_of(partial(self.answering, progress=progress), boxes, text)
            return source.count(text, boxes, confidence)
        return self.product(text, boxes[0], confidence, progress)

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

    def sources(self, query: Query) -> tuple[Source, ...]:
        """Return the published tables that hold the attributes of a query."""
        return of_tables(self._cell_errors, query)

    @cached_property
    def _cell_errors(self) -> tuple[Table, ...]:
        tabular, variances = self.release.schema.tabular, self.decoder.cell_variances(self.measurement.variance)
        return tuple(
            (_file(place), tuple(tabular[axis] for axis in axes), variance)
            for place, (axes, variance) in enumerate(zip(self.decoder.tables, variances, strict=True), 1)
        )

    def together(self, weights: list[Array]) -> bool:
        """Return whether a published table holds the attributes that a query is about."""
        used = {axis for axis, weight in enumerate(weights) if not np.all(weight == 1)}
        return any(used <= set(axes) for axes in self.decoder.tables)

    def unanswered(self, text: str) -> str:
        """Return why no published table answers a query."""
        names = [" x ".join(self.release.schema.names[axis] for axis in axes) for axes in self.decoder.tables]
        return f"no published table answers {text!r}; the tables are {', '.join(names)}"

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The attributes of every published table, by file name."""
        names = self.release.schema.names
        return {_file(place): tuple(names[axis] for axis in axes) for place, axes in enumerate(self.decoder.tables, 1)}

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
        """Yield the published tables, and those that were asked for."""
        del progress
        yield from self.published()
        if self.asked:
            yield from self.asked_tables()

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
        decoder, schema = self.decoder, self.release.schema
        estimates = decoder.estimate(self.measurement)
        variances = decoder.cell_variances(self.measurement.variance)
        for place, (axes, count, variance) in enumerate(zip(decoder.tables, estimates, variances, strict=True), 1):
            yield PublishedTable(
                name=_file(place),
                axes=tuple(schema.tabular[axis] for axis in axes),
                count=count,
                variance=variance,
                adjusted=self.adjusted(axes, count, variance),
                tail=self.release.tail,
            )

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
        del axes
        if not self.postprocess:
            return None
        return adjust(count, self.postprocess, users=self.release.users, deviations=np.sqrt(variance))

    @cached_property
    def all_tables(self) -> dict[str, pa.Table]:
        """The published tables by file name, all in memory; see `published_tables.PublishedTable.batches`."""
        return {table.name: table.table() for table in self.published()}


def measurement_of(release: Release) -> Measurement:
    """Return the noisy answers that a release keeps, with their variance.

    Raises:
        ValueError: they are not as many as the mechanism has.
    """
    mechanism = release.mechanism
    if (collection := release.collection) is not None:
        return collection.measurement(collection.tallies_in(release.kept))
    return cast("Measurement", cast("MeasuringMechanism", mechanism).measured(release.kept))


def _file(place: int) -> str:
    return f"table_{place}.parquet"


def _weighed(weights: Sequence[Array]) -> list[int]:
    """Return the axes along which cells do not all count once."""
    return [axis for axis, cells in enumerate(weights) if not np.all(cells == 1)]
