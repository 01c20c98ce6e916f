"""From whatever names rows to their source: a file, a folder, a glob, a list of files, or a table in memory."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw

from dpress.attributes.attribute import Tabular
from dpress.core.basics import regular_file
from dpress.core.basics.database_url import check_no_password, is_postgres
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources import files, mysql_snapshot, path_columns, table_name
from dpress.data.sources.by_ending import FILES, FileSource, Written
from dpress.data.sources.duckdb_rows import DATABASES, DuckdbRows
from dpress.data.sources.lazy_frames import stream_of
from dpress.data.sources.memory_rows import MemoryRows
from dpress.data.sources.relation_rows import RelationRows
from dpress.data.sources.source import Source
from dpress.data.sources.spark_frame import SparkFrame
from dpress.data.sources.workbook_rows import WORKBOOKS, Sheet
from dpress.data.specification.file_format import COMPRESSED, SEPARATORS, FileFormat, kind_of

PLAIN = FileFormat()


SAVED = "save the rows as CSV or Parquet first"
OTHER_FILES = {
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), f"JSON is not read; {SAVED}"),
    **dict.fromkeys((".txt", ".dat", ".text"), "name a file of text .csv or .tsv, and state its `separator` in [data]"),
    **dict.fromkeys(
        (".zip", ".7z", ".tar", ".tgz", ".rar"), "an archive is not read; unpack it (.csv.gz and .csv.zst are)"
    ),
    **dict.fromkeys((".sqlite", ".sqlite3", ".sqlitedb"), f"a database of SQLite is not read; {SAVED}"),
    **dict.fromkeys(
        (".rds", ".rdata", ".pkl", ".pickle", ".mdb", ".accdb", ".html", ".pdf", ".xml"), f"not read; {SAVED}"
    ),
}
"""What people name, by its ending, and what to do with it."""
OTHER_DATABASES = (
    "sqlite",
    "oracle",
    "mssql",
    "sqlserver",
    "snowflake",
    "bigquery",
    "duckdb",
    "jdbc",
)


NO_JOINS = "tables of MariaDB and MySQL are not joined here: make a view that joins them by the unit, and name that"
ENGINES = ("threads", "sql", "spark")


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that were found, as those that count them are handed them.

    Args:
        source: of the rows.
        engine: that counts them, one of ENGINES; None for the one that the source suggests.
    """

    source: Source
    engine: str | None = None

    def __post_init__(self) -> None:
        if self.engine not in (None, *ENGINES):
            raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {self.engine!r}")


def open_source(
    data: Any,
    written: FileFormat = PLAIN,
    attributes: Iterable[Tabular] = (),
    *,
    engine: str | None = None,
    unit: Sequence[str] = (),
) -> Rows:
    """Return the source of rows; no row is read.

    Args:
        data: a file, a folder, a glob or a list of files; a table in memory; or rows that were found before.
        written: how files of text are written.
        attributes: that will be read, for how their values are written.
        engine: that will count them; left out, the one that the source suggests.
        unit: the columns that name a person, by which alone tables are joined; without any none are.

    Raises:
        ValueError: there is no such engine.
        OSError: a folder, or a glob, without a file.
        SchemaMismatch: files of a kind that is not read, or of several kinds.
        ValueError: a URL that holds a password; it is not shown.
    """
    if isinstance(data, Rows):
        return data
    return Rows(_source(data, written, tuple(attributes), unit, far=engine == "spark"), engine)


def _source(
    data: Any, written: FileFormat, attributes: tuple[Tabular, ...], unit: Sequence[str], *, far: bool
) -> Source:
    """Return the source; of files that are read far from here by paths that do not depend on the working folder."""
    if not isinstance(data, (str, Path)) and not _is_list_of_files(data):
        return _in_python(data)
    for path in [data] if isinstance(data, (str, Path)) else data:
        check_no_password(str(path), "the rows")
    if isinstance(data, (str, Path)) and (database := _database(str(data), unit)) is not None:
        return database
    place, sheet = _sheet(data)
    paths, folder = files.named(place), files.folder_of(place)
    if far:
        paths, folder = tuple(path.absolute() for path in paths), folder and folder.absolute()
    source = _of_files(paths, files.label(data, paths), Written(written, attributes, sheet))
    values = path_columns.stated(paths, folder) if folder is not None else {}
    return path_columns.PathRows(source=source, values=values) if values else source


def _of_files(paths: tuple[Path, ...], label: str, written: Written) -> FileSource:
    kinds = [kind_of(file) for file in paths]
    _check_kind(paths[0])
    for file in paths:
        regular_file.check(file)
    files.check_endings(paths, kinds)
    return FILES[kinds[0]](paths, label, written)


