"""Which published tables an answer comes from, and what the errors of their cells alone would add up to.

query, published tables -> those that hold its attributes -> the cells that it adds up -> `Source`s, the smallest first.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array
from dpress.query.boxes import products
from dpress.query.query_tree import Condition, Query

COUNTS = ("count", "difference")  # answers that add up each cell once

Cells = npt.NDArray[np.bool_]
Table = tuple[str, tuple[Tabular, ...], Array]
"""The file, the attributes and the variance of every cell, flat, of a published table."""
MOST = 8  # tables that a refusal names


def some_of(tables: Sequence[Sequence[str]]) -> str:
    """Return the names of tables, by their attributes; of many the first ones, and how many there are.

    >>> some_of([("age", "sex"), ("ward",)])
    'age x sex, ward'
    """
    names = ", ".join(" x ".join(names) for names in tables[:MOST])
    return names + (f", ... ({len(tables):,} in all)" if len(tables) > MOST else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A published table that an answer comes from, or may come from.

    Args:
        file: of the release.
        attributes: of the table.
        parts: how many of its cells, groups or atoms are added up; of a map, cells by their area.
        unit: what these are.
        sums: of groups, which of their sums.
        error: the standard error of one of them alone, the root of their mean square; None where none is known.
        independent: the error that so many independent ones would have; None where the answer is no sum of them.
    """

    file: str
    attributes: tuple[str, ...]
    parts: float
    unit: str = "cells"
    sums: tuple[str, ...] = ()
    error: float | None = None
    independent: float | None = None


def source(file: str, attributes: tuple[str, ...], variances: Array, query: Query, unit: str = "cells") -> Source:
    """Return a table that a query adds up parts of, from the variances of these."""
    total, parts = math.fsum(variances.tolist()), int(variances.size)
    return Source(
        file=file,
        attributes=attributes,
        parts=parts,
        unit=unit,
        error=math.sqrt(total / parts) if parts else None,
        independent=math.sqrt(total) if query.of in COUNTS else None,
    )


def of_tables(tables: Iterable[Table], query: Query) -> tuple[Source, ...]:
    """Return the tables that hold all attributes of a query, that of the fewest cells first: it gives the answer.

    Args:
        tables: all that are published.
        query: that was answered.

    Raises:
        ValueError: a condition asks for part of a cell.
    """
    tables = [*tables]
    used = _attributes_of(tables, query) | {test.attribute for rows in query.rows for test in rows.tests}
    holding = [table for table in tables if used <= {axis.name for axis in table[1]}]
    holding.sort(key=lambda table: table[2].size)
    return tuple(
        source(file, tuple(axis.name for axis in axes), variances[cells_of(axes, query)], query)
        for file, axes, variances in holding
    )


def _attributes_of(tables: Sequence[Table], query: Query) -> set[str]:
    """Return the attributes that a statistic, or a relation, is about."""
    if query.of != "relation":
        return {query.attribute} - {""}
    from dpress.query.relation_grammar import relation  # noqa: PLC0415  # read by few

    names = tuple(dict.fromkeys(axis.name for _, axes, _ in tables for axis in axes))
    return {*relation(names, query.attribute).attributes}


def cells_of(axes: tuple[Tabular, ...], query: Query) -> Cells:
    """Return which cells of a table a query adds up: of a difference those that the two counts do not share."""
    schema = Schema(axes)
    first, *others = (_cells(schema, rows) for rows in query.rows)
    for cells in others:
        first = first ^ cells if query.of == "difference" else first | cells
    return first


def _cells(schema: Schema, rows: Condition) -> Cells:
    """Return which cells a condition asks for, shape (cells,)."""
    cells = np.zeros(math.prod(schema.shape), dtype=np.bool_)
    for weights in products(schema, rows):
        box = np.ones(1, dtype=np.bool_)
        for along in weights:
            box = np.logical_and.outer(box, along != 0).ravel()
        cells |= box
    return cells
