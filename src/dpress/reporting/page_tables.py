"""Tables for the page: a few cells of every view, the files, and how the specification counts values.

Data flow: views, schema -> rows of text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Places
from dpress.inference.suppression import MARK
from dpress.reporting.rounding import error, interval, number, unit_for
from dpress.reporting.views import View

ROWS = 10
IN_ORDER = 24


FATES = {
    "central": {"reject": "refused (none occurred)", "drop": "their rows were left out"},
    "local": {"reject": "refused: no report is sent", "drop": "no report is sent"},
}
"""What becomes of values that the specification rejects or drops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Which cells of a table are shown.

    Args:
        shown: how many.
        cells: of how many.
        file: where all are, or that they come from.
        derived: they were added up from the file's cells.
        unit: to which counts are rounded; None where they are shown as they are.
    """

    shown: int
    cells: int
    file: str
    derived: bool
    unit: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as text.

    Args:
        caption: what it shows, in a few words.
        names: the columns.
        labels: how many leading columns are labels, not numbers.
        rows: the cells' text.
        excerpt: which cells are shown and where the rest is; None where nothing is left out.
        links: where the first cell of every row leads; empty where it leads nowhere.
        code: the columns that stand in queries and files.
    """

    caption: str
    names: tuple[str, ...]
    labels: int
    rows: tuple[tuple[str, ...], ...]
    excerpt: Excerpt | None = None
    links: tuple[str, ...] = ()
    code: tuple[int, ...] = ()


def table(view: View, most: int = ROWS, *, beside: int = 0) -> Table:
    """Return the cells of a view: in order if they are few (at most `most`) and have one, else the largest.

    Args:
        view: the counts.
        most: how many cells are shown.
        beside: how many cells at the end of one axis stand below these, whatever their counts.
    """
    cells = view.count.size - beside
    in_order = cells <= most or (cells <= IN_ORDER and view.axes[0].ordered > 0 and len(view.axes) == 1)
    flat = view.count.ravel()[:cells]
    chosen = np.arange(cells) if in_order else _largest(flat, most)
    unit, captions = _unit(view), tuple(axis.caption for axis in view.axes)
    return Table(
        caption=f"Counts by {view.name}",
        names=(
            *captions,
            "count",
            "95 % interval",
            "standard error",
            *(() if view.adjusted is None else ("adjusted",)),
        ),
        labels=len(view.axes),
        rows=tuple(_row(view, int(cell), unit) for cell in (*chosen, *range(cells, view.count.size))),
        excerpt=_excerpt(view, (len(chosen), cells), unit),
    )


def _largest(values: Array, most: int) -> Places:
    """Return the places of the largest values, largest first and of equal ones the first."""
    near = np.flatnonzero(values >= np.partition(values, -most)[-most])
    return near[np.argsort(-values[near], kind="stable")[:most]]


def _unit(view: View) -> float:
    if view.display.base > 1:
        return float(view.display.base)
    unit = unit_for(_typical(view))
    whole = not np.any(view.count % 1)
    return max(1.0, unit) if whole else unit


def _typical(view: View) -> float:
    """Return the typical error of a cell: one that is next to nothing does not decide how all are rounded."""
    finite = view.error[np.isfinite(view.error)]
    return float(np.sqrt((finite**2).mean())) if finite.size else 0.0


def _error(value: float, unit: float) -> str:
    """Return a cell's error; one too small to be seen in the count as a bound, for it need not be 0."""
    least = unit / 100
    return error(value) if value == 0 or value >= least else f"< {number(least, least)}"


def _row(view: View, cell: int, unit: float) -> tuple[str, ...]:
    place = np.unravel_index(cell, view.count.shape)
    labels = (axis.label(int(code)) for axis, code in zip(view.axes, place, strict=True))
    if view.hidden[place]:
        return *labels, *[MARK] * (3 if view.adjusted is None else 4)
    count, low, high, spread = (float(array[place]) for array in (view.count, view.low, view.high, view.error))
    texts = number(count, unit), interval(low, high, unit), _error(spread, unit)
    if view.adjusted is None:
        return *labels, *texts
    whole = not np.any(view.adjusted % 1)
    return *labels, *texts, number(float(view.adjusted[place]), max(1.0, unit) if whole else unit)


def _excerpt(view: View, shown: tuple[int, int], unit: float) -> Excerpt:
    rounded = bool(np.any(view.count % unit))
    return Excerpt(shown=shown[0], cells=shown[1], file=view.file, derived=view.derived, unit=unit if rounded else None)


def files(views: Sequence[View]) -> Table:
    """Return the list of Parquet files."""
    rows = tuple(
        (view.file, view.name, number(view.count.size), number(view.unclear), f"± {error(float(np.median(view.half)))}")
        for view in views
    )
    names = ("file", "attributes", "cells", "interval reaches 0", "median interval")
    return Table(caption="Files of this release", names=names, labels=2, rows=rows)


def attributes(schema: Schema, model: str) -> Table:
    """Return how every attribute's values were counted in the central or in the local model."""
    fates = FATES[model]
    titled = any(attribute.caption != attribute.name for attribute in schema.tabular)
    rows = tuple(
        (
            *((attribute.caption,) if titled else ()),
            attribute.name,
            str(attribute.__struct_config__.tag),
            number(attribute.size),
            _outside(attribute, fates),
            _missing(attribute, fates),
        )
        for attribute in schema.tabular
    )
    first = ("attribute", "name in queries") if titled else ("attribute",)
    names = (*first, "kind", "cells", "other values", "missing values")
    code = (1,) if titled else ()
    return Table(caption="How values are counted", names=names, labels=len(names), rows=rows, code=code)


def _outside(attribute: Tabular, fates: Mapping[str, str]) -> str:
    outside = attribute.policies.outside
    if attribute.scale is None:
        return _fate(outside, fates)
    if attribute.limits is None:
        return "none: every date has a cell"
    bounds = f"outside {' to '.join(attribute.limits)}: "
    return bounds + ("counted in the nearest cell" if outside == "clamp" else _fate(outside, fates))


def _missing(attribute: Tabular, fates: Mapping[str, str]) -> str:
    return attribute.when_missing or _fate(attribute.policies.null, fates)


def _fate(rule: str, fates: Mapping[str, str]) -> str:
    return fates.get(rule, f"counted in the cell “{rule}”")
