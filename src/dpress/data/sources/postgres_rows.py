"""Rows in a table or view of PostgreSQL, as Arrow batches by binary COPY, all passes at one moment.

postgresql://host/database#visits -> declared types -> columns in types that arrive exactly -> batches, streamed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import pyarrow as pa

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources import postgres_values, table_name
from dpress.data.sources.postgres_snapshot import Snapshot, server_answer
from dpress.data.sources.source import BATCH_ROWS, Dialect, Source, check_columns, within
from dpress.data.sources.sql_text import quoted, text

HINT = "adbc.postgresql.batch_size_hint_bytes"
BATCH_BYTES = 1 << 23
COLUMNS = """
WITH RECURSIVE own AS (
  SELECT attnum AS place, attname AS name, type.oid AS kind, atttypmod AS modifier, typtype, typcategory, typbasetype,
    typtypmod
  FROM pg_attribute JOIN pg_type AS type ON type.oid = atttypid
  WHERE attrelid = to_regclass({}) AND attnum > 0 AND NOT attisdropped
  UNION ALL
  SELECT place, name, type.oid, own.typtypmod, type.typtype, type.typcategory, type.typbasetype, type.typtypmod
  FROM own JOIN pg_type AS type ON type.oid = own.typbasetype WHERE own.typtype = 'd'
)
SELECT name::text, format_type(kind, modifier) AS kind, typtype::text = 'e' OR typcategory::text = 'S' AS text_like
FROM own WHERE typtype <> 'd' ORDER BY place
"""  # of a domain, the type below it
TABLES = """
SELECT CASE WHEN pg_table_is_visible(pg_class.oid) THEN '' ELSE nspname || '.' END || relname AS name
FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relkind IN ('r', 'v', 'm', 'p', 'f') AND nspname NOT IN ('pg_catalog', 'information_schema')
  AND has_table_privilege(pg_class.oid, 'SELECT') ORDER BY 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresRows(Source):
    """A table or view of PostgreSQL.

    Args:
        table: its name; the schema's before it, and a point, where that is not on the search path.
        snapshot: the moment at which it is read.
        query: of ours that selects of it; empty for all rows.
        selected: the types of the columns that the query selects.
        joined: what the query joins to it, for messages.
    """

    table: str
    snapshot: Snapshot
    query: str = ""
    selected: Mapping[str, str] = field(default_factory=dict)
    joined: str = ""
    stable: ClassVar[bool] = False  # an engine chooses the order
    portable: ClassVar[bool] = False  # the moment is kept here
    dialect: ClassVar[Dialect | None] = "postgres"

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return named(self.table + self.joined)

    @property
    def relation(self) -> str:
        """The name of the table in SQL, or what selects of it."""
        return within(self.query) or self._table

    @property
    def _table(self) -> str:
        return table_name.relation(self.table, "the database")

    def queried(self, query: str, types: Mapping[str, str]) -> "PostgresRows":
        """Return what a query of ours selects."""
        return replace(self, query=query, selected=types)

    def stamp(self) -> None:
        """Return nothing: every pass sees the same moment."""

    def types(self) -> dict[str, str]:
        """Return the type of every column as PostgreSQL writes it; that below a domain, "text" of an enumeration."""
        return {name: "text" if text_like else kind for name, (kind, text_like) in self._columns().items()}

    def columns(self) -> list[str]:
        """Return the names of all columns."""
        return list(self._columns())

    def parts(self, columns: Sequence[str]) -> Sequence["PostgresPart"]:
        """Return all rows."""
        present = self._columns()
        check_columns(self.name, columns, list(present))
        kinds = {name: present[name] for name in columns}
        values = (
            f"{postgres_values.value(name, kind, text_like=text_like)} AS {quoted(name)}"
            for name, (kind, text_like) in kinds.items()
        )
        query = f"SELECT {', '.join(values)} FROM {self.relation}"  # noqa: S608  # names are quoted
        return [PostgresPart(rows=self, query=query, kinds={name: kind for name, (kind, _) in kinds.items()})]

    def fetch(self, statement: str) -> pa.Table:
        """Return what one statement selects."""
        return self.snapshot.fetch(statement)

    def _columns(self) -> dict[str, tuple[str, bool]]:
        """Return of every column its type, and whether it is one of texts."""
        columns = self.fetch(COLUMNS.format(text(self._table))).to_pylist() if self.table else []
        if not columns:
            present = self.fetch(TABLES)["name"].to_pylist()
            raise SchemaMismatch(table_name.missing(self.table, "the database", present))
        described = {column["name"]: (column["kind"], column["text_like"]) for column in columns}
        if not self.query:
            return described
        return {name: described.get(name, (kind, False)) for name, kind in self.selected.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresPart:
    """All rows of a table.

    Args:
        rows: of the database.
        query: that selects them.
        kinds: the declared type of every column that is read.
    """

    rows: PostgresRows
    query: str
    kinds: dict[str, str]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in constant memory."""
        with self.rows.snapshot.streaming() as cursor:
            cursor.adbc_statement.set_options(**{HINT: str(BATCH_BYTES)})
            reader: Any = server_answer(self.rows.name, cursor, partial(_begun, cursor, self.query))
            while (batch := server_answer(self.rows.name, cursor, partial(next, reader, None))) is not None:
                rows = server_answer(self.rows.name, cursor, partial(postgres_values.as_read, batch, self.kinds))
                for start in range(0, rows.num_rows, BATCH_ROWS):
                    yield rows.slice(start, BATCH_ROWS)


def named(table: str) -> str:
    """Return what to call a table in a message: the URL is not part of it."""
    return f"the table {table!r} in PostgreSQL" if table else "PostgreSQL"


def _begun(cursor: Any, query: str) -> Any:
    cursor.execute(query)
    return cursor.fetch_record_batch()
