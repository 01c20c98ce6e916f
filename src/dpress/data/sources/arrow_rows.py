"""Rows in files of Arrow IPC, of record batches or as a stream, Feather included: the unit of work is a record batch.

Every batch is checked as a whole before it is used, for a damaged one would make Arrow end the process; and no file is
mapped into memory, for one that another program cuts short would do the same.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

import pyarrow as pa

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.files import Stamp, stamp_of
from dpress.data.sources.source import BATCH_ROWS, Source, check_columns, without_quotes

ARROW = (".arrow", ".arrows", ".ipc", ".feather")
MAGIC, FEATHER_1, END = b"ARROW1", b"FEA1", b"\xff\xff\xff\xff\x00\x00\x00\x00"
MOST_PARTS = 256  # of a file
LINE = "{} cannot be read as an Arrow file: it is none, damaged or cut short (the reader's message is withheld)"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ArrowRows(Source):
    """One or several Arrow files of one schema.

    Args:
        files: in the order in which they are read.
        name: what to call them in a message.
    """

    files: tuple[Path, ...]
    name: str
    stable: ClassVar[bool] = True  # file after file, row after row
    portable: ClassVar[bool] = True  # a part is the name of a file and of its record batches

    def stamp(self) -> Stamp:
        """Return what changes when a file does."""
        return stamp_of(self.files)

    def schema(self) -> pa.Schema:
        """Return the columns and their Arrow types.

        Raises:
            SchemaMismatch: the files' schemas differ.
        """
        self.stamp()
        first, *others = (_answer(path, functools.partial(_schema, path)) for path in self.files)
        for path, schema in zip(self.files[1:], others, strict=True):
            if schema != first:
                raise SchemaMismatch(f"{path} has another schema than {self.files[0]}")
        return first

    def types(self) -> dict[str, str]:
        """Return the Arrow type of every column."""
        return {field.name: str(field.type) for field in self.schema()}

    def columns(self) -> list[str]:
        """Return the names of all columns."""
        return list(self.schema().names)

    def parts(self, columns: Sequence[str]) -> Sequence["ArrowPart"]:
        """Return the record batches, a few of many together; a stream as a whole."""
        check_columns(self.name, columns, self.columns())
        return [
            ArrowPart(path=path, columns=tuple(columns), numbers=numbers)
            for path in self.files
            for numbers in _answer(path, functools.partial(_together, path))
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrowPart:
    """Some record batches of a file, or a stream.

    Args:
        path: of the file.
        columns: that are read.
        numbers: of the record batches; None for all of a stream.
    """

    path: Path
    columns: tuple[str, ...]
    numbers: range | None

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, a record batch in memory at a time."""
        with pa.OSFile(str(self.path)) as file:
            batches = _answer(self.path, lambda: self._read(file))
            while (batch := _answer(self.path, functools.partial(next, batches, None))) is not None:
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    yield batch.slice(start, BATCH_ROWS)

    def _read(self, file: pa.NativeFile) -> Iterator[pa.RecordBatch]:
        schema = _schema(self.path)
        options = pa.ipc.IpcReadOptions(included_fields=[schema.get_field_index(name) for name in self.columns])
        if self.numbers is None:
            batches = iter(pa.ipc.open_stream(file, options=options))
        else:
            reader = pa.ipc.open_file(file, options=options)
            batches = (reader.get_batch(number) for number in self.numbers)
        return (_valid(batch.select(list(self.columns))) for batch in batches)


def _answer(path: Path, call: Callable[[], T]) -> T:
    """Return what Arrow answers; lengths in a damaged file may ask for more memory than there is."""
    try:
        return without_quotes(str(path), call, LINE)
    except MemoryError:
        pass
    raise OSError(LINE.format(path))


def _valid(batch: pa.RecordBatch) -> pa.RecordBatch:
    batch.validate(full=True)
    return pa.RecordBatch.from_arrays([_without_views(column) for column in batch.columns], names=batch.schema.names)


def _without_views(column: pa.Array) -> pa.Array:
    """Return a column in which no null points anywhere: that is not checked, and where Arrow would look for it."""
    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, _without_views(column.dictionary))
    if not (pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type)):
        return column
    encoded = column.dictionary_encode()
    kind = pa.large_string() if pa.types.is_string_view(column.type) else pa.large_binary()
    return encoded.dictionary.cast(kind).take(encoded.indices)


def _is_file(path: Path) -> bool:
    """Return whether a file has record batches that are found by their number, and not a stream of them.

    Raises:
        SchemaMismatch: it is of Feather's first version.
    """
    with path.open("rb") as file:
        start = file.read(len(MAGIC))
    if start.startswith(FEATHER_1):
        raise SchemaMismatch(f"{path} is a Feather file of version 1; write it as version 2, which Arrow reads")
    return start == MAGIC


def _schema(path: Path) -> pa.Schema:
    with pa.OSFile(str(path)) as file:
        schema = pa.ipc.open_file(file).schema if _is_file(path) else _of_stream(file)
    "".join(schema.names)  # raises where a name is no text
    return schema


def _of_stream(file: pa.NativeFile) -> pa.Schema:
    file.seek(max(0, file.size() - len(END)))
    if file.read() != END:  # or one that is cut short between two batches would pass
        raise ValueError("the stream has no end")
    file.seek(0)
    return pa.ipc.open_stream(file).schema


def _together(path: Path) -> list[range | None]:
    if not _is_file(path):
        return [None]
    with pa.OSFile(str(path)) as file:
        number = pa.ipc.open_file(file).num_record_batches
    step = max(1, -(-number // MOST_PARTS))
    return [range(start, min(start + step, number)) for start in range(0, number, step)]
