"""Tables for the page: a few cells of every view, the files, and how the specification counts values.

Data flow: release, views -> rows of text.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpress.core.attribute import Bounded, Integer, Listed, Tabular
from dpress.core.linear import Array
from dpress.core.ranges import Places
from dpress.release.release import Release
from dpress.report.rounding import error, interval, number, unit_for
from dpress.report.views import View

ROWS = 10
IN_ORDER = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as text.

    Args:
        names: the columns.
        labels: how many leading columns are labels, not numbers.
        rows: the cells' text.
        note: what is shown, in which order, and where the rest is.
    """

    names: tuple[str, ...]
    labels: int
    rows: tuple[tuple[str, ...], ...]
    note: str


def table(view: View) -> Table:
    """Return the cells of a view: in order if they are few and have one, else the largest."""
    cells = view.count.size
    in_order = cells <= ROWS or (cells <= IN_ORDER and view.axes[0].ordered > 0 and len(view.axes) == 1)
    flat = view.count.ravel()
    chosen = np.arange(cells) if in_order else _largest(flat, ROWS)
    unit = _unit(view)
    return Table(
        names=(*(axis.name for axis in view.axes), "count", "95 % interval", "standard error", *_adjusted_name(view)),
        labels=len(view.axes),
        rows=tuple(_row(view, int(cell), unit) for cell in chosen),
        note=_note(view, len(chosen), unit),
    )


def _largest(values: Array, most: int) -> Places:
    """Return the places of the largest values, largest first and of equal ones the first."""
    near = np.flatnonzero(values >= np.partition(values, -most)[-most])
    return near[np.argsort(-values[near], kind="stable")[:most]]


def _unit(view: View) -> float:
    unit = unit_for(float(view.error.min()))
    whole = not np.any(view.count % 1)
    return max(1.0, unit) if whole else unit


def _row(view: View, cell: int, unit: float) -> tuple[str, ...]:
    place = np.unravel_index(cell, view.count.shape)
    labels = (axis.label(int(code)) for axis, code in zip(view.axes, place, strict=True))
    count, half = float(view.count[place]), float(view.half[place])
    texts = number(count, unit), interval(count - half, count + half, unit), error(float(view.error[place]))
    if view.adjusted is None:
        return *labels, *texts
    whole = not np.any(view.adjusted % 1)
    return *labels, *texts, number(float(view.adjusted[place]), max(1.0, unit) if whole else unit)


def _adjusted_name(view: View) -> tuple[str, ...]:
    return () if view.adjusted is None else ("adjusted",)


def _note(view: View, shown: int, unit: float) -> str:
    cells = view.count.size
    rounded = "" if not np.any(view.count % unit) else f" Counts are rounded to {unit:g}, intervals outward."
    where = f"added up from {view.file}" if view.derived else f"in {view.file}"
    if shown == cells:
        return f"All {number(cells)} cells, {where}.{rounded}"
    rest = "the rest follow from" if view.derived else "all are in"
    return f"The {shown} largest of {number(cells)} cells; {rest} {view.file}.{rounded}"


def files(views: list[View]) -> Table:
    """Return the list of Parquet files."""
    rows = tuple(
        (view.file, view.name, number(view.count.size), number(view.unclear), f"± {error(float(np.median(view.half)))}")
        for view in views
    )
    names = ("file", "attributes", "cells", "interval reaches 0", "median interval")
    return Table(names=names, labels=2, rows=rows, note="")


def attributes(release: Release, fates: Mapping[str, str]) -> Table:
    """Return how every attribute's values were counted; `fates` says what became of those rejected or dropped."""
    rows = tuple(
        (one.name, type(one).__name__.lower(), number(one.size), _outside(one, fates), _missing(one, fates))
        for one in release.schema.tabular
    )
    names = ("attribute", "kind", "cells", "other values", "missing values")
    return Table(names=names, labels=2, rows=rows, note="")


def _outside(attribute: Tabular, fates: Mapping[str, str]) -> str:
    if isinstance(attribute, Listed):
        return _fate(attribute.other, fates)
    low, high = attribute.ends[0], attribute.ends[1] - isinstance(attribute, Integer)
    bounds = f"outside {low:g} to {high:g}: "
    return bounds + ("counted in the nearest cell" if attribute.outside == "clamp" else _fate(attribute.outside, fates))


def _missing(attribute: Tabular, fates: Mapping[str, str]) -> str:
    null = attribute.null
    if null is None and not isinstance(attribute, Bounded):
        null = attribute.other
    return _fate(null or "", fates)


def _fate(rule: str, fates: Mapping[str, str]) -> str:
    return fates.get(rule, f"counted in the cell “{rule}”")
