"""Rows in CSV files, as their curator states that they are written: nothing is guessed from the rows.

path, format -> DuckDB reads every value as text (`transcoded` where the encoding is another than UTF-8) -> batches.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

import duckdb
import pyarrow as pa

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.files import Stamp, escaped, stamp_of
from dpress.data.sources.source import BATCH_ROWS, Source, check_columns, check_once, without_quotes
from dpress.data.sources.sql_text import AS_WRITTEN, Values, text
from dpress.data.sources.text_fault import Dialect, first_fault, header
from dpress.data.sources.transcoded import Transcoded, undecodable
from dpress.data.specification.file_format import SEPARATORS, UTF_8, FileFormat, codec, kind_of

READER = (
    "read_csv(?, all_varchar = true, header = {header}, delim = {delim}, quote = {quote}, escape = {quote}, "
    "comment = '', skip = 0, strict_mode = true, hive_partitioning = false, encoding = 'utf-8', "
    f"max_line_size = {1 << 24}, buffer_size = {1 << 25}"
    "{names})"
)  # a line may be long: by default one of more than 2 MB is refused
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A file of text with the format that its curator states.

    Args:
        path: of the file.
        values: how they are read.
    """

    path: Path
    values: Values

    @property
    def format(self) -> FileFormat:
        """As stated."""
        return self.values.format

    @property
    def separator(self) -> str:
        """The sign between fields."""
        return self.format.separator or SEPARATORS[kind_of(self.path)]

    @property
    def codec(self) -> str:
        """The encoding by its one name."""
        return codec(self.format.encoding) or UTF_8

    def columns(self, wanted: Sequence[str] = ()) -> list[str]:
        """Return the names of all columns.

        Args:
            wanted: those that will be read, for what to state where the file cannot be.

        Raises:
            SchemaMismatch: there are not as many as the format names.
        """
        with duckdb.connect() as engine:
            source, values = self._source(engine)
            read = f"SELECT * FROM {source}"  # noqa: S608  # a reader of ours
            columns = list(self._answer(lambda: engine.sql(read, params=values).columns, wanted))
        if self.format.names and len(self.format.names) != len(columns):
            stated = f"[data] header names {len(self.format.names)}"
            raise SchemaMismatch(f"{self.path} has {len(columns)} columns; {stated}")
        return columns

    def check(self, wanted: Sequence[str], present: Sequence[str]) -> None:
        """Refuse a missing column; the first line, which might be a row, is shown only where it is declared a header.

        Raises:
            SchemaMismatch: a column is missing, or there are several of its name.
        """
        plain = [column.removesuffix(AS_WRITTEN) for column in wanted]
        names = self._names(present)
        if self.format.header is not None:
            check_columns(str(self.path), plain, names, folds=True)
        for column in plain:
            if column in names:
                check_once(str(self.path), column, names, folds=True)
            else:
                hint = f"does it start with a header line, separated by {self.separator!r}?"
                shown = f"it has {len(present)} columns; {hint}{self._separator_hint(plain)}"
                raise SchemaMismatch(f"{self.path} has no column {column!r}; {shown}")

    def _names(self, present: Sequence[str]) -> Sequence[str]:
        """Return the names of all columns as the file has them; the engine calls the second of one name otherwise."""
        names = self.format.names or header(self.path, self._dialect)
        if self.codec != UTF_8:
            names = [name.strip() for name in names]
        repeated = len({name.lower() for name in names}) < len(names) == len(present)
        return names if repeated else present

    @property
    def _dialect(self) -> Dialect:
        return Dialect(
            encoding=self.codec,
            separator=self.separator,
            quote=self.format.quote,
            named=not self.format.names,
            strict=self.codec != UTF_8,
        )

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in their order."""
        with duckdb.connect() as engine:
            source, values = self._source(engine)
            query = self.values.read(source, columns)
            reader = self._answer(lambda: _reader(engine, query, values), columns)
            while (batch := self._answer(functools.partial(next, reader, None), columns)) is not None:
                yield batch

    def _source(self, engine: duckdb.DuckDBPyConnection) -> tuple[str, list[str]]:
        """Return the SQL that names the rows, and its parameters."""
        engine.execute("SET enable_progress_bar = false")  # an interactive session would have it on standard output
        names = self.format.names
        if self.codec != UTF_8:
            transcoded = Transcoded(
                path=self.path, encoding=self.codec, separator=self.separator, quote=self.format.quote, names=names
            )
            self._answer(lambda: engine.register("rows", transcoded))
            return "rows", []
        stated = f", names = [{', '.join(map(text, names))}]" if names else ""
        signs = {"delim": text(self.separator), "quote": text(self.format.quote)}
        reader = READER.format(header=str(not names).lower(), names=stated, **signs)
        return reader, [escaped(self.path)]

    def _answer(self, call: Callable[[], T], wanted: Sequence[str] = ()) -> T:
        """Return what an engine answers; a refusal quotes no row, and names what is probably wrong."""
        try:
            return without_quotes(str(self.path), call)
        except OSError as error:
            failed = str(error)
        if undecodable(self.path, self.codec):  # raised with nothing attached
            raise OSError(
                f"{self.path} has bytes that are no text in {self.format.encoding}; state its `encoding` in [data]"
            )
        if fault := first_fault(self.path, self._dialect):
            failed = f"{self.path} cannot be read as a table: {fault}"
        raise OSError(failed + self._separator_hint([column.removesuffix(AS_WRITTEN) for column in wanted]))

    def _separator_hint(self, wanted: Sequence[str]) -> str:
        """Return the separator to state, where the first line has all columns by another one."""
        separators = _separators_with(self.path, self.format.encoding, wanted) if wanted else []
        if not separators or self.separator in separators:
            return ""
        sign = separators[0].replace("\t", "\\t")
        return f'; its first line has all the columns with separator = "{sign}" in [data]'


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """All rows of a file of text.

    Args:
        file: with its format.
        columns: that are read.
    """

    file: TextFile
    columns: tuple[str, ...]

    @property
    def path(self) -> Path:
        """Of the file."""
        return self.file.path

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        return self.file.batches(self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRows(Source):
    """One or several files of text with the same columns.

    Args:
        files: in the order in which they are read.
        name: what to call them in a message.
    """

    files: tuple[TextFile, ...]
    name: str
    as_written: ClassVar[bool] = True
    stable: ClassVar[bool] = True  # file after file, row after row
    portable: ClassVar[bool] = True  # a part is the name of a file and its format

    def stamp(self) -> Stamp:
        """Return what changes when a file does."""
        return stamp_of([file.path for file in self.files])

    def columns(self) -> list[str]:
        """Return the names of all columns.

        Raises:
            SchemaMismatch: the files' columns differ.
        """
        return self._columns()

    def _columns(self, wanted: Sequence[str] = ()) -> list[str]:
        self.stamp()
        first = self.files[0].columns(wanted)
        for file in self.files[1:]:
            if file.columns(wanted) != first:
                raise SchemaMismatch(
                    f"{file.path} has other columns than {self.files[0].path}; name files of one table"
                )
        return first

    def parts(self, columns: Sequence[str]) -> Sequence[TextPart]:
        """Return the files, each read as a whole."""
        self.files[0].check(columns, self._columns(columns))
        return [TextPart(file=file, columns=tuple(columns)) for file in self.files]


def _reader(engine: duckdb.DuckDBPyConnection, query: str, values: list[str]) -> Iterator[pa.RecordBatch]:
    return iter(engine.sql(query, params=values).to_arrow_reader(BATCH_ROWS))


def _separators_with(path: Path, encoding: str, wanted: Iterable[str]) -> list[str]:
    """Return the signs by which a file's first line has all the wanted names: what to state instead."""
    try:
        with path.open(encoding=encoding, errors="replace") as file:
            line = file.readline(1 << 16)
    except (OSError, LookupError, UnicodeError):
        return []
    names = set(wanted)
    return [sign for sign in (",", ";", "\t", "|") if names <= {name.strip().strip('"') for name in line.split(sign)}]
