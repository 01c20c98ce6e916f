"""Counts of tables by few statements: only cells and how many rows are in each come back from the engine.

codes -> the row's cell in each table -> GROUP BY -> (table, cell, count) -> the counts of `data.fold.count`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from dpress.attributes.domain import Schema
from dpress.attributes.policy import DROPPED, MISSING, OUTSIDE
from dpress.attributes.sql.engine_column import whole
from dpress.core.methods.table_cells import table_cells
from dpress.data.sql.code_expression import beside_cells, settled
from dpress.data.sql.coded_rows import Relation, code_expressions, refuse
from dpress.data.sql.group_keys import GroupedCode, grouped_code, ungrouped

Axes = tuple[int, ...]
Places = npt.NDArray[np.int64]

MOST_TOGETHER = 1 << 12  # cells of all axes up to which one table over them is counted and added up afterwards
BESIDE = -MISSING  # codes below the first cell: DROPPED, OUTSIDE, MISSING
LARGEST_PLACE = (1 << 63) - 1
LARGEST_SHORT = (1 << 15) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CellCounts:
    """Statements that count tables, and what their rows mean; nothing here depends on the rows of the relation.

    A statement returns (table, place, count) in any order, all 64-bit integers: a number of `counted`, a place, and
    the rows there. A place is a number with one digit for each axis, its code and BESIDE more, so that what is left out
    or rejected has places, too; before them stands, likewise, the lowest code of the attributes that drop rows and are
    not among the axes, 0 if it is a cell. A value that is rejected has its place in a table of its own attribute.

    Args:
        schema: of tabular attributes.
        tables: the axes of every table that is asked.
        counted: the axes of every table that the engine counts.
        statements: one for each counted table; on Spark one for them all, so that it is one job.
    """

    schema: Schema
    tables: tuple[Axes, ...]
    counted: tuple[Axes, ...]
    statements: tuple[str, ...]

    def add_up(self, table: Places, place: Places, count: Places) -> Places:
        """Return the counts of all tables one after the other, flattened, zero where no row is.

        Args:
            table: the statements' first column, one after the other.
            place: its second.
            count: its third.

        Raises:
            SchemaMismatch: the specification rejects a value (it is not shown).
        """
        counts = []
        lowest = dict.fromkeys(range(len(self.schema.names)), 0)
        for number, axes in enumerate(self.counted):
            of_table = table == number
            sizes = [1 + BESIDE, *(self.schema.shape[axis] + BESIDE for axis in axes)]
            codes = np.stack(np.unravel_index(place[of_table], sizes)) - BESIDE
            lowest |= dict(zip(axes, codes.min(axis=1, initial=0)[1:].tolist(), strict=True))
            kept = (codes >= 0).all(axis=0)
            counts.append((codes[1:, kept], count[of_table][kept]))
        for axis, code in lowest.items():
            refuse(self.schema, axis, code)
        return np.concatenate([self._table(axes, counts) for axes in self.tables])

    def _table(self, axes: Axes, counts: list[tuple[Places, Places]]) -> Places:
        """Return one table, from its own count or that over all axes."""
        source = self.counted.index(axes) if axes in self.counted else 0
        codes, count = counts[source]
        counted, shape = self.counted[source], self.schema.shape
        places = table_cells(codes, [shape[axis] for axis in counted], [counted.index(axis) for axis in axes])
        totals = np.zeros(math.prod(shape[axis] for axis in axes), dtype=np.int64)
        np.add.at(totals, places, count)
        return totals


def cell_counts(schema: Schema, relation: Relation, tables: Sequence[Sequence[int]]) -> CellCounts | None:
    """Return the statements that count tables; None where an attribute is for the codec to read.

    A row is left out of every table where any attribute of the schema drops it. Where the table over all axes is small
    it alone is counted; otherwise each is, and besides every attribute that can leave out a row and is in none of them.

    Args:
        schema: of tabular attributes.
        relation: the rows.
        tables: the axes of every table; their cells together must fit 63 bits.
    """
    codes = code_expressions(schema, relation)
    if len(codes) < len(schema.names):
        return None
    wanted = tuple(tuple(axes) for axes in tables)
    leaving = [axis for axis, attribute in enumerate(schema.tabular) if beside_cells(attribute)]
    together = tuple(sorted({*leaving, *(axis for axes in wanted for axis in axes)}))
    if _cells(schema, together) <= MOST_TOGETHER:
        counted: tuple[Axes, ...] = (together,)
    else:
        alone = set(leaving) - {axis for axes in wanted for axis in axes}
        counted = (*dict.fromkeys(wanted), *((axis,) for axis in sorted(alone)))
    if max(_cells(schema, axes) for axes in counted) > LARGEST_PLACE:
        return None
    parts = tuple(statement.sql(dialect=relation.dialect) for statement in _counts(schema, relation, codes, counted))
    statements = (" UNION ALL ".join(parts),) if relation.dialect == "spark" else parts
    return CellCounts(schema=schema, tables=wanted, counted=counted, statements=statements)


def _cells(schema: Schema, axes: Axes) -> int:
    return (1 + BESIDE) * math.prod(schema.shape[axis] + BESIDE for axis in axes)


def _counts(
    schema: Schema, relation: Relation, codes: dict[str, exp.Expr], counted: tuple[Axes, ...]
) -> list[exp.Select]:
    """Return a query for every table: keys, then how many rows have the same, then the place of their codes."""
    statements = []
    dropping = [axis for axis, attribute in enumerate(schema.tabular) if DROPPED in beside_cells(attribute)]
    for number, axes in enumerate(counted):
        others = [axis for axis in dropping if axis not in axes]
        grouped = {f"code{axis}": _grouped(schema, codes, axis) for axis in axes}
        if others:
            lowest = [whole(0), *(codes[schema.names[axis]].copy() for axis in others)]
            least = exp.Least(this=lowest[0], expressions=lowest[1:], ignore_nulls=True)
            grouped["lowest"] = ungrouped(least, "lowest", "smallint")
        steps = {name: step for code in grouped.values() for name, step in code.steps.items()}
        keys = {name: key for code in grouped.values() for name, key in code.keys.items()} or {"code": whole(0)}
        rows = relation.source
        if steps:
            rows = exp.select(exp.Star(), *_aliased(steps)).from_(rows).subquery("dpress_steps")
        inner = exp.select(*_aliased(keys)).from_(rows).subquery("dpress_keys")
        count = exp.alias_(exp.cast(exp.Count(this=exp.Star()), "bigint"), "dpress_count")
        groups = exp.select(*keys, count).from_(inner).group_by(*keys).subquery("dpress_groups")
        table = exp.alias_(exp.cast(whole(number), "bigint"), "dpress_table")
        place = exp.alias_(_place(schema, axes, grouped), "dpress_place")
        statements.append(exp.select(table, place, "dpress_count").from_(groups))
    return statements


def _grouped(schema: Schema, codes: dict[str, exp.Expr], axis: int) -> GroupedCode:
    """Return an attribute's code in as few bits as hold it: the shorter, the faster engines group by it."""
    kind = "smallint" if schema.shape[axis] <= LARGEST_SHORT else "bigint"
    closed = settled(schema.tabular[axis], OUTSIDE) == OUTSIDE
    return grouped_code(codes[schema.names[axis]], f"code{axis}", kind, closed=closed)


def _aliased(columns: dict[str, exp.Expr]) -> list[exp.Expr]:
    return [exp.alias_(column.copy(), name) for name, column in columns.items()]


def _place(schema: Schema, axes: Axes, grouped: dict[str, GroupedCode]) -> exp.Expr:
    """Return the place of codes: its digits, the first of them the lowest code of the other attributes or 0."""
    sizes = [schema.shape[axis] + BESIDE for axis in axes]
    strides = [math.prod(sizes[digit:]) for digit in range(len(sizes) + 1)]
    digits = dict(zip(("lowest", *(f"code{axis}" for axis in axes)), strides, strict=True))
    place: exp.Expr = exp.cast(whole(BESIDE * sum(strides)), "bigint")
    for name, code in grouped.items():
        place = place + exp.cast(code.code.copy(), "bigint") * exp.cast(whole(digits[name]), "bigint")
    return place
