"""The numbers that the live page shows: a release so far as plain data."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpress import catalog
from dpress.attributes.attribute import Tabular
from dpress.query.published_tables import PublishedTable
from dpress.query.release import Release
from dpress.release.devices.next_round import users_before

MOST_CELLS = 4096  # of a table, or of a map
DIGITS = 3  # after the point of a count
NO_FIGURES: Mapping[str, Any] = {
    "users": 0,
    "before": 0,
    "left_out": {},
    "approximate": False,
    "opening": (),
    "axes": {},
    "tables": [],
    "remarks": [],
}


def figures(release: Release) -> dict[str, Any]:
    """Return what is shown of a release: what was found, and every table with counts and 95 % intervals."""
    tables = list(release.answers.overview(MOST_CELLS))
    axes = {axis.name: axis for table in tables for axis in table.axes}
    shown = {tuple(axis.name for axis in table.axes) for table in tables}
    hidden = [" and ".join(names) for names in release.answers.tables.values() if names and names not in shown]
    return {
        "users": release.users,
        "before": users_before(release),
        "left_out": dict(release.rejected),
        "approximate": bool(getattr(release.answers, "approximate", False)),
        "opening": opening(release),
        "axes": {name: _axis(axis) for name, axis in axes.items()},
        "tables": [_table(table) for table in tables],
        "remarks": [*(f"The release has the table of {name}, too." for name in hidden), *release.answers.remarks],
    }


def opening(release: Release) -> tuple[str, ...]:
    """Return what was found so far, in the sentences that the page of the release opens with."""
    sentences = catalog.room(release.design.kind).page.opening
    return () if sentences is None else tuple(sentences(release))


def _axis(axis: Tabular) -> dict[str, Any]:
    """Return the names of an attribute's cells, and the edges of those that have an order of numbers."""
    edges = None if axis.scale is None else axis.scale.edges.tolist()
    return {"title": axis.caption, "labels": axis.captions, "edges": edges}


def _table(table: PublishedTable) -> dict[str, Any]:
    rows = table.table()
    numbers = {name: np.round(rows[name].to_numpy(), DIGITS).tolist() for name in ("count", "low", "high")}
    return {"axes": [axis.name for axis in table.axes], **numbers}
