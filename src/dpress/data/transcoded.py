"""Files of text in another encoding than UTF-8: decoded and split into columns of text as they are read.

path -> decompressed -> UTF-8, quotes checked -> batches of text; a new stream for every pass, and no copy on a disk.
"""

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from dpress.data.file_format import UTF_8
from dpress.data.quotes import QuotesChecked

BLOCK = 1 << 24  # bytes that are parsed at once, as UTF-8; a line may be as long


@dataclass(frozen=True, kw_only=True)
class Transcoded:
    """The columns of a file, every value a text, or null where nothing stands; DuckDB reads it like a table.

    Args:
        path: of the file; one that ends in .gz or .zst is decompressed.
        encoding: of its text.
        separator: between fields.
        names: of the columns, where no line of the file has them.
    """

    path: Path
    encoding: str
    separator: str
    names: tuple[str, ...] = ()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return a new stream of all rows; the file is opened when the first is asked for."""
        schema = pa.schema([(name, pa.string()) for name in self.columns])
        return pa.RecordBatchReader.from_batches(schema, self._batches(schema)).__arrow_c_stream__(requested_schema)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns: stated, or those of the first line without blanks around them."""
        with self._opened() as reader:
            found = [name.strip() for name in reader.schema.names]
        return (*self.names, *found[len(self.names) :])

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        with self._opened(schema.names) as reader:
            yield from (batch.rename_columns(schema.names) for batch in reader)

    def _opened(self, names: Sequence[str] = ()) -> csv.CSVStreamingReader:
        """Return a reader of the rows, all of them text if the names of the columns are given."""
        text = pa.transcoding_input_stream(pa.input_stream(self.path), self.encoding, UTF_8)
        return csv.open_csv(
            pa.PythonFile(QuotesChecked(text, self.separator), mode="r"),
            csv.ReadOptions(
                block_size=BLOCK,
                use_threads=False,
                column_names=names or None,
                skip_rows_after_names=int(bool(names) and not self.names),
                autogenerate_column_names=bool(self.names) and not names,
            ),
            csv.ParseOptions(
                delimiter=self.separator,
                newlines_in_values=True,
                ignore_empty_lines=len(names) != 1,  # of a single column, an empty line is a value
            ),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )


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
