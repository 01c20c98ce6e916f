"""Columns that the paths of files state, `rows/year=2024/month=1/a.parquet`: texts, never of an inferred type.

files below a folder or a glob -> names that every path states and no file has -> batches with a constant column each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa

from dpress.data.sources.source import Part, check_columns
from dpress.data.sources.wrapped import Wrapped

if TYPE_CHECKING:
    from dpress.data.sources.by_ending import FileSource

MISSING = "__HIVE_DEFAULT_PARTITION__"
Stated = Mapping[Path, Mapping[str, str | None]]


def stated(files: Sequence[Path], folder: Path) -> dict[Path, dict[str, str | None]]:
    """Return the names and values in each file's path, of the names that all have; empty where there are none.

    Args:
        files: that are read.
        folder: above all of them; its own path states nothing.
    """
    by_path = {path: _values(path.relative_to(folder).parent.parts) for path in files}
    common = set[str].intersection(*(set(names) for names in by_path.values()))
    if not common:
        return {}
    return {path: {name: values[name] for name in values if name in common} for path, values in by_path.items()}


def _values(folders: Sequence[str]) -> dict[str, str | None]:
    pairs = (folder.split("=", 1) for folder in folders if "=" in folder)
    return {unquote(name): None if value == MISSING else unquote(value) for name, value in pairs}


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRows(Wrapped):
    """Files whose paths state columns; a column that the files have is read from them.

    Args:
        source: of the files; each of its parts has the `path` of its file.
        values: by file and name.
    """

    source: "FileSource"
    values: Stated

    def columns(self) -> list[str]:
        """Return the names of all columns, those of the files first."""
        columns = self.source.columns()
        return columns + [name for name in next(iter(self.values.values())) if name not in columns]

    def parts(self, columns: Sequence[str]) -> Sequence["PathPart"]:
        """Return the parts of the files, with the columns that their paths state."""
        stored = self.source.columns()
        check_columns(self.name, columns, self.columns())
        held = [name for name in columns if name in stored] or stored[:1]
        return [
            PathPart(part=part, columns=tuple(columns), values=self.values[part.path])
            for part in self.source.parts(held)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPart:
    """A part of a file, with the columns that its path states.

    Args:
        part: of the file.
        columns: that are read.
        values: by name, as the path states them.
    """

    part: Part
    columns: tuple[str, ...]
    values: Mapping[str, str | None]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        for batch in self.part.batches():
            arrays = [
                batch.column(name) if name in batch.schema.names else _constant(self.values[name], batch.num_rows)
                for name in self.columns
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=list(self.columns))


def _constant(value: str | None, rows: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), pa.array([value], pa.string()))
