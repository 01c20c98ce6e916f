"""Exact counts of tables, and other sums over rows, by whatever engine reads them: the same to the last one."""

import contextlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.core.maps.atoms import Atoms
from dpress.data.add_up import Counts, Progress, added
from dpress.data.fold import Kernel, count, fold
from dpress.data.kept_sums import KeptSums
from dpress.data.table import Table

MOST_CELLS = 1 << 22  # 32 MB of counts


def true_counts(
    schema: Schema,
    tables: Sequence[tuple[int, ...]],
    source: Any,
    unit: Unit,
    *,
    progress: Progress | None = None,
    kept: KeptSums | None = None,
) -> Counts:
    """Return the exact counts of some tables, one after the other: private, never written anywhere.

    Args:
        schema: how rows are coded.
        tables: the axes of every table.
        source: the rows, as `open_source` takes or returns them.
        unit: whose contribution is bounded; `ROW` counts every row.
        progress: called with the number of rows counted so far.
        kept: of parts that are counted; see `fold`.

    Raises:
        OSError, SchemaMismatch: see `fold`.
    """
    table = Table(source, schema.columns, unit)
    if _by_statement(table):
        from dpress.data.sql_counts import sql_counts  # noqa: PLC0415  # sqlglot takes a while to import

        return sql_counts(table, schema, tables, progress=progress)
    return fold(table, schema, count(schema.shape, tables), progress=progress, kept=kept)


def atom_counts(schema: Schema, atoms: Atoms, source: Any, unit: Unit, *, progress: Progress | None = None) -> Counts:
    """Return the exact counts of the atoms of some predicates, shape (atoms,): private, never written anywhere.

    Each row adds 1 to one of them. The table of all cells is not formed, but where an engine counts it, see `row_sums`.

    Args:
        schema: how rows are coded.
        atoms: over the schema's cells.
        source: see `true_counts`.
        unit: whose contribution is bounded.
        progress: called with the number of rows counted so far.

    Raises:
        SchemaMismatch: the atoms are those of other attributes; or see `fold`.
        OSError: see `fold`.
    """
    check_shape(schema, atoms.shape)
    return row_sums(schema, atoms.counts, source, unit, progress=progress)


def check_shape(schema: Schema, shape: tuple[int, ...]) -> None:
    """Refuse predicates about the cells of other attributes."""
    if shape != schema.shape:
        raise SchemaMismatch(f"the predicates are about cells {shape}, the attributes have {schema.shape}")


def row_sums(
    schema: Schema,
    kernel: Kernel,
    source: Any,
    unit: Unit,
    *,
    progress: Progress | None = None,
    kept: KeptSums | None = None,
) -> Counts:
    """Return the sum of a kernel over all rows.

    Where an engine counts by statements, it counts all cells if they are at most MOST_CELLS, and the kernel sees these;
    of a database with more, the rows go through the fold with the codes that it gives.

    Args:
        schema: how rows are coded.
        kernel: see `fold`.
        source: see `true_counts`.
        unit: whose contribution is bounded.
        progress: called with the number of rows done so far.
        kept: of parts that are summed; see `fold`.

    Raises:
        OSError, SchemaMismatch: see `fold`.
    """
    table = Table(source, schema.columns, unit)
    if _by_statement(table) and math.prod(schema.shape) <= MOST_CELLS:
        axes = tuple(range(len(schema.shape)))
        with contextlib.suppress(NotSupported):  # a condition that SQL does not compare: the rows are read
            return cell_sums(true_counts(schema, [axes], source, unit, progress=progress), schema.shape, kernel)
    if not table.source.database:
        return fold(table, schema, kernel, progress=progress, kept=kept)
    from dpress.data.sql_counts import folded  # noqa: PLC0415  # sqlglot takes a while to import

    return folded(table.drawn(), schema, kernel, progress)


def cell_sums(counts: Counts, shape: Sequence[int], kernel: Kernel) -> Counts:
    """Return the sum of a kernel over as many rows of every cell as are counted: once for every bit of the counts.

    Args:
        counts: of all cells, flattened.
        shape: the cells along every axis.
        kernel: see `fold`.

    >>> cell_sums(np.array([0, 5, 3]), (3,), lambda codes: np.array([codes.sum()])).tolist()
    [11]
    """
    places = np.flatnonzero(counts)
    codes, times = np.stack(np.unravel_index(places, shape)).astype(np.int32), counts[places]
    total = added(None, kernel(codes[:, :0]))
    for bit in range(int(times.max(initial=0)).bit_length()):
        total += added(None, kernel(codes[:, times >> bit & 1 == 1])) << bit
    return total


def _by_statement(table: Table) -> bool:
    """Return whether an engine of SQL is to count the rows."""
    return table.engine == "sql" or (table.engine == "spark" and table.source.database)
