"""Answers of a release of ranges of one attribute, or boxes of several: also very many at once."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pyarrow as pa

from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Places, Ranges
from dpress.core.maps.workload import Areas, Boxes, Workload
from dpress.core.methods.mechanism import BoxDecoder, Mechanism
from dpress.inference.box_sums import box_sums
from dpress.inference.interval import half_width, possible
from dpress.kinds.ranges import grid_fit
from dpress.kinds.ranges.cell_ends import ends, of_tiles
from dpress.kinds.ranges.grids import grids_of, sample
from dpress.kinds.ranges.left_open import LeftOpen, left_open
from dpress.kinds.ranges.tiles import Tiled, aligned, cuts, tiled
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.product import box_variances
from dpress.mechanisms.protocol.collection import as_collection
from dpress.mechanisms.ranges.ahead_tree import AheadTree
from dpress.mechanisms.ranges.grid_counts import GridCounts
from dpress.mechanisms.ranges.hdg import Hdg
from dpress.mechanisms.ranges.hdg_choice import predicted_error
from dpress.mechanisms.ranges.level_tree import LevelTree
from dpress.query.adjusted_files import adjusted_counts
from dpress.query.answering import Answering
from dpress.query.answers import Progress
from dpress.query.boxes import products
from dpress.query.published_tables import CONFIDENCE, PublishedTable
from dpress.query.query_tree import Condition
from dpress.query.result import Result
from dpress.query.table_answers import TableAnswers
from dpress.query.table_forms import ProductSums
from dpress.release.plan import linear_error

TILES = (
    "The range cuts tiles of the grids. Within a tile of one attribute people are taken as evenly spread, within one "
    "of two as independent: the standard error is of the noise alone. What the tiles leave open are counts by whole "
    "tiles; the interval of a count holds it wherever people are in them."
)

INTERVALS = (
    "The range cuts an interval of cells that was not divided further. Within one people are taken as evenly spread: "
    "the standard error is of the noise alone. What that leaves open are counts by whole intervals; the confidence "
    "interval of a count holds it wherever people are in them."
)


@dataclass(frozen=True, kw_only=True)
class Answers(TableAnswers):
    """The table of all cells, and ranges."""

    @property
    def published_counts(self) -> tuple[Array, ...] | None:
        """The adjusted counts of a release that was read; see `query.adjusted_files`."""
        counts: tuple[Array, ...] | None = self.release.detail
        return counts

    def query_ranges(self, left: Any, right: Any, *, confidence: float = CONFIDENCE) -> pa.Table:
        """Answer many ranges, or boxes, at once.

        Error: exact, as for `query`; a million ranges take about a second.

        Args:
            left: the first cells, counted from 1, integers of shape (m,); for several attributes (m, attributes).
            right: the last cells, included, of the same shape.
            confidence: of the intervals.

        Returns:
            A table with the columns count, standard_error, low and high; and unbiased, where adjusted counts answer:
            then the standard error is that one's.

        Raises:
            ValueError: another shape; or a range is reversed or ends outside the cells, and the message names its
                number.
        """
        shape = self.release.schema.shape
        if self.grids is not None and len(shape) > 2:
            raise ValueError(f"grids answer boxes of two attributes at once, and the release has {len(shape)}")
        ends = [_ends(name, end, len(shape)) for name, end in (("left", left), ("right", right))]
        if ends[0].shape != ends[1].shape:
            raise ValueError(f"left and right must have one shape, got {np.shape(left)} and {np.shape(right)}")
        ranges = [Ranges(size, ends[0][:, axis], ends[1][:, axis]) for axis, size in enumerate(shape)]
        count, variance = self.box_answers(tuple(range(len(shape))), ranges), self.box_variances(ranges)
        low, high = self._ends(ranges, count, variance, confidence)
        columns = {"count": count, "standard_error": np.sqrt(variance), "low": low, "high": high}
        if self.adjusted_answers:
            value = box_sums(self.adjusted_table, ranges)
            low, high = possible((low, high), value, self.most)
            columns |= {"count": value, "low": low, "high": high, "unbiased": count}
        return pa.table(columns)

    def _ends(self, ranges: list[Ranges], count: Array, variance: Array, confidence: float) -> tuple[Array, Array]:
        """Return the ends of the intervals of boxes, with what the tiles leave open that one cuts."""
        half = half_width(variance, confidence, self.release.tail)
        low, high = count - half, count + half
        if (tiles := self.tiles) is None:
            return low, high
        for place in range(ranges[0].size):
            weights = [along.weights(place) for along in ranges]
            if cuts(tiles, weights):
                low[place], high[place] = self._left_open(tiles, weights).interval(count[place], confidence)
        return low, high

    def box_answers(self, axes: tuple[int, ...], ranges: list[Ranges]) -> Array:
        """Return the sums of one published table in many boxes, given along its axes, shape (m,).

        Error: that of `query`.
        """
        decoder = self.decoder
        if isinstance(decoder, BoxDecoder):
            return decoder.box_answers(self.measurement, ranges)
        cells = decoder.estimate(self.measurement)[decoder.tables.index(axes)]
        return box_sums(cells.reshape([self.release.schema.shape[axis] for axis in axes]), ranges)

    def box_variances(self, ranges: list[Ranges]) -> Array:
        """Return the variance of the answer to every box, in counts squared, shape (m,)."""
        if self.release.collection is None:
            mechanism = cast("MatrixMechanism", self.release.mechanism)
            return box_variances(mechanism.strategy, ranges, [noise.variance for noise in mechanism.noises])
        return np.array(
            [self.query_variance([along.weights(place) for along in ranges]) for place in range(ranges[0].size)]
        )

    @property
    def grids(self) -> Hdg | None:
        """The grids that devices answered about, None where they did not."""
        return grids_of(self.release.mechanism)

    @property
    def tiles(self) -> Tiled | None:
        """Whose tiles devices report, None where those are the cells."""
        return tiled(self.release.mechanism)

    def count(self, condition: Condition, *, text: str, confidence: float, progress: Progress | None) -> Result:
        """Count the rows that fulfil a condition; of a union each part must be of whole tiles.

        Raises:
            ValueError: also where a part of a union cuts tiles: what it leaves open is known of single ranges.
        """
        boxes, tiles = products(self.release.schema, condition), self.tiles
        if len(boxes) > 1 and tiles is not None and any(cuts(tiles, weights) for weights in boxes):
            raise ValueError(f"{text!r} is a union that cuts tiles, of which single ranges are answered; ask its parts")
        return super().count(condition, text=text, confidence=confidence, progress=progress)

    def product(self, text: str, weights: list[Array], confidence: float, progress: Progress | None) -> Result:
        """Answer a product query; one about three attributes or more from what is fitted to the grids of pairs."""
        if self.grids is None or self.together(weights):
            return super().product(text, weights, confidence, progress)
        fit = self.fit(self.grids, progress)
        value, variance = fit.count(weights)
        half = fit.refits.half_width(variance, confidence)
        result = Result.of_count(text, value, variance, half, confidence, grid_fit.NOTE)
        return replace(result, interval=fit.interval(aligned(self.grids, weights), confidence))

    def answering(self, weights: list[Array], text: str, progress: Progress | None = None) -> ProductSums:
        """Return who answers queries about the attributes that one weighs: a published table, else that fit."""
        if self.grids is None or self.together(weights):
            sums, tiles = super().answering(weights, text), self.tiles
            return sums if tiles is None or not cuts(tiles, weights) else replace(sums, notes=(note(tiles),))
        fit = self.fit(self.grids, progress)
        return ProductSums(
            form=fit.count,
            several=lambda boxes: fit.count(*boxes),
            critical=fit.refits.critical,
            notes=(grid_fit.NOTE,),
        )

    def fit(self, grids: Hdg, progress: Progress | None) -> grid_fit.GridFit:
        """Return what is fitted to the grids of pairs; made once, and kept."""
        if "_fit" not in self.__dict__:  # as a cached property
            mechanism: Any = self.release.mechanism
            tallies = mechanism.split_tally(self.release.kept)
            self.__dict__["_fit"] = grid_fit.grid_fit(grids, tallies, progress=progress)
        fit: grid_fit.GridFit = self.__dict__["_fit"]
        return fit

    def answered(self, text: str, weights: list[Array], confidence: float) -> Result:
        """Return the answer, and what the tiles that a range cuts leave open."""
        result, tiles = super().answered(text, weights, confidence), self.tiles
        if tiles is None or not cuts(tiles, weights):
            return result
        open_between = self._left_open(tiles, weights)
        interval = open_between.interval(result.value, confidence)
        return replace(result, interval=interval, within=open_between.within, note=note(tiles))

    def _left_open(self, tiles: Tiled, weights: list[Array]) -> LeftOpen:
        return left_open(tiles, weights, self.release.reports, self._counted, self.release.tail)

    def _counted(self, weights: list[Array]) -> tuple[float, float]:
        """Return the count of a box with its variance; how many took part is known."""
        if all(np.all(along == 1) for along in weights):
            return float(self.release.reports), 0.0
        return self.decoder.answer(self.measurement, weights), self.query_variance(weights)

    def published(self) -> Iterator[PublishedTable]:
        """Yield the published tables; of tiles with intervals that hold a cell wherever people are in its tile."""
        tiles = self.tiles
        if tiles is None:
            yield from super().published()
            return
        counted = {axes: of_tiles(tiles, axes, self._counted) for axes in self.decoder.tables}
        for axes, table in zip(self.decoder.tables, super().published(), strict=True):
            alone = [counted[axis,] for axis in axes] if len(axes) == 2 else []
            low, high = ends(
                tiles, axes, counted[axes], alone, self.release.reports, level=CONFIDENCE, tail=self.release.tail
            )
            yield replace(table, ends=(np.minimum(low, table.count), np.maximum(high, table.count)))

    def adjusted(self, axes: tuple[int, ...], count: Array, variance: Array) -> Array | None:
        """Return the counts after the post-processing that is named; of grids else those without any below zero."""
        if self.grids is None or self.postprocess:
            return super().adjusted(axes, count, variance)
        return self._counts(self.grids).nonnegative(axes)

    def _counts(self, grids: Hdg) -> GridCounts:
        mechanism: Any = self.release.mechanism
        return grids.counts(mechanism.split_tally(self.release.kept))

    def query_variance(self, weights: list[Array]) -> float:
        """Return the variance of the answer to a query: of a collection with how its counts depend on one another."""
        return super().query_variance(weights) if self.release.collection is None else self.variance(weights)


def predicted(mechanism: Mechanism, workload: Workload | Areas) -> float | None:
    """Return the mean squared error of a range over a workload, in counts squared.

    Of a collection for even shares; where tiles may be cut, with what they hide of people in a bell.
    """
    collection = as_collection(mechanism)
    if collection is not None and isinstance(workload, Boxes):
        if (grids := grids_of(mechanism)) is not None:
            return predicted_error(grids, sample(workload), collection.users)
        if isinstance(collection.estimator, LevelTree):
            return collection.estimator.axis_variance(workload.axes[0], collection.users)
        if isinstance(collection.estimator, AheadTree):
            return collection.estimator.range_error(collection.users, *sample(workload))
    return linear_error.predicted(mechanism, workload)


def note(tiles: Tiled) -> str:
    """Return what a range that cuts tiles leaves open: grids are of several attributes, intervals of one."""
    return TILES if len(tiles.shape) > 1 else INTERVALS


def _ends(name: str, ends: Any, attributes: int) -> Places:
    """Return the ends of many boxes, shape (m, attributes)."""
    try:
        places = np.asarray(ends)
    except ValueError:
        raise ValueError(f"{name}: the rows of the list have different lengths") from None
    if places.size == 0:
        return np.zeros((0, attributes), dtype=np.int64)
    if attributes == 1 and places.ndim == 1:
        return places[:, None]
    if places.ndim != 2 or places.shape[1] != attributes:
        wanted = "(m,) for one attribute" if attributes == 1 else f"(m, {attributes}) for {attributes} attributes"
        raise ValueError(f"{name} must have the shape {wanted}, got {places.shape}")
    return places


ANSWERING = Answering(
    answers=Answers,
    predicted=predicted,
    restored=adjusted_counts,
    supposed=lambda mechanism: tiled(mechanism) is not None,
)
