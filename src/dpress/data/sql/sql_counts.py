"""Counts where the rows are: one statement of an engine of SQL, whose answer is cells and how many rows each has."""

from collections.abc import Sequence

from dpress.core.domain import Schema
from dpress.core.errors import NotSupported, SchemaMismatch
from dpress.data.add_up import Counts
from dpress.data.sources.source import SqlSource, check_columns
from dpress.data.sql.cell_counts import cell_counts
from dpress.data.sql.coded_rows import Relation, relation_of
from dpress.data.sql.person_rows import bounded_query
from dpress.data.table import Table


def sql_counts(table: Table, schema: Schema, tables: Sequence[tuple[int, ...]]) -> Counts | None:
    """Return the counts of some tables, one after the other; None where an attribute is for the codec to read.

    Which of the two follows from the specification and the columns' declared types, never from a row.

    Args:
        table: the rows.
        schema: how they are coded.
        tables: the axes of every table.

    Raises:
        NotSupported: the rows are where no engine of SQL reads them.
        OSError, SchemaMismatch: see `Table.batches`.
    """
    table = table.settled()
    source = table.source
    if not isinstance(source, SqlSource):
        raise NotSupported(
            f"{source.name}: engine sql counts Parquet files and tables of DuckDB, PostgreSQL or Spark; use threads"
        )
    relation = relation_of(source)
    check_columns(source.name, schema.names, list(relation.declared))
    if table.unit.column is not None:
        query = bounded_query(source, table.unit, schema.names)
        relation = Relation(query=query, declared=relation.declared, dialect=relation.dialect)
    statement = cell_counts(schema, relation, tables)
    if statement is None:
        return None
    found = [column.to_numpy() for column in source.fetch(statement.sql).columns]
    if not len(found[0]):
        raise SchemaMismatch(f"{source.name} has no rows")
    table.check_unchanged()
    return statement.add_up(*found)
