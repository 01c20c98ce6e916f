"""Rows in CSV files, as their curator states that they are written: nothing is guessed from the rows.

path, format -> DuckDB reads every value as text (`transcoded` where the encoding is another than UTF-8) -> batches.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

import duckdb
import pyarrow as pa

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.files import Stamp, escaped, stamp_of
from dpress.data.sources.header_place import HeaderPlace, header_place
from dpress.data.sources.source import BATCH_ROWS, RENAMED, Source, check_columns, check_once, without_quotes
from dpress.data.sources.sql_text import AS_WRITTEN, Values, text
from dpress.data.sources.text_fault import Dialect, first_fault, header, is_compressed, lines_of
from dpress.data.sources.transcoded import Transcoded, undecodable
from dpress.data.specification.file_format import COMPRESSED, SEPARATORS, UTF_8, FileFormat, codec, kind_of

READER = (
    "read_csv(?, all_varchar = true, header = {header}, delim = {delim}, quote = {quote}, escape = {quote}, "
    "comment = '', skip = 0, strict_mode = true, hive_partitioning = false, encoding = 'utf-8', "
    f"max_line_size = {1 << 24}, buffer_size = {1 << 25}"
    "{names})"
)  # a line may be long: by default one of more than 2 MB is refused
NEAR = f"{RENAMED[:-1]}; `dpress check` says which are near)"  # the first line may be a row: none of it is shown here
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

    @property
    def streamed(self) -> bool:
        """Whether the file is decoded here: DuckDB reads UTF-8 without lines that are no rows by itself."""
        return self.codec != UTF_8 or self.format.skip + self.format.footer + self.format.header_rows > 1

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
            columns = list(self._names(self._answer(lambda: engine.sql(read, params=values).columns, wanted)))
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
            check_columns(str(self.path), plain, names)
        for column in plain:
            if column in names:
                check_once(str(self.path), column, names, folds=False)
            else:
                cased = [name for name in names if name.casefold() == column.casefold()]
                hint = (
                    f"it has {cased[0]!r}: state `column` of the attribute"
                    if cased
                    else f"does it start with a header line, separated by {self.separator!r}?"
                )
                shown = f"it has {len(present)} columns; {hint}{self.advice(plain) or ('' if cased else NEAR)}"
                raise SchemaMismatch(f"{self.path} has no column {column!r}; {shown}")

    def _names(self, present: Sequence[str]) -> Sequence[str]:
        """Return the names of all columns as the file has them; the engine calls the second of one name otherwise."""
        names = self._repeated
        return names if len(names) == len(present) else present

    @property
    def _repeated(self) -> Sequence[str]:
        """The names of all columns, where some differ in upper and lower case alone or not at all; none otherwise."""
        names = self.format.names or header(self.path, self._dialect)
        names = [name.strip() for name in names] if self.streamed else names
        return names if len({name.lower() for name in names}) < len(names) else ()

    def _called(self, engine: duckdb.DuckDBPyConnection, source: str, values: list[str]) -> dict[str, str]:
        """Return what the engine calls columns whose names it takes for one; nothing where it takes none so."""
        if not (names := self._repeated):
            return {}
        called = engine.sql(f"SELECT * FROM {source}", params=values).columns  # noqa: S608  # a reader of ours
        return dict(zip(names, called, strict=True)) if len(names) == len(called) else {}

    @property
    def _dialect(self) -> Dialect:
        return Dialect(
            encoding=self.codec,
            separator=self.separator,
            quote=self.format.quote,
            named=not self.format.names,
            strict=self.streamed,
            skip=self.format.skip,
            header_rows=self.format.header_rows,
            footer=self.format.footer,
        )

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in their order."""
        with duckdb.connect() as engine:
            source, values = self._source(engine)
            called = self._answer(lambda: self._called(engine, source, values), columns)
            query = self.values.read(source, columns, called)
            reader = self._answer(lambda: _reader(engine, query, values), columns)
            while (batch := self._answer(functools.partial(next, reader, None), columns)) is not None:
                yield batch

    def _source(self, engine: duckdb.DuckDBPyConnection) -> tuple[str, list[str]]:
        """Return the SQL that names the rows, and its parameters."""
        engine.execute("SET enable_progress_bar = false")  # an interactive session would have it on standard output
        names = self.format.names
        if self.streamed:
            transcoded = Transcoded(
                path=self.path,
                encoding=self.codec,
                separator=self.separator,
                quote=self.format.quote,
                names=names,
                skip=self.format.skip,
                header_rows=self.format.header_rows,
                footer=self.format.footer,
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
        if self.path.suffix.lower() in COMPRESSED and not is_compressed(self.path):
            raise OSError(f"{self.path} is not compressed, as its name says; name it without {self.path.suffix}")
        if undecodable(self.path, self.codec):  # raised with nothing attached
            raise OSError(
                f"{self.path} has bytes that are no text in {self.format.encoding}; state its true `encoding` in [data]"
            )
        if fault := first_fault(self.path, self._dialect):
            failed = f"{self.path} cannot be read as a table: {fault}"
        elif (stated := len(self.format.names)) and (there := len(header(self.path, self._dialect))) != stated:
            failed = f"{self.path} has {there} columns; [data] header names {stated}"
        raise OSError(failed + self.advice([column.removesuffix(AS_WRITTEN) for column in wanted]))

    def advice(self, wanted: Sequence[str]) -> str:
        """Return what to state where another line, or another separator, gives all the columns that are wanted."""
        if not wanted or not (place := header_place(self.path, self.format, wanted)) or place == self._place:
            return ""
        fields = [f"{name} = {value}" for name, value in place.stated(self._place)]
        line = f"line {place.skip + 1}" if place.skip else "first line"
        return f"; its {line} has all the columns with {' and '.join(fields)} in [data]"

    @property
    def _place(self) -> HeaderPlace:
        return HeaderPlace(self.format.skip, self.format.header_rows, self.separator)


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

    def rows_at_most(self) -> int:
        """Return how many lines the files have: a row has one, or several."""
        return sum(lines_of(file.path) for file in self.files)

    def advice(self, columns: Sequence[str]) -> str:
        """Return the separator to state, where the first line has all the columns by another one."""
        return self.files[0].advice(columns)

    def parts(self, columns: Sequence[str]) -> Sequence[TextPart]:
        """Return the files, each read as a whole."""
        self.files[0].check(columns, self._columns(columns))
        return [TextPart(file=file, columns=tuple(columns)) for file in self.files]


def _reader(engine: duckdb.DuckDBPyConnection, query: str, values: list[str]) -> Iterator[pa.RecordBatch]:
    return iter(engine.sql(query, params=values).to_arrow_reader(BATCH_ROWS))
