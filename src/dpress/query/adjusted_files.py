"""Adjusted counts as they were published: they answer tomorrow what they answer today, whatever is better by then."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpress.core.basics.errors import SchemaMismatch
from dpress.core.maps.linear import Array
from dpress.query.folder import columns
from dpress.query.published_tables import ADJUSTED
from dpress.query.release import Release


def adjusted_counts(release: Release, manifest: Mapping[str, Any], folder: Path) -> tuple[Array, ...] | None:
    """Return the adjusted counts of every published table, each flat; None where they do not answer.

    Args:
        release: that is read.
        manifest: its description.
        folder: with its files.

    Raises:
        OSError: a file is missing.
        SchemaMismatch: one has no such column, or another number of rows.
    """
    del manifest
    tables: Any = release.answers
    if not tables.adjusted_answers:
        return None
    shape, places = release.schema.shape, dict[str, list[int]]()
    sizes = [math.prod(shape[axis] for axis in along) for along in tables.decoder.tables]
    for place, file in enumerate(tables.table_files):
        places.setdefault(file, []).append(place)
    counts = [np.zeros(0)] * len(sizes)
    for file, inside in places.items():
        ends = np.cumsum([sizes[place] for place in inside])
        for place, part in zip(inside, np.split(_counts(folder / file, ends[-1]), ends[:-1]), strict=True):
            counts[place] = part
    return tuple(counts)


def _counts(file: Path, size: int) -> Array:
    table = columns(file)
    if ADJUSTED not in table.column_names or table.num_rows != size:
        raise SchemaMismatch(f"{file.name} is not the one of its design: expected {size:,} counts in `{ADJUSTED}`")
    return np.asarray(table[ADJUSTED].to_numpy(), dtype=np.float64)
