"""The folder of a release: `release.json`, the noisy answers and the published tables, with their checksums."""

import contextlib
import glob
import hashlib
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpress.attributes.attribute import Tabular
from dpress.core.basics.edited_file import check_format
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.new_path import new_path
from dpress.core.maps.linear import Numbers
from dpress.query.all_groups import with_words
from dpress.query.counted_rows import with_column
from dpress.query.plain_csv import plain
from dpress.query.published_tables import BATCH_CELLS
from dpress.query.released_file import Part
from dpress.query.suppressed_rows import rounded_rows
from dpress.query.titled_rows import titled

Progress = Callable[[int], object]

LARGEST_MANIFEST = 1 << 28  # bytes
DENSEST = 512
"""Rows for every byte of a Parquet file, which has a page for every 2^20 of them; a column of zeros reaches 220."""

MANIFEST = "release.json"
SERIES = "series.json"
"""The description of a release that grows period by period; a folder of each span lies beside it."""
STATEMENTS = "statements.json"
"""Which of several releases answers which statement; a folder of each lies beside it."""
ANSWERS = "measurement.parquet"
CSV = ".csv"


def write_folder(
    path: str | Path,
    manifest: dict[str, Any],
    answers: Numbers,
    tables: Iterable[Part],
    *,
    sheets: Mapping[str, Part] | None = None,
    titles: Sequence[Tabular] = (),
    progress: Progress | None = None,
) -> Path:
    """Write a release to a new folder, whole or not at all, and return it.

    Args:
        path: the folder.
        manifest: the release's description, to which the files' checksums are added.
        answers: the noisy answers.
        tables: one after the other, each made only when it is written.
        sheets: where each is written as CSV, too: what stands there in the place of the same rows, by its name.
        titles: the attributes whose titles and labels stand in what is written as CSV; see `titled_rows`.
        progress: called with the number of cells written so far.

    Raises:
        OSError: the folder exists, or the disk is full; nothing is left behind.
    """
    folder = check_new(path)
    partial = _partial(folder)
    try:
        _write_files(partial, manifest, answers, tables, sheets=sheets, titles=titles, progress=progress)
        partial.chmod(0o755)
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return folder


def _write_files(
    folder: Path,
    manifest: dict[str, Any],
    answers: Numbers,
    tables: Iterable[Part],
    *,
    sheets: Mapping[str, Part] | None,
    titles: Sequence[Tabular],
    progress: Progress | None,
) -> None:
    for _ in _write_batches([folder / ANSWERS], _answers(answers)):
        pass
    cells = 0
    for table in tables:
        path, sheet = folder / table.name, (sheets or {}).get(table.name)
        copies = [] if sheets is None or sheet is not None else [folder / as_csv(table.name)]
        for rows in _write_batches([path, *copies], table.batches(), titles):
            cells += rows
            if progress is not None:
                progress(cells)
        if sheet is not None:
            write_sheet(folder / as_csv(table.name), sheet, titles)
    manifest["sha256"] = {path.name: _sha256(path) for path in sorted(folder.iterdir())}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    for path in folder.iterdir():
        with path.open("r+b") as file:  # Windows flushes only what may be written
            os.fsync(file.fileno())


def write_sheet(path: Path, sheet: Part, titles: Sequence[Tabular] = ()) -> Path:
    """Write a file of rows, and return it; with titles of these attributes."""
    for _ in _write_batches([path], sheet.batches(), titles):
        pass
    return path


def _answers(answers: Numbers) -> Iterator[pa.RecordBatch]:
    for start in range(0, max(answers.size, 1), BATCH_CELLS):
        yield pa.record_batch({"answer": answers[start : start + BATCH_CELLS]})


def as_csv(name: str) -> str:
    """Return the name of a file's copy as CSV."""
    return str(Path(name).with_suffix(CSV))


def _write_batches(
    paths: Sequence[Path], batches: Iterator[pa.RecordBatch], titles: Sequence[Tabular] = ()
) -> Iterator[int]:
    """Write each batch to all files, as a row group of Parquet, and yield its rows."""
    first = next(batches)
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(writer(path, first, titles)) for path in paths]
        for batch in itertools.chain([first], batches):
            for path, file in zip(paths, writers, strict=True):
                file.write_batch(as_written(path, batch, titles))
            yield batch.num_rows


