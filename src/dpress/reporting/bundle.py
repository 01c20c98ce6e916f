"""A release in one file to hand out: page, tables as CSV and Parquet, design, description, licence, and what is what.

folder of a release -> files in the order of their names, without times -> zip; the same release gives the same bytes.
"""

import io
import os
import tempfile
import zipfile
from pathlib import Path

import msgspec
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from dpress.core.errors import NotSupported
from dpress.release.folder import CSV
from dpress.release.load import load_release
from dpress.release.plan_text import promised
from dpress.release.release import Release
from dpress.reporting.page import page

EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can state
SILENT = "No licence is stated; ask the publisher.\n"


def write_bundle(folder: str | Path, path: str | Path) -> Path:
    """Write the bundle of a release, whole or not at all, and return its path.

    Args:
        folder: of the release.
        path: a new zip.

    Raises:
        NotSupported: the extra `[report]` is not installed.
        SchemaMismatch: the release is damaged.
        OSError: it cannot be read, the zip is there already, or it cannot be written; nothing is left behind.
    """
    folder, path = Path(folder), Path(path)
    if path.exists():
        raise FileExistsError(17, "exists already", str(path))
    files = _files(load_release(folder), folder)
    handle, partial = tempfile.mkstemp(dir=path.parent or Path(), prefix=".bundle")
    try:
        with os.fdopen(handle, "wb") as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in sorted(files.items()):
                packed.writestr(zipfile.ZipInfo(name, EARLIEST), content, zipfile.ZIP_DEFLATED)
        Path(partial).rename(path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    return path


def _files(release: Release, folder: Path) -> dict[str, bytes]:
    """Return the content of every file by its name."""
    names = sorted(own.name for own in folder.iterdir() if own.suffix in (".json", ".parquet"))
    found = {name: (folder / name).read_bytes() for name in names}
    for name in release.files:
        out = io.BytesIO()
        pacsv.write_csv(pq.read_table(folder / name), out)
        found[Path(name).with_suffix(CSV).name] = out.getvalue()
    found["design.json"] = msgspec.json.format(msgspec.json.encode(release.described()["design"]), indent=1)
    found["report.html"] = page(release).encode()
    licence = release.design.specification.get("release", {}).get("licence")
    found["LICENCE.txt"] = f"{licence}\n".encode() if licence else SILENT.encode()
    found["README.txt"] = _contents(release, found).encode()
    return found


def _contents(release: Release, found: dict[str, bytes]) -> str:
    title = release.design.specification.get("release", {}).get("title") or f"A release: {release.kind}"
    known = {
        "report.html": "the page; it opens offline",
        "release.json": "what was published, and under which promise",
        "design.json": "what was decided before any row was read",
        "measurement.parquet": "the noisy answers that everything is computed from",
        "LICENCE.txt": "what may be done with it",
    }
    lines = [f"{name}: {known.get(name, 'a table')}" for name in sorted(found)]
    return "\n".join(
        [str(title), f"{promised(release.claim)}, per {release.claim.unit.column or 'row'}", "", *lines, ""]
    )


def check_bundle(path: str | Path | None) -> None:
    """Refuse a bundle that could not be written, before anything is charged.

    Raises:
        NotSupported: it is no zip.
        OSError: it is there already, or its folder is not.
    """
    if path is None:
        return
    own = Path(path)
    if own.suffix != ".zip":
        raise NotSupported(f"--bundle: expected a name that ends in .zip, got {own.name}")
    if own.exists():
        raise FileExistsError(17, "exists already", str(path))
    if not own.absolute().parent.is_dir():
        raise FileNotFoundError(2, "there is no such folder", str(own.parent))
