"""Rows in a table or view of MariaDB or MySQL, streamed as Arrow batches, all passes at one moment.

mysql://host/database#visits -> declared types -> every value as its text -> columns in types that arrive exactly.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import pyarrow as pa

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources import mysql_values, table_name
from dpress.data.sources.mysql_snapshot import Snapshot
from dpress.data.sources.source import Source, check_columns

ROWS = 1 << 14  # that are fetched at once
COLUMNS = """
SELECT column_name, data_type, column_type FROM information_schema.columns
WHERE table_schema = coalesce(%s, database()) AND table_name = %s ORDER BY ordinal_position
"""
TABLES = """
SELECT if(table_schema = database(), table_name, concat(table_schema, '.', table_name)) FROM information_schema.tables
WHERE table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys') ORDER BY 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MysqlRows(Source):
    """A table or view of MariaDB or MySQL; threads count it.

    Args:
        table: its name; the database's before it, and a point, where it is in another.
        snapshot: the moment at which it is read.
    """

    table: str
    snapshot: Snapshot
    stable: ClassVar[bool] = False  # the server chooses the order
    portable: ClassVar[bool] = False  # the moment is kept here

    @property
    def name(self) -> str:
        """What to call it in a message: the URL is not part of it."""
        return named(self.table)

    def stamp(self) -> None:
        """Return nothing: every pass sees the same moment."""

    def types(self) -> dict[str, str]:
        """Return the type of every column as the server writes it, of an enumeration without its values."""
        return {name: data if data in {"enum", "set"} else kind for name, (data, kind) in self._columns().items()}

    def columns(self) -> list[str]:
        """Return the names of all columns."""
        return list(self._columns())

    def parts(self, columns: Sequence[str]) -> Sequence["MysqlPart"]:
        """Return all rows."""
        present = self._columns()
        check_columns(self.name, columns, list(present), folds=True)
        kinds = {name: mysql_values.arrow_type(name, *present[name]) for name in columns}
        values = ", ".join(mysql_values.value(name, present[name][0]) for name in columns)
        return [MysqlPart(rows=self, query=f"SELECT {values} FROM {self._relation}", kinds=kinds)]  # noqa: S608  # quoted

    @property
    def _relation(self) -> str:
        return ".".join(mysql_values.quoted(part) for part in self._path)

    @property
    def _path(self) -> list[str]:
        return table_name.parts(self.table, "the database")

    def _columns(self) -> dict[str, tuple[str, str]]:
        """Return of every column its type without and with lengths."""
        *schema, table = self._path or [""]
        columns = self.snapshot.fetch(COLUMNS, (schema[-1] if schema else None, table)) if table else []
        if not columns:
            present = [str(row[0]) for row in self.snapshot.fetch(TABLES)]
            raise SchemaMismatch(table_name.missing(self.table, "the database", present))
        return {name: (str(data), str(kind)) for name, data, kind in columns}


@dataclass(frozen=True, slots=True, kw_only=True)
class MysqlPart:
    """All rows of a table.

    Args:
        rows: of the database.
        query: that selects them.
        kinds: Arrow's type of every column that is read; None for whole numbers of any length.
    """

    rows: MysqlRows
    query: str
    kinds: dict[str, pa.DataType | None]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in constant memory."""
        with self.rows.snapshot.streaming(self.query) as answer:
            while rows := answer(lambda cursor: cursor.fetchmany(ROWS)):
                yield answer(partial(self._batch, rows))

    def _batch(self, rows: Sequence[tuple[str | None, ...]], _: Any) -> pa.RecordBatch:
        columns = zip(*rows, strict=True)
        return mysql_values.batch(dict(zip(self.kinds, columns, strict=True)), self.kinds)


def named(table: str) -> str:
    """Return what to call a table in a message."""
    return f"the table {table!r} in MariaDB or MySQL" if table else "MariaDB or MySQL"
