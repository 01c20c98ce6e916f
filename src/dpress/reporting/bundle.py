"""A release to hand on: one zip of its page, tables, design and licence, the same bytes every time.

folder -> page, CSV, design, words beside its files -> zip. Nothing is in it that the folder does not publish.
"""

import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.new_path import new_file
from dpress.query.designs import save_design
from dpress.query.folder import ANSWERS, MANIFEST, as_csv, as_written, write_sheet, writer
from dpress.query.release import Release
from dpress.release.plan.plan_text import promised
from dpress.reporting import optional
from dpress.reporting.page import write_report

DATED = (1980, 1, 1, 0, 0, 0)  # of every file, the first that a zip knows: when it was made is in release.json
MODE = 0o644 << 16
COARSER = ", as fine as the noise supports"
UNLICENSED = "No licence is stated: ask whoever published it before you use it."


def check_bundle(path: str | Path, *, period: str | None = None) -> None:
    """Refuse a bundle that could not be written, before anything is charged.

    Raises:
        NotSupported: the extra `[report]` is not installed, or a period is added to a release that grows.
        OSError: the file exists, or its folder does not or cannot be written.
    """
    if period is not None:
        raise NotSupported("--bundle: a bundle is of one release; leave out --period or --bundle")
    optional.needed()
    new_file(path, "a bundle is")


def write_bundle(release: Release, folder: str | Path, path: str | Path) -> Path:
    """Write a release as a new zip, whole or not at all, and return its path.

    Memory: that of the page and of one batch of rows.

    Args:
        release: that was written.
        folder: where.
        path: the zip.

    Raises:
        NotSupported: the extra `[report]` is not installed.
        OSError: the file exists, or cannot be written; nothing is left behind.
    """
    place = Path(path)
    check_bundle(place)
    with tempfile.TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent) as beside:
        made = Path(beside)
        parts = {file.name: file for file in (*_published(release, Path(folder)), *_made(release, Path(folder), made))}
        whole = made / "whole.zip"
        with zipfile.ZipFile(whole, "w") as bundle:
            for name in sorted(parts):
                _add(bundle, name, parts[name])
        whole.rename(place)
    return place


def _published(release: Release, folder: Path) -> Iterator[Path]:
    """Yield the folder's files that belong to the release, whatever else lies there."""
    for name in (MANIFEST, ANSWERS, *release.files, *(map(as_csv, release.files) if release.csv else ())):
        yield folder / name


def _made(release: Release, folder: Path, beside: Path) -> Iterator[Path]:
    """Write what the folder has not, and yield it."""
    yield write_report(release, beside / "report.html")
    yield save_design(release.design, beside / "design.json")
    sheets = release.sheets
    for name in () if release.csv else release.files:
        copy = beside / as_csv(name)
        yield write_sheet(copy, sheets[name]) if name in sheets else _as_csv(folder / name, copy)
    license_ = str(release.design.specification["release"].get("license", ""))
    yield _text(beside / "README.txt", _readme(release, license_))
    if license_:
        yield _text(beside / "LICENSE.txt", license_)


def _as_csv(source: Path, place: Path) -> Path:
    with pq.ParquetFile(source) as file:
        schema = file.schema_arrow  # whose metadata say what is counted; batches come without
        with writer(place, pa.RecordBatch.from_pylist([], schema=schema)) as out:
            for batch in file.iter_batches():
                out.write_batch(as_written(place, batch.replace_schema_metadata(schema.metadata)))
    return place


def _readme(release: Release, license_: str) -> str:
    stated, unit = release.design.specification["release"], release.claim.unit
    words = {
        "Title": stated.get("title"),
        "Source": stated.get("source"),
        "Contact": stated.get("contact"),
        "Licence": license_ or UNLICENSED,
        "Kind": release.kind,
        "Method": release.method,
        "Promise": f"{promised(release.claim)}, per {unit.name}, {unit.relation}",
        "Rows": release.design.where and f"those of which {release.design.where} holds",
        "Counts": release.design.whom or (unit.counted and f"of {unit.counted}; further rows were left out"),
        "Made": release.created,
        "Design": release.design.id,
    }
    files = {
        "report.html": "the page, which opens offline: results, errors, and what is promised",
        ", ".join(release.files): f"the tables, each as CSV, too{COARSER * bool(release.answers.sheets)}",
        ANSWERS: "the noisy integers that all else follows from",
        MANIFEST: "the release's description, with the checksums of its files",
        "design.json": "what was decided before any row was read",
    }
    named = "".join(f"{name + ':':9}{word}\n" for name, word in words.items() if word)
    return f"{named}\nFiles\n" + "".join(f"  {name}: {what}\n" for name, what in files.items() if name)


def _text(path: Path, text: str) -> Path:
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return path


def _add(bundle: zipfile.ZipFile, name: str, source: Path) -> None:
    entry = zipfile.ZipInfo(name, date_time=DATED)
    entry.external_attr, entry.create_system, entry.compress_type = MODE, 3, zipfile.ZIP_DEFLATED
    with source.open("rb") as file, bundle.open(entry, "w", force_zip64=True) as out:
        while piece := file.read(1 << 20):
            out.write(piece)