def as_written(path: Path, batch: pa.RecordBatch, titles: Sequence[Tabular] = ()) -> pa.RecordBatch:
    """Return rows as a file of this name has them: CSV has no metadata, and says in cells what these say.

    What a spreadsheet would run stays a text there; see `plain`. CSV alone has the titles of these attributes.
    """
    if path.suffix != CSV:
        return batch
    rows = with_words(with_column(rounded_rows(batch)))
    return plain(titled(rows, titles) if titles else rows)


def writer(path: Path, first: pa.RecordBatch, titles: Sequence[Tabular] = ()) -> Any:
    """Return what writes rows like the first ones to a file of this name, Parquet or CSV."""
    schema = as_written(path, first, titles).schema
    if path.suffix != CSV:
        return pq.ParquetWriter(path, schema, compression="zstd")
    from pyarrow.csv import CSVWriter  # noqa: PLC0415  # only where it is asked for

    return CSVWriter(path, schema)


def check_new(folder: str | Path) -> Path:
    """Return the path of a folder that does not exist yet but can be written; makes its parents.

    Raises:
        OSError: it exists, or its parent cannot be written.
    """
    folder = new_path(folder, "a release is")
    folder.parent.mkdir(parents=True, exist_ok=True)
    _partial(folder).rmdir()
    return folder


def remove_half_written(folder: Path) -> None:
    """Delete what is left beside the place of a release by processes that were killed while they wrote it."""
    for partial in folder.parent.glob(f"{glob.escape(_half_written(folder))}*"):
        shutil.rmtree(partial, ignore_errors=True)


def _half_written(folder: Path) -> str:
    """Return how the names of folders begin that are a release when they are whole."""
    return f".{folder.name}.writing-"


def _partial(folder: Path) -> Path:
    """Return a new, empty folder beside the wanted one."""
    try:
        return Path(tempfile.mkdtemp(prefix=_half_written(folder), dir=folder.parent))
    except OSError as error:
        raise OSError(f"cannot write in {folder.parent}: {error.strerror}; choose another folder") from None


def description(folder: Path, *, formats: Sequence[int]) -> dict[str, Any]:
    """Return the description of a release, whose files are all there.

    Args:
        folder: of the release.
        formats: those that this version reads.

    Raises:
        SchemaMismatch, ValueError, KeyError, TypeError, AttributeError, RecursionError: see `load`.
    """
    if (size := (folder / MANIFEST).stat().st_size) > LARGEST_MANIFEST:
        raise SchemaMismatch(f"it has {size:,} bytes, expected at most {LARGEST_MANIFEST:,}")
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    check_format(manifest["format"], *formats)
    for name in manifest["sha256"]:
        if not (folder / Path(name).name).is_file():
            raise SchemaMismatch(f"{name} is missing")
    return manifest


def verify(path: Path, digest: str) -> None:
    """Refuse a file that is not the one that was written.

    Raises:
        SchemaMismatch: it differs from its checksum.
    """
    if _sha256(path) != digest:
        raise SchemaMismatch(f"{path.name} differs from its checksum")


def answers_of(folder: Path) -> Numbers:
    """Return the noisy answers that a release keeps.

    Raises:
        SchemaMismatch, ArrowException: the file holds none.
    """
    table = columns(folder / ANSWERS)
    if table.column_names != ["answer"]:
        raise SchemaMismatch(f"{ANSWERS} has other columns than `answer`")
    answers = table["answer"].combine_chunks()
    if answers.type != pa.int64() or answers.null_count:
        raise SchemaMismatch("the answers are not integers")
    return np.from_dlpack(answers)  # to_numpy() would load pandas


def columns(path: Path, *, texts: Sequence[str] = ()) -> pa.Table:
    """Return a Parquet file's columns; `read_table` does the same, and loads data sets and pandas for it.

    Args:
        path: the file.
        texts: columns of texts that are held once each, however often they occur: as dictionaries.

    Raises:
        SchemaMismatch: its footer promises more rows than its bytes can hold; nothing was read of it.
    """
    with pq.ParquetFile(path, read_dictionary=[*texts]) as file:
        rows, size = file.metadata.num_rows, path.stat().st_size
        if rows > DENSEST * size:
            raise SchemaMismatch(f"{path.name} is damaged: {rows:,} rows do not fit into {size:,} bytes")
        return file.read()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_series(folder: str | Path) -> bool:
    """Return whether a folder holds a release of many periods."""
    return (Path(folder) / SERIES).is_file()
