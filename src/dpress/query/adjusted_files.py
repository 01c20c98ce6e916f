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
    shape, axes = release.schema.shape, tables.decoder.tables
    sizes = [math.prod(shape[axis] for axis in along) for along in axes]
    return tuple(_counts(folder / name, size) for name, size in zip(tables.tables, sizes, strict=True))


def _counts(file: Path, size: int) -> Array:
    table = columns(file)
    if ADJUSTED not in table.column_names or table.num_rows != size:
        raise SchemaMismatch(f"{file.name} is not the one of its design: expected {size:,} counts in `{ADJUSTED}`")
    return np.asarray(table[ADJUSTED].to_numpy(), dtype=np.float64)
