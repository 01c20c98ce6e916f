"""What a figure or a table shows: counts with their intervals over the cells of a few attributes.

Data flow: release -> views (one for every published table, and for every table asked for that follows from them).
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpress.core.domain import Bounded, Tabular
from dpress.core.linear import Array
from dpress.core.workload import Marginals
from dpress.estimate.interval import half_width
from dpress.release.artifact import CONFIDENCE, Release
from dpress.report.rounding import TIMES

GROUPS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One attribute as the edge of a view.

    Args:
        name: the attribute.
        labels: of its cells, as the tables write them.
        ticks: shorter labels for a chart.
        ordered: the number of leading cells that have an order.
    """

    name: str
    labels: tuple[str, ...]
    ticks: tuple[str, ...]
    ordered: int

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Counts over the product of its axes; every array has the shape of the axes.

    Args:
        axes: in the order of the arrays' axes.
        count: the estimates.
        half: half the width of the interval.
        error: the standard error.
        adjusted: the counts after post-processing, or None where the specification names none.
        file: the Parquet file it is, or comes from.
        derived: it was added up from the file's cells.
        group: how many adjacent cells one of its cells holds.
    """

    axes: tuple[Axis, ...]
    count: Array
    half: Array
    error: Array
    adjusted: Array | None = None
    file: str
    derived: bool = False
    group: int = 1

    @property
    def name(self) -> str:
        """The attributes."""
        return TIMES.join(axis.name for axis in self.axes)

    @property
    def low(self) -> Array:
        """The lower ends of the intervals."""
        return self.count - self.half

    @property
    def high(self) -> Array:
        """The upper ends of the intervals."""
        return self.count + self.half

    @property
    def unclear(self) -> int:
        """The number of cells whose interval reaches down to zero."""
        return int(np.count_nonzero(self.low <= 0))

    def transposed(self, order: tuple[int, ...]) -> "View":
        """Return the view with its axes in another order."""
        axes = tuple(self.axes[axis] for axis in order)
        count, half, error = (array.transpose(order) for array in (self.count, self.half, self.error))
        adjusted = None if self.adjusted is None else self.adjusted.transpose(order)
        return replace(self, axes=axes, count=count, half=half, error=error, adjusted=adjusted)

    def slice(self, cell: int) -> "View":
        """Return the part of the view in one cell of its first axis."""
        count, half, error = (array[cell] for array in (self.count, self.half, self.error))
        adjusted = None if self.adjusted is None else self.adjusted[cell]
        return replace(self, axes=self.axes[1:], count=count, half=half, error=error, adjusted=adjusted)


def published(release: Release) -> list[View]:
    """Return a view of every published table."""
    decoder = release.planned.chosen.mechanism.strategy.decoder
    views = []
    for (file, table), sets in zip(release.tables.items(), decoder.tables, strict=True):
        axes = tuple(_axis(release.schema.tabular[axis]) for axis in sets)
        shape = tuple(axis.size for axis in axes)
        count, low, error = (table[name].to_numpy().reshape(shape) for name in ("count", "low", "standard_error"))
        adjusted = table["adjusted"].to_numpy().reshape(shape) if release.spec.release.postprocess else None
        views.append(View(axes=axes, count=count, half=count - low, error=error, adjusted=adjusted, file=file))
    return views


def asked(release: Release) -> list[View]:
    """Return a view of every table that was asked for but published only as sums of a larger table."""
    workload = release.planned.workload
    mechanism = release.planned.chosen.mechanism
    decoder = mechanism.strategy.decoder
    if not isinstance(workload, Marginals) or decoder.tables == workload.tables or len(decoder.tables) != 1:
        return []
    whole = published(release)[0]
    return [_summed(release, whole, table) for table in workload.tables]


def _summed(release: Release, whole: View, table: tuple[int, ...]) -> View:
    """Return a marginal of the full table; by symmetry each of its cells has the same variance."""
    decoder, variance = release.planned.chosen.mechanism.strategy.decoder, release.measurement.variance
    others = tuple(axis for axis in range(len(whole.axes)) if axis not in table)
    shape = release.schema.shape
    weights = [np.eye(1, n)[0] if axis in table else np.ones(n) for axis, n in enumerate(shape)]
    spread = decoder.query_variance(variance, weights)
    count = whole.count.sum(axis=others)
    order = tuple(sorted(table).index(axis) for axis in table)
    half, error = (np.full_like(count, x) for x in (half_width(spread, CONFIDENCE, release.tail), math.sqrt(spread)))
    adjusted = None if whole.adjusted is None else whole.adjusted.sum(axis=others)
    axes = tuple(whole.axes[axis] for axis in sorted(table))
    view = View(axes=axes, count=count, half=half, error=error, adjusted=adjusted, file=whole.file, derived=True)
    return view.transposed(order)


def grouped(release: Release, view: View) -> View:
    """Return a view of one long ordered axis as groups of adjacent cells, each with its own exact interval."""
    axis = view.axes[0]
    width = 1 << math.ceil(math.log2(axis.ordered / GROUPS))
    starts = [*range(0, axis.ordered, width), *range(axis.ordered, axis.size)]
    ends = [
        *(min(start + width, axis.ordered) for start in starts if start < axis.ordered),
        *range(axis.ordered + 1, axis.size + 1),
    ]
    decoder, measurement = release.planned.chosen.mechanism.strategy.decoder, release.measurement
    queries = [_run(axis.size, start, end) for start, end in zip(starts, ends, strict=True)]
    count = np.array([decoder.answer(measurement, [query]) for query in queries])
    spread = [decoder.query_variance(measurement.variance, [query]) for query in queries]
    half = np.array([half_width(one, CONFIDENCE, release.tail) for one in spread])
    labels, ticks = (tuple(texts[start] for start in starts) for texts in (axis.labels, axis.ticks))
    whole = -(-axis.ordered // width)
    axes = (Axis(name=axis.name, labels=labels, ticks=ticks, ordered=whole),)
    return replace(view, axes=axes, count=count, half=half, error=np.sqrt(spread), adjusted=None, group=width)


def _run(cells: int, start: int, end: int) -> Array:
    query = np.zeros(cells)
    query[start:end] = 1.0
    return query


def _axis(attribute: Tabular) -> Axis:
    labels, ticks = attribute.labels, attribute.labels
    if isinstance(attribute, Bounded):
        ticks = (*_ends(attribute.edges[:-1]), *attribute.extra)
    return Axis(name=attribute.name, labels=labels, ticks=ticks, ordered=attribute.ordered)


def _ends(edges: tuple[float, ...]) -> list[str]:
    separator = "," if max(map(abs, edges)) >= 10_000 else ""  # 1990 is a year, 19,900 is not
    return [f"{edge:{separator}.6g}" for edge in edges]