def _in_python(data: Any) -> Source:
    """Return the rows of what a library holds: streamed where it can, else as a table in memory."""
    native = nw.to_native(data, pass_through=True)
    if isinstance(native, duckdb.DuckDBPyRelation):
        return RelationRows(data=native)
    if type(native).__module__.startswith("pyspark.sql"):
        return SparkFrame(frame=native)
    return stream_of(native) or MemoryRows(data)


def _database(data: str, unit: Sequence[str]) -> Source | None:
    """Return the table of a database, or several that are joined, where it names one."""
    table_name.check_query(data)
    place, named = table_name.split(data)
    if (tables := _tables(place, named)) is None:
        return None
    if not table_name.is_joined(named):
        return tables(named)
    if mysql_snapshot.is_mysql(place):
        raise SchemaMismatch(NO_JOINS)
    from dpress.data.sources import joined_tables  # noqa: PLC0415  # a parser of SQL, which few sources need

    joined = joined_tables.read(named, "the database" if is_postgres(place) else place, unit)
    query, types = joined_tables.selected(joined, [tables(name) for name in joined.tables])
    return tables(joined.tables[0], joined.others).queried(query, types)


def _tables(place: str, named: str) -> Callable[..., Source] | None:
    """Return what opens a table of a database, all of them at one moment; None where no database is named."""
    if is_postgres(place):
        from dpress.data.sources import postgres_rows  # noqa: PLC0415  # the driver is an extra
        from dpress.data.sources.postgres_snapshot import Snapshot  # noqa: PLC0415

        snapshot = Snapshot(place, postgres_rows.named(named))
        return lambda table, joined="": postgres_rows.PostgresRows(table=table, snapshot=snapshot, joined=joined)
    if mysql_snapshot.is_mysql(place):
        from dpress.data.sources import mysql_rows  # noqa: PLC0415  # the driver is an extra

        moment = mysql_snapshot.Snapshot(place, mysql_rows.named(named))
        return lambda table: mysql_rows.MysqlRows(table=table, snapshot=moment)
    if is_database(place):
        return lambda table, joined="": DuckdbRows(path=Path(place), table=table, joined=joined)
    return None


def is_database(place: str) -> bool:
    """Return whether tables stand behind `#` of a place."""
    return is_postgres(place) or Path(place).suffix.lower() in DATABASES


def sheet_of(data: str) -> Sheet | None:
    """Return the sheet of a workbook that a text names, of several workbooks that of the first; None for none.

    Raises:
        OSError: there is no such file, or it is empty.
    """
    place, sheet = table_name.split(data)
    if Path(place).suffix.lower() not in WORKBOOKS:
        return None
    paths = files.named(place)
    files.stamp_of(paths)
    return Sheet(path=paths[0], sheet=sheet, format=PLAIN)


def _sheet(data: Any) -> tuple[Any, str]:
    """Return what names files, and the sheet behind `#` where they are workbooks."""
    if not isinstance(data, (str, Path)):
        return data, ""
    place, sheet = table_name.split(str(data))
    return (place, sheet) if Path(place).suffix.lower() in WORKBOOKS else (data, "")


def _is_list_of_files(data: Any) -> bool:
    return isinstance(data, (list, tuple)) and bool(data) and all(isinstance(path, (str, Path)) for path in data)


def _check_kind(path: Path) -> None:
    """Refuse a file that is of no kind that is read, by its name."""
    kind = kind_of(path)
    if address := re.match(r"(\w{2,}):/", str(path)):
        database = (
            "; a database is one of PostgreSQL, postgresql://HOST/DATABASE#TABLE, of MariaDB or MySQL, mysql://..., "
            "or a file of DuckDB; of others Python takes an ibis table or a reader of Arrow"
        )
        what = database if address[1] in OTHER_DATABASES else ""
        shown = f"{address[0]}/{str(path)[address.end() :]}"  # a path has one of the two strokes of an address
        raise SchemaMismatch(f"{shown}: expected a file of this computer; save the rows as one first{what}")
    if path.parts[:1] == ("~",):
        raise SchemaMismatch(f"{path}: expected a path that begins with / or beside the specification, not with ~")
    if "#" in path.name and kind_of(Path(path.name.partition("#")[0])) in SEPARATORS:
        raise SchemaMismatch(f"{path}: a file of text is one table; leave out what stands behind #")
    if hint := OTHER_FILES.get(kind_of(Path(path.name.partition("#")[0])), ""):
        raise SchemaMismatch(f"{path}: {hint}")
    if kind not in FILES or (kind not in SEPARATORS and path.suffix.lower() in COMPRESSED):
        raise SchemaMismatch(
            f"{path}: expected a file with one of the endings {', '.join(FILES)} (.csv.gz and .csv.zst are read, too), "
            f"or a database: {', '.join(DATABASES)} and #TABLE, postgresql://...#TABLE or mysql://...#TABLE"
        )
