"""From whatever names rows to their source: a file, a folder, a glob, a list of files, or a table in memory."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw

from dpress.core.attribute import Bounded, Listed, Tabular
from dpress.core.database_url import is_postgres
from dpress.core.errors import SchemaMismatch
from dpress.data.file_format import COMPRESSED, SEPARATORS, FileFormat, kind_of
from dpress.data.sources import files, path_columns, table_name
from dpress.data.sources.arrow_rows import ARROW, ArrowRows
from dpress.data.sources.duckdb_rows import DATABASES, DuckdbRows
from dpress.data.sources.lazy_frames import stream_of
from dpress.data.sources.memory_rows import MemoryRows
from dpress.data.sources.parquet_rows import ParquetRows
from dpress.data.sources.relation_rows import RelationRows
from dpress.data.sources.source import Source
from dpress.data.sources.spark_frame import SparkFrame
from dpress.data.sources.sql_text import Values
from dpress.data.sources.text_rows import TextFile, TextRows

PARQUET = ".parquet"
FILES = (*SEPARATORS, PARQUET, *ARROW)
PLAIN = FileFormat()


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
    data: Any, written: FileFormat = PLAIN, attributes: Iterable[Tabular] = (), *, engine: str | None = None
) -> Rows:
    """Return the source of rows; no row is read.

    Args:
        data: a file, a folder, a glob or a list of files; a table in memory; or rows that were found before.
        written: how files of text are written.
        attributes: that will be read, for how their values are written.
        engine: that will count them; left out, the one that the source suggests.

    Raises:
        ValueError: there is no such engine.
        OSError: a folder, or a glob, without a file.
        SchemaMismatch: files of a kind that is not read, or of several kinds.
    """
    if isinstance(data, Rows):
        return data
    return Rows(_source(data, written, tuple(attributes)), engine)


def _source(data: Any, written: FileFormat, attributes: tuple[Tabular, ...]) -> Source:
    if not isinstance(data, (str, Path)) and not _is_list_of_files(data):
        return _in_python(data)
    if isinstance(data, (str, Path)) and (database := _database(str(data))) is not None:
        return database
    found, folder = files.named(data), files.folder_of(data)
    source = _of_files(found, files.label(data, found), written, attributes)
    values = path_columns.stated(found, folder) if folder is not None else {}
    return path_columns.PathRows(source=source, values=values) if values else source


def _of_files(
    found: tuple[Path, ...], label: str, written: FileFormat, attributes: tuple[Tabular, ...]
) -> path_columns.FileSource:
    kinds = [kind_of(path) for path in found]
    _check_kind(found[0])
    files.check_endings(found, kinds)
    if kinds[0] == PARQUET:
        return ParquetRows(files=found, label=label)
    if kinds[0] in ARROW:
        return ArrowRows(files=found, label=label)
    values = _values(written, attributes)
    return TextRows(files=tuple(TextFile(path=path, values=values) for path in found), label=label)


def _in_python(data: Any) -> Source:
    """Return the rows of what a library holds: streamed where it can, else as a table in memory."""
    native = nw.to_native(data, pass_through=True)
    if isinstance(native, duckdb.DuckDBPyRelation):
        return RelationRows(data=native)
    if type(native).__module__.startswith("pyspark.sql"):
        return SparkFrame(frame=native)
    return stream_of(native) or MemoryRows(data)


def _database(data: str) -> Source | None:
    """Return the table of a database, where one is named."""
    table_name.check_query(data)
    place, table = table_name.split(data)
    if is_postgres(place):
        from dpress.data.sources.postgres_rows import PostgresRows, named  # noqa: PLC0415  # the driver is an extra
        from dpress.data.sources.postgres_snapshot import Snapshot  # noqa: PLC0415

        return PostgresRows(table=table, snapshot=Snapshot(place, named(table)))
    return DuckdbRows(path=Path(place), table=table) if Path(place).suffix.lower() in DATABASES else None


def _is_list_of_files(data: Any) -> bool:
    return isinstance(data, (list, tuple)) and bool(data) and all(isinstance(one, (str, Path)) for one in data)


def _values(written: FileFormat, attributes: tuple[Tabular, ...]) -> Values:
    return Values(
        format=written,
        numbers=frozenset(one.name for one in attributes if _has_numbers(one)),
        dates=frozenset(one.name for one in attributes if written.date_format and _has_texts(one)),
    )


def _has_numbers(attribute: Tabular) -> bool:
    if isinstance(attribute, Listed):
        first = attribute.values[0]
        return isinstance(first, int) and not isinstance(first, bool)
    return isinstance(attribute, Bounded)


def _has_texts(attribute: Tabular) -> bool:
    return isinstance(attribute, Listed) and isinstance(attribute.values[0], str)


def _check_kind(path: Path) -> None:
    """Refuse a file that is of no kind that is read, by its name."""
    kind = kind_of(path)
    if kind not in FILES or (kind not in SEPARATORS and path.suffix.lower() in COMPRESSED):
        raise SchemaMismatch(
            f"{path}: expected a file with one of the endings {', '.join(FILES)} (.csv.gz and .csv.zst are read, too), "
            f"or a database: {', '.join(DATABASES)} and #TABLE, or postgresql://...#TABLE"
        )
