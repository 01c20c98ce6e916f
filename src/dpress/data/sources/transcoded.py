"""Files of text in another encoding than UTF-8, or with lines that are no rows: decoded and split as they are read.

path -> decompressed -> UTF-8, lines left out, quotes checked -> batches of text; a new stream
for every pass, and no copy on a disk.
"""

import codecs
import io
import itertools
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from dpress.data.sources.cut_lines import CutLines
from dpress.data.sources.quotes import QuotesChecked
from dpress.data.sources.text_fault import text_reader
from dpress.data.specification.file_format import UTF_8, joined_names

NEWLINE = ord("\n")
BLOCK = 1 << 24  # bytes that are parsed at once, as UTF-8; a line may be as long


@dataclass(frozen=True, kw_only=True)
class Transcoded:
    """The columns of a file, every value a text, or null where nothing stands; DuckDB reads it like a table.

    Args:
        path: of the file; one that ends in .gz or .zst is decompressed.
        encoding: of its text.
        separator: between fields.
        quote: around values; empty for none.
        names: of the columns, where no line of the file has them.
        skip: lines in front of those of the names.
        header_rows: lines of names.
        footer: lines behind the rows.
    """

    path: Path
    encoding: str
    separator: str
    quote: str = '"'
    names: tuple[str, ...] = ()
    skip: int = 0
    header_rows: int = 1
    footer: int = 0

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return a new stream of all rows; the file is opened when the first is asked for.

        Where names differ in upper and lower case alone, or not at all, their numbers stand before them: DuckDB 1
        reads no column whose name is there twice.
        """
        names = self.columns
        if len({name.lower() for name in names}) < len(names):
            names = tuple(f"{place} {name}" for place, name in enumerate(names))
        schema = pa.schema([(name, pa.string()) for name in names])
        return pa.RecordBatchReader.from_batches(schema, self._batches(schema)).__arrow_c_stream__(requested_schema)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns: stated, or those of the first line without blanks around them."""
        with closing(self._blocks()) as blocks:
            block = next(blocks, b"")
        if self.header_rows > 1:
            reader = text_reader(io.StringIO(block.decode(), newline=""), self.separator, self.quote)
            return tuple(joined_names(list(itertools.islice(filter(None, reader), self.header_rows))))
        names = [name.strip() for name in self._parsed(block).schema.names]
        return (*self.names, *names[len(self.names) :])

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the rows, block by block; what is parsed lies in memory, so that no other thread calls Python."""
        skipped = 0 if self.names else self.header_rows  # the lines of names
        for block in self._blocks():
            table = self._parsed(block, schema.names, skipped=skipped)
            yield from table.rename_columns(schema.names).to_batches()
            skipped = 0

    def _blocks(self) -> Generator[bytes, None, None]:
        """Yield whole lines in UTF-8, about BLOCK bytes at a time.

        Raises:
            ValueError: a line is longer than a block, or a quote stands where none may.
        """
        rest = b""
        with pa.transcoding_input_stream(pa.input_stream(self.path), self.encoding, UTF_8) as text:
            cut = CutLines(text, skip=self.skip, footer=self.footer) if self.skip or self.footer else text
            checked = QuotesChecked(cut, self.separator, self.quote)
            while part := checked.read(BLOCK):
                held = rest + part
                end = whole_lines(held, self.quote)
                if not end and len(held) > BLOCK:
                    raise ValueError(f"a line of more than {BLOCK:,} bytes")
                if end:
                    yield held[:end]
                rest = held[end:]
        if rest:
            yield rest

    def _parsed(self, block: bytes, names: Sequence[str] = (), *, skipped: int = 0) -> pa.Table:
        """Return the rows of a block, all of them text if the names of the columns are given."""
        return csv.read_csv(
            pa.BufferReader(block),
            csv.ReadOptions(
                block_size=len(block) + 1,
                use_threads=False,
                column_names=names or None,
                skip_rows_after_names=skipped if names else 0,
                autogenerate_column_names=bool(self.names) and not names,
            ),
            csv.ParseOptions(
                delimiter=self.separator,
                quote_char=self.quote or False,
                newlines_in_values=bool(self.quote),
                ignore_empty_lines=len(names) != 1,  # of a single column, an empty line is a value
            ),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )


def whole_lines(held: bytes, quote: str = '"') -> int:
    r"""Return where the last line ends that ends here; a line's end between quotes is part of a value.

    >>> whole_lines(b'a;1\n"b\nc'), whole_lines(b'"b\nc')
    (4, 0)
    """
    signs = np.frombuffer(held, dtype=np.uint8)
    ends = np.flatnonzero(signs == NEWLINE)
    quotes = np.flatnonzero(signs == ord(quote)) if quote else ends[:0]
    outside = np.searchsorted(quotes, ends) % 2 == 0
    return int(ends[outside][-1]) + 1 if outside.any() else 0


def undecodable(path: Path, encoding: str) -> bool:
    """Return whether a file has bytes that are no text in an encoding; not where it cannot be read at all."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with pa.input_stream(path) as stream:
            while part := stream.read(BLOCK):
                decoder.decode(part)
        decoder.decode(b"", final=True)
    except UnicodeError:
        return True
    except OSError:
        return False
    return False
