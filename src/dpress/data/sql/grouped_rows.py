"""Counts of tables where an engine groups rows by raw codes, of which a column has few beside its rows.

relation -> GROUP BY what the engine codes and the raw codes -> (codes, raw codes, count) -> cells of the codec -> sums.
Codes of a tree of a country have no CASE that an engine could read; its groups are as many as there are cells at most.
"""

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from sqlglot import exp

from dpress.attributes.domain import Schema
from dpress.attributes.policy import DROPPED
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.methods.table_cells import table_cells
from dpress.data.add_up import Counts
from dpress.data.sources.source import Source
from dpress.data.sql.coded_rows import Relation, all_codes, code_expressions, coded_columns

COUNT = "dpress_count"
GROUPS = 1 << 16  # at a time


def is_grouped(schema: Schema, relation: Relation) -> bool:
    """Return whether all columns that the engine does not code have few different values."""
    codes = code_expressions(schema, relation)
    return all(axis.few_values for axis in schema.tabular if axis.name not in codes)


def grouped_select(schema: Schema, relation: Relation) -> str:
    """Return a query of one row for all rows that have the same codes and raw columns, and how many they are."""
    columns = coded_columns(schema, relation)
    rows = exp.select(*(exp.alias_(value, name, quoted=True) for name, value in columns.items())).from_(relation.source)
    names = [exp.column(name, quoted=True) for name in columns]
    count = exp.alias_(exp.cast(exp.Count(this=exp.Star()), "bigint"), COUNT, quoted=True)
    groups = exp.select(*names, count).from_(rows.subquery("dpress_keys")).group_by(*(name.copy() for name in names))
    return groups.sql(dialect=relation.dialect)


def grouped_counts(source: Source, schema: Schema, relation: Relation, tables: Sequence[Sequence[int]]) -> Counts:
    """Return the counts of some tables, one after the other, from the groups of the engine.

    Raises:
        SchemaMismatch: there are no rows, or the specification rejects a value.
        OSError: the rows cannot be read.
    """
    groups = source.fetch(grouped_select(schema, relation))
    if not groups.num_rows:
        raise SchemaMismatch(f"{source.name} has no rows to count")
    totals = [np.zeros(math.prod(schema.shape[axis] for axis in axes), dtype=np.int64) for axes in tables]
    for batch in groups.combine_chunks().to_batches(max_chunksize=GROUPS):
        codes, counts = all_codes(schema, batch), np.asarray(batch.column(COUNT).cast(pa.int64()))
        keep = (codes != DROPPED).all(axis=0)
        for total, axes in zip(totals, tables, strict=True):
            np.add.at(total, table_cells(codes[:, keep], schema.shape, axes), counts[keep])
    return np.concatenate(totals)
