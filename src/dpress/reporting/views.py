"""What a figure or a table shows: counts with their intervals over the cells of a few attributes.

Data flow: published table -> view -> the same in another order, in part, or in groups of cells.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Places, Ranges
from dpress.inference.interval import Tail, half_width, possible
from dpress.inference.suppression import EVERYTHING, Display, Mask
from dpress.query.published_tables import CONFIDENCE, PublishedTable
from dpress.reporting.rounding import TIMES

GROUPS = 64
LONGEST = 1 << 12  # cells of an axis whose labels are all made at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One attribute as the edge of a view.

    Args:
        name: the attribute.
        labels: of its cells, for people.
        ticks: shorter labels for a chart.
        ordered: the number of leading cells that have an order.
        long: an attribute of very many cells, whose `labels` and `ticks` are left out.
        title: of the attribute with its unit, where it has any.
        begins: of an attribute of dates, when each of its ordered cells begins, as ISO 8601 writes it; else empty, and
            of one of very many cells.
    """

    name: str
    labels: tuple[str, ...]
    ticks: tuple[str, ...]
    ordered: int
    long: Tabular | None = None
    title: str = ""
    begins: tuple[str, ...] = ()

    @property
    def caption(self) -> str:
        """What the attribute is called before people."""
        return self.title or self.name

    @property
    def timed(self) -> bool:
        """Whether its cells follow each other in time."""
        line = None if self.long is None else self.long.line
        return bool(self.begins) or (line is not None and line.calendar is not None)

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.labels) if self.long is None else self.long.size

    def label(self, cell: int) -> str:
        """Return the label of one cell."""
        return self.labels[cell] if self.long is None else self.long.labels_between(cell, cell + 1)[0]

    def tick(self, cell: int) -> str:
        """Return the shorter label of one cell."""
        return self.ticks[cell] if self.long is None else self.long.ticks_between(cell, cell + 1)[0]


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
        tail: the kind of noise.
        noun: what is counted.
        centre: what the intervals lie around, where that is not the count.
        most: where adjusted counts are shown: what no count is above, to which intervals are cut.
        display: which counts are hidden, and to what they are rounded.
    """

    axes: tuple[Axis, ...]
    count: Array
    half: Array
    error: Array
    adjusted: Array | None = None
    file: str
    derived: bool = False
    group: int = 1
    tail: Tail = "gaussian"
    noun: str = "rows"
    centre: Array | None = None
    most: float | None = None
    display: Display = EVERYTHING

    @property
    def shown(self) -> Array:
        """The counts as they are shown."""
        return self.display.rounded(self.count)

    @property
    def hidden(self) -> Mask:
        """Which counts are not shown."""
        return self.display.hidden(self.count, self.error, self._ends, self.count)

    @property
    def name(self) -> str:
        """The attributes."""
        return TIMES.join(axis.caption for axis in self.axes)

    @property
    def low(self) -> Array:
        """The lower ends of the intervals."""
        return self._ends[0]

    @property
    def high(self) -> Array:
        """The upper ends of the intervals."""
        return self._ends[1]

    @property
    def _ends(self) -> tuple[Array, Array]:
        centre = self.count if self.centre is None else self.centre
        ends = centre - self.half, centre + self.half
        return ends if self.most is None else possible(ends, self.count, self.most)

    @property
    def unclear(self) -> int:
        """The number of cells whose interval reaches down to zero."""
        return int(np.count_nonzero(self.low <= 0))

    def transposed(self, order: tuple[int, ...]) -> "View":
        """Return the view with its axes in another order."""
        return self._changed(tuple(self.axes[axis] for axis in order), lambda array: array.transpose(order))

    def taken(self, axis: int, cells: Places) -> "View":
        """Return the part of the view with these cells of an axis, in their order; none of them is in an order."""
        edge, places = self.axes[axis], cells.tolist()
        labels, ticks = (tuple(map(text, places)) for text in (edge.label, edge.tick))
        taken = Axis(name=edge.name, labels=labels, ticks=ticks, ordered=0, title=edge.title)
        axes = (*self.axes[:axis], taken, *self.axes[axis + 1 :])
        return self._changed(axes, lambda array: array.take(cells, axis))

    def slice(self, cell: int) -> "View":
        """Return the part of the view in one cell of its first axis."""
        return self._changed(self.axes[1:], lambda array: array[cell])

    def _changed(self, axes: tuple[Axis, ...], change: Callable[[Array], Array]) -> "View":
        count, half, error = map(change, (self.count, self.half, self.error))
        adjusted, centre = (None if array is None else change(array) for array in (self.adjusted, self.centre))
        return replace(self, axes=axes, count=count, half=half, error=error, adjusted=adjusted, centre=centre)


RangeVariances = Callable[[str, Ranges], Array]
"""From an attribute and ranges of its cells to the variance of the answer to each, in counts squared."""


def view_of(table: PublishedTable, noun: str, display: Display = EVERYTHING) -> View:
    """Return the view of a published table of what `noun` names; its counts are those that answer queries.

    An attribute of one cell, such as a series' period, tells no cell from another: it is no axis beside others.
    """
    axes = [axis for axis in table.axes if axis.size > 1] or table.axes[:1]
    shape = tuple(axis.size for axis in axes)
    if table.adjusted is not None and table.most is not None:
        table = replace(table, count=table.adjusted, adjusted=None, centre=table.count)
    return View(
        axes=tuple(axis_of(axis) for axis in axes),
        count=table.count.reshape(shape),
        half=half_width(table.variance, table.level, table.tail).reshape(shape),
        error=np.sqrt(table.variance).reshape(shape),
        adjusted=None if table.adjusted is None else table.adjusted.reshape(shape),
        centre=None if table.centre is None else table.centre.reshape(shape),
        file=table.name,
        tail=table.tail,
        noun=noun,
        most=table.most,
        display=display,
    )


def grouped(view: View, variances: RangeVariances) -> View:
    """Return a view of one long ordered axis as groups of adjacent cells, each with its own exact interval."""
    axis = view.axes[0]
    width = 1 << math.ceil(math.log2(axis.ordered / GROUPS))
    starts = np.array([*range(0, axis.ordered, width), *range(axis.ordered, axis.size)])
    ends = np.append(starts[1:], axis.size)
    spread = variances(axis.name, Ranges(axis.size, starts + 1, ends))
    labels, ticks = (tuple(map(text, starts.tolist())) for text in (axis.label, axis.tick))
    whole = -(-axis.ordered // width)
    begins = axis.begins[::width] if axis.long is None else _begins(axis.long, starts[:whole])
    return replace(
        view,
        axes=(Axis(name=axis.name, labels=labels, ticks=ticks, ordered=whole, title=axis.title, begins=begins),),
        count=np.add.reduceat(view.count, starts),
        half=half_width(spread, CONFIDENCE, view.tail),
        error=np.sqrt(spread),
        adjusted=None,
        centre=None if view.centre is None else np.add.reduceat(view.centre, starts),
        group=width,
    )


def axis_of(attribute: Tabular) -> Axis:
    """Return an attribute as the edge of a view."""
    name, ordered, title = attribute.name, attribute.ordered, attribute.caption
    if attribute.scale is not None and attribute.size > LONGEST:
        return Axis(name=name, labels=(), ticks=(), ordered=ordered, long=attribute, title=title)
    labels, ticks = attribute.captions, tuple(attribute.ticks_between(0, attribute.size))
    begins = _begins(attribute, np.arange(ordered))
    return Axis(name=name, labels=labels, ticks=ticks, ordered=ordered, title=title, begins=begins)


def _begins(attribute: Tabular, places: Places) -> tuple[str, ...]:
    """Return when some cells of dates begin, on whatever clocks they are; they are drawn as if these were UTC's."""
    line = attribute.line
    if line is None or line.calendar is None:
        return ()
    return tuple(f"{hour}:00:00Z" for hour in line.edges_at(places).astype("datetime64[h]"))
