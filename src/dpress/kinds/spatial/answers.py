"""A release of a map: how many people are in any rectangle, with the error of that.

measurement -> density -> rectangles in the columns' own units -> numbers with intervals.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.core.maps.grid import LARGEST_SIDE, Rectangles, sums
from dpress.core.maps.linear import Array
from dpress.core.maps.workload import Areas
from dpress.inference.interval import critical, whole_counts
from dpress.inference.maps.density import Density, ends, likely, unbiased
from dpress.inference.maps.supported_tiles import Tiles, supported_tiles
from dpress.inference.ratio import Pair
from dpress.kinds.spatial.drawn_positions import drawn_positions
from dpress.kinds.spatial.place import location
from dpress.kinds.spatial.prediction import typical_rectangles
from dpress.kinds.spatial.strips import Ends, cells_between, cut, pair, union
from dpress.kinds.spatial.tile_rows import TileRows
from dpress.mechanisms.spatial.map_decoder import MapDecoder
from dpress.query.answering import Answering
from dpress.query.answers import Progress, ReleaseAnswers
from dpress.query.boxes import rectangles
from dpress.query.linear_forms import UNKNOWN, UNKNOWN_PARTS, Compared, Group
from dpress.query.one_table import only_file
from dpress.query.published_tables import CONFIDENCE, PublishedTable
from dpress.query.query_tree import TOTAL, Condition, Query
from dpress.query.record_source import RecordSource
from dpress.query.release import Release
from dpress.query.released_file import Part
from dpress.query.result import Result
from dpress.query.schema_queries import conditions_of
from dpress.query.sources import Source
from dpress.query.table_answers import UNBIASED, measurement_of

CLIPPED = "The part of the rectangle outside the box counts nobody."
BIASED = (
    "No count is below zero, which biases them: intervals are those of the unbiased counts, and may miss the shown."
)
APPROXIMATE = "No count is below zero: the value is biased, its error simulated, and the interval approximate."
REACHING = (
    "No count is below zero: the value is biased, and its error simulated. The interval is by what reports tell of "
    "areas larger than cells, and holds the count wherever people are in them."
)
NEAR = 1e-9  # cells, of a border
Corners = npt.NDArray[np.float64]
Inside = list[Ends]


@dataclass(frozen=True, kw_only=True)
class Answers(ReleaseAnswers):
    """Rectangles of a map.

    Args:
        release: whose kept integers are answered from.
    """

    release: Release

    @cached_property
    def density(self) -> Density:
        """The estimated map, with the error of its sums."""
        mechanism: Any = self.release.mechanism
        decoder: MapDecoder = mechanism.decoder
        tallies = mechanism.split_tally(self.release.kept[: sum(mechanism.sizes)]) if self._reported else None
        return decoder.density(measurement_of(self.release), tallies)

    def tiles(self, most: int) -> Tiles:
        """Return the map at the grain that its noise supports, in at most so many tiles."""
        return supported_tiles(self.density, self.release.tail, most)

    @cached_property
    def sheets(self) -> Mapping[str, Part]:
        """The tiles, in the place of the cells."""
        file, every = only_file(self.release), self.tiles(4 * self.density.grid.cells)
        return {file: TileRows(name=file, names=self.release.schema.names, box=self.box, tiles=every)}

    @property
    def _reported(self) -> bool:
        return self.release.design.local

    @property
    def box(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The ends of both columns, in their own units."""
        return location(self.release.design.attributes).bounds

    def count(self, condition: Condition, *, text: str, confidence: float, progress: Progress | None) -> Result:
        """Count the people in a rectangle such as `lon in -74.02..-73.93 and lat in 40.70..40.82`, or in several.

        A cell that a rectangle cuts counts by the share of its area. Error: of the noise, and of what keeps counts
        from going below zero; not of how people are spread within a cut cell.

        Args:
            condition: ranges of the two columns; a column that is left out is not restricted.
            text: as it was asked.
            confidence: of the interval.
            progress: not used: a map's error takes no time to speak of.

        Raises:
            ValueError: a range is reversed, or it asks for nothing within the box.
        """
        del progress
        parts, notes = self._clipped(condition)
        if len(parts) > 1:
            return self._union(text, parts, notes, confidence)
        table = self.query_rectangles(*np.array(parts[0]).T[:, None], confidence=confidence)
        row = table.to_pylist()[0]
        return Result(
            query=text,
            value=row["count"],
            standard_error=row["standard_error"],
            interval=(row["low"], row["high"]),
            confidence=confidence,
            note=" ".join(notes + [REACHING] * self.approximate) or None,
            unbiased=row.get("unbiased"),
        )

    def _union(self, text: str, parts: list[Inside], notes: list[str], confidence: float) -> Result:
        """Return the sum of disjoint rectangles, of unbiased counts where there are any.

        Error: that of all pairs that have a range in common; of any other pair the most that it can be, says a note.
        """
        value, variance, exact = union(self.density, [self._in_cells(inside) for inside in parts])
        remarks = (*notes, *self._remarks_on_sums, *(() if exact else (UNKNOWN_PARTS,)))
        half = whole_counts(variance, self._critical(confidence))
        return Result.of_count(text, value, variance, half, confidence, " ".join(remarks) or None)

    def group(self, attribute: str, where: Condition | None, progress: Progress | None = None) -> Group:
        """Return weighted sums of strips across a rectangle: of the cells of one column, each as people in it count."""
        del progress
        axis = self.release.schema.names.index(attribute)
        inside, notes = self._rectangle(where or TOTAL)
        ranges = self._in_cells(inside)
        strips = cut(self.density, axis, cells_between(*ranges[axis]), ranges[1 - axis])
        (least, most), side = self.box[axis], self.density.grid.side
        borders = least + strips.borders * ((most - least) / side)
        return Group(
            low=borders[:-1],
            high=borders[1:],
            form=strips.form,
            critical=self._critical,
            notes=(*notes, *self._remarks_on_sums),
        )

    def compared(self, first: Condition, second: Condition, progress: Progress | None = None) -> Compared:
        """Return the counts of two rectangles; their covariance is exact where one of their ranges is the same."""
        del progress
        clipped = [self._rectangle(condition) for condition in (first, second)]
        cells = [self._in_cells(inside) for inside, _ in clipped]
        notes = tuple(dict.fromkeys(note for _, remarks in clipped for note in remarks))
        counts = pair(self.density, *cells)
        if counts is None:
            rectangles = Rectangles(*np.array(cells).reshape(2, 4).T)
            left, right = unbiased(self.density).values(rectangles).tolist()
            variances = self.density.variances(rectangles).tolist()
            covariance = -math.sqrt(variances[0] * variances[1])
            counts = Pair(first=left, second=right, variances=(variances[0], variances[1]), covariance=covariance)
            notes = (*notes, UNKNOWN)
        return Compared(pair=counts, critical=self._critical, notes=(*notes, *self._remarks_on_sums))

    def _critical(self, confidence: float) -> float:
        return critical(confidence, self.release.tail)

    @property
    def _remarks_on_sums(self) -> tuple[str, ...]:
        return (UNBIASED,) if self.adjusted else (APPROXIMATE,) if self.approximate else ()

    def _rectangle(self, condition: Condition) -> tuple[Inside, list[str]]:
        """Return the only rectangle.

        Raises:
            ValueError: there are several.
        """
        parts, notes = self._clipped(condition)
        if len(parts) > 1:
            raise ValueError(f"{condition.text!r} is a union of rectangles, which are counted and nothing else")
        return parts[0], notes

    def _clipped(self, condition: Condition) -> tuple[list[Inside], list[str]]:
        """Return the parts of rectangles within the box, in the columns' units, and a note where that is not all."""
        boxes = rectangles(self.release.schema, condition)
        clipped = [
            [(max(low, a), min(high, b)) for (low, high), (a, b) in zip(each, self.box, strict=True)] for each in boxes
        ]
        inside = [each for each in clipped if all(low < high for low, high in each)]
        if not inside:
            raise ValueError(f"{condition.text!r}: nothing lies there")
        given = {end for each in boxes for ends in each for end in ends if math.isfinite(end)}
        kept = {end for each in clipped for ends in each for end in ends}
        return inside, [CLIPPED] if len(inside) < len(boxes) or given - kept else []

    def sources(self, query: Query) -> tuple[Source, ...]:
        """Return the map, with the cells of a query by their area, and the error of one as it is on average there."""
        parts = {tuple(self._in_cells(inside)) for rows in query.rows for inside in self._clipped(rows)[0]}
        boxes = Rectangles(*np.array([[*across, *up] for across, up in parts]).T)
        area = float(((boxes.right - boxes.left) * (boxes.top - boxes.bottom)).sum())
        added = float(sums(self.density.cell_variances(), boxes).sum())
        return (
            Source(
                file=only_file(self.release),
                attributes=self.release.schema.names,
                parts=area,
                error=math.sqrt(added / area),
                independent=math.sqrt(added) if query.of == "count" else None,
            ),
        )

    def record_source(self, where: str) -> RecordSource:
        """Return what draws positions, in the rectangles of a condition."""
        inside = self._clipped(conditions_of(self.release.schema, where) if where else TOTAL)[0]
        areas = [self._in_cells(each) for each in inside]
        return drawn_positions(self.release.schema, self.density.counts, self.box, areas, where)

    def _in_cells(self, inside: Inside) -> tuple[Ends, Ends]:
        """Return both ranges of a rectangle in cells; what rounding moved off a border is put on it."""
        side, cells = self.density.grid.side, list[Ends]()
        for pair_of_ends, (least, most) in zip(inside, self.box, strict=True):
            places = (np.array(pair_of_ends) - least) / (most - least) * side
            low, high = _on_borders(places).tolist()
            cells.append((low, high))
        return cells[0], cells[1]

    def query_rectangles(self, low: Any, high: Any, *, confidence: float = CONFIDENCE) -> pa.Table:
        """Answer many rectangles at once; ten thousand take a few seconds where devices reported, else less than one.

        Args:
            low: the left and the lower end of every rectangle, in the columns' units, shape (m, 2).
            high: the right and the upper end, of the same shape.
            confidence: of the intervals.

        Returns:
            A table with the columns count, standard_error, low and high; and unbiased, where the counts are adjusted so
            that none is below zero: then the other three are about that one.

        Raises:
            ValueError: another shape, or a rectangle is reversed or leaves the box; the message names its number.
        """
        corners = self._inside(low, high)
        box, side = np.array(self.box), self.density.grid.side
        places = [_on_borders((end - box[:, 0]) / (box[:, 1] - box[:, 0]) * side) for end in corners]
        (left, bottom), (right, top) = (place.T for place in places)
        boxes = Rectangles(left, right, bottom, top)
        count, variance = self.density.values(boxes), self.density.variances(boxes)
        lowest, highest = ends(self.density, boxes, self._critical(confidence))
        columns = {"count": count, "standard_error": np.sqrt(variance), "low": lowest, "high": highest}
        return pa.table(columns | ({"unbiased": unbiased(self.density).values(boxes)} if self.adjusted else {}))

    @property
    def adjusted(self) -> bool:
        """Whether no count is below zero, with unbiased ones beside, which errors and intervals are about."""
        return self.density.beside is not None

    @property
    def approximate(self) -> bool:
        """Whether errors are by simulation alone; intervals of counts are not."""
        decoder: Any = self.release.mechanism
        return not (decoder.decoder.estimator.linear or self.adjusted)

    def _inside(self, low: Any, high: Any) -> tuple[Corners, Corners]:
        try:
            ends = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError("low and high must be numbers of shape (m, 2)") from None
        if ends[0].ndim != 2 or ends[0].shape[1] != 2 or ends[0].shape != ends[1].shape:
            raise ValueError(f"low and high must have the same shape (m, 2), got {ends[0].shape} and {ends[1].shape}")
        box = np.array(self.box)
        for fault, wrong in (
            ("is reversed, or no number", ~(ends[0] < ends[1])),
            ("leaves the box", (ends[0] < box[:, 0]) | (ends[1] > box[:, 1])),
        ):
            if (place := np.flatnonzero(wrong.any(axis=1))).size:
                raise ValueError(f"rectangle {place[0]} {fault}")
        return ends

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The only table: all cells."""
        return {only_file(self.release): self.release.schema.names}

    @property
    def announced(self) -> tuple[str, ...]:
        """Nothing: there is only the table."""
        return ()

    @property
    def described(self) -> Mapping[str, Any]:
        """The cells along each side of the map."""
        return {"side": self.density.grid.side}

    def by_attributes(self) -> Iterator[tuple[tuple[str, ...], Part]]:
        """Yield the only table with the names of its columns."""
        for table in self.published():
            yield self.release.schema.names, table

    def parts(self, *, progress: Progress | None) -> Iterator[Part]:
        """Yield the only table."""
        del progress
        yield from self.published()

    def overview(self, cells: int) -> Iterator[PublishedTable]:
        """Yield the map; in wider cells where it has more than so many."""
        side, fewer = self.density.grid.side, math.isqrt(cells)
        if side <= fewer:
            yield from self.published()
            return
        edges = np.arange(fewer + 1) * (side / fewer)
        left, bottom = (places.ravel() for places in np.meshgrid(edges[:-1], edges[:-1], indexing="ij"))
        right, top = (places.ravel() for places in np.meshgrid(edges[1:], edges[1:], indexing="ij"))
        boxes = Rectangles(left, right, bottom, top)
        yield PublishedTable(
            name=only_file(self.release),
            axes=location(self.release.design.attributes).axes(fewer),
            count=self.density.values(boxes),
            centre=unbiased(self.density).values(boxes),
            variance=self.density.variances(boxes),
            adjusted=None,
            tail=self.release.tail,
            ends=None if self.density.reach is None else ends(self.density, boxes, self._critical(CONFIDENCE)),
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the counts and their intervals are, and what the release answers."""
        remarks = [BIASED] if self.adjusted else [REACHING] if self.approximate else []
        return (*remarks, "The release answers any rectangle.")

    def published(self) -> Iterator[PublishedTable]:
        """Yield the map as a table: every cell with its place, count and error."""
        across, up = self.release.schema.tabular
        density = self.density
        yield PublishedTable(
            name=only_file(self.release),
            axes=(across, up),
            count=_flat(density.counts),
            centre=_flat(unbiased(density).counts),
            variance=_flat(density.cell_variances()),
            adjusted=None,
            tail=self.release.tail,
            ends=self._cell_ends(),
        )

    def _cell_ends(self) -> tuple[Array, Array] | None:
        """Return the ends of the cells' intervals where they do not reach as far to both sides."""
        density = self.density
        if density.reach is None:
            return None
        low, high = density.reach.cells(self._critical(CONFIDENCE))
        return _flat(np.minimum(low, density.counts)), _flat(np.maximum(high, density.counts))


def typical(release: Release) -> float:
    """Return the mean squared error of typical rectangles that a map's own answers show; it needs no people.

    They are of the plan's sizes (`prediction.typical_rectangles`). Where no count is below zero it is the error that
    these counts are likely to have, not that of the unbiased ones beside them.
    """
    workload, density = cast("Areas", release.workload), likely(ANSWERING.of(release).density)
    boxes = typical_rectangles(workload).scaled(density.grid.side / LARGEST_SIDE)
    return float(density.variances(boxes).mean())


def _on_borders(places: Array) -> Array:
    return np.where(np.abs(places - np.rint(places)) < NEAR, np.rint(places), places)


def _flat(image: Array) -> Array:
    return np.ascontiguousarray(image).ravel()


ANSWERING = Answering(answers=Answers, typical=typical)
