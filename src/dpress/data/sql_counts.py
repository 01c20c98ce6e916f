"""Counts where the rows are: statements of an engine of SQL, whose answers are cells and how many rows each has."""

from collections.abc import Sequence

import pyarrow as pa

from dpress.attributes.domain import Schema
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.add_up import Counts, Progress
from dpress.data.fold import Kernel, count, fold
from dpress.data.sources.open_source import Rows
from dpress.data.sql.cell_counts import cell_counts
from dpress.data.sql.coded_rows import Relation, check_wanted, code_expressions, coded, encode_coded, relation_of
from dpress.data.sql.grouped_rows import grouped_counts, is_grouped
from dpress.data.sql.person_rows import bounded_query
from dpress.data.table import Table


def sql_counts(
    table: Table, schema: Schema, tables: Sequence[tuple[int, ...]], *, progress: Progress | None = None
) -> Counts:
    """Return the counts of some tables, one after the other.

    Where an attribute is for the codec to read, or the persons of a file for the draw, the rows go through the fold, a
    database's with the codes of all other attributes. Whether they do follows from the specification and the columns'
    declared types, never from a row.

    Args:
        table: the rows.
        schema: how they are coded.
        tables: the axes of every table.
        progress: called with the number of rows that went through the fold so far.

    Raises:
        NotSupported: the rows are where no engine of SQL reads them.
        OSError, SchemaMismatch: see `Table.batches`.
    """
    table = table.drawn() if table.source.database else table.settled()
    source = table.source
    relation = relation_of(source)
    persons = table.unit.columns
    check_wanted(source, relation, (*schema.columns, *persons))
    if persons and len(code_expressions(schema, relation)) == len(schema.names):
        if any(relation.column(column).kind is None for column in persons) and not source.database:
            return folded(table, schema, count(schema.shape, tables), progress)
        query = bounded_query(source, table.unit, schema.columns)
        relation = Relation(query=query, declared=relation.declared, dialect=relation.dialect)
    if not persons and len(code_expressions(schema, relation)) < len(schema.names) and is_grouped(schema, relation):
        counts = grouped_counts(source, schema, relation, tables)
        table.check_unchanged()
        return counts
    if (counting := cell_counts(schema, relation, tables)) is None:
        return folded(table, schema, count(schema.shape, tables), progress)
    answers = pa.concat_tables([source.fetch(statement) for statement in counting.statements])
    columns = [column.to_numpy() for column in answers.columns]
    if not columns[2].sum():
        raise SchemaMismatch(f"{source.name} has no rows to count")
    table.check_unchanged()
    return counting.add_up(*columns)


def folded(table: Table, schema: Schema, kernel: Kernel, progress: Progress | None) -> Counts:
    """Return the sum of a kernel over the rows: a database's with the codes of what its engine can code.

    Args:
        table: the rows; of a database those that `Table.drawn` returns.
        schema: how they are coded.
        kernel: see `fold`.
        progress: called with the number of rows done so far.

    Raises:
        OSError, SchemaMismatch: see `fold`.
    """
    if not table.source.database:
        return fold(table, schema, kernel, progress=progress)
    database = coded(table.source, schema)
    rows = Table(Rows(database, "spark" if database.dialect == "spark" else "threads"), tuple(database.columns()), ROW)
    return fold(rows, schema, kernel, progress=progress, encode=encode_coded)
