"""Reports at scale: a folder of Parquet files to a release, and an EM fit to a folder and to one file, as JSON.

python bench/reports.py [REPORTS] > reports.json

REPORTS is 10^7 unless given; files of 10^6 reports each are written below the system's folder for temporary files, and
deleted. "tally" is `estimate` of reports of one attribute: its time, rows a second and core, the most memory that it
took, and its time against that of Arrow alone reading the same columns. "fit" is `estimate` of a joint distribution of
2 million reports from a folder against one file, each in a process of its own; "read_anew" is one step of it where the
reports do not fit into memory. Times are reported, not asserted.
"""

import json
import math
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from cases import fresh, once, say
from dpress import load_spec
from dpress.core.basics import rng
from dpress.core.reports.pieces import on_threads
from dpress.core.reports.wire import ID_BYTES
from dpress.data.reports.report_batch import SCHEMA, Batch, Ids
from dpress.data.reports.report_writer import write
from dpress.document.design import Design
from dpress.inference.joint.likelihood import Split
from dpress.inference.joint.mixture import step
from dpress.mechanisms.joint.bit_fold import streamed
from dpress.mechanisms.protocol.collection import Collection
from dpress.query.designs import collection_of, expected
from dpress.release.devices.estimate import estimate, payload_pieces
from dpress.release.devices.report_source import source
from dpress.release.plan.plan import design_of, plan
from machine import facts

REPORTS, FITTED = 10**7, 2 * 10**6
FILE, BATCH = 10**6, 1 << 18
Row = dict[str, Any]


def design(method: str, kind: str = "histogram") -> Design:
    """Return a collection of one attribute of 16 values, or of four for a joint distribution."""
    sizes = (16,) if kind == "histogram" else (8, 6, 5, 2)
    attributes = [{"name": f"a{size}", "kind": "integer", "bounds": [0, size - 1]} for size in sizes]
    privacy = {"model": "local", "epsilon": 2.0 if kind == "histogram" else 8.0}
    release = {"kind": kind, "attributes": [one["name"] for one in attributes], "method": method}
    return design_of(plan(load_spec({"attribute": attributes, "privacy": privacy, "release": release})))


def drawn(collection: Collection, reports: int, source: rng.Generator) -> Iterator[tuple[Batch, Ids]]:
    """Yield the reports of so many devices, whose values are drawn at random."""
    for start in range(0, reports, BATCH):
        rows = min(BATCH, reports - start)
        values = [source.words(rows) % np.uint64(size) % np.uint64(size // 2 + 1) for size in collection.shape]
        payloads = collection.types[0].perturb(np.stack(values).astype(np.int32), rng=source)
        yield Batch(report_type=0, payloads=payloads), source.words(2 * rows).view(np.dtype((np.void, ID_BYTES)))


def written(own: Design, folder: Path, reports: int, file: int) -> None:
    """Write files of reports, at most `file` of them each."""
    collection, source = collection_of(own), rng.seeded(1)
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, reports, file)):
        batches = drawn(collection, min(file, reports - start), source)
        write(folder / f"{number:06}.parquet", batches, expected=expected(own, collection), private=True)


def alone(folder: Path) -> int:
    """Return the rows that Arrow reads of a folder, all columns, and forgets."""
    rows = 0
    for path in sorted(folder.iterdir()):
        rows += sum(batch.num_rows for batch in pq.ParquetFile(path).iter_batches(1 << 16, columns=SCHEMA.names))
    return rows


def estimated(method: str, kind: str, folder: Path) -> Row:
    """Return what `estimate` takes."""
    own = design(method, kind)
    start = time.process_time()
    release, taken = once(lambda: estimate(own, folder))
    return {"users": release.users, "core_seconds": time.process_time() - start, **taken}


def read_alone(folder: Path) -> Row:
    """Return what Arrow alone takes."""
    return once(lambda: alone(folder))[1]


def tallied(method: str, reports: int, folder: Path) -> Row:
    """Return what a histogram of so many reports takes."""
    written(design(method), folder, reports, FILE)
    size = sum(path.stat().st_size for path in folder.iterdir())
    row, read = fresh(estimated, method, "histogram", folder), fresh(read_alone, folder)
    rates = {"rows_a_core_second": reports / row["core_seconds"], "of_arrow_alone": row["seconds"] / read["seconds"]}
    return {"method": method, "reports": reports, "bytes_a_report": size / reports, **row, **rates}


def fitted(method: str, scratch: Path) -> Row:
    """Return what a fit takes, from many files and from one."""
    row: Row = {"method": method, "reports": FITTED}
    for name, file in (("folder", FILE // 10), ("one_file", FITTED)):
        folder = scratch / f"{method}_{name}"
        written(design(method, "joint"), folder, FITTED, file)
        row[name] = fresh(estimated, method, "joint", folder)
    return row


def passes(scratch: Path) -> Row:
    """Return what an EM step takes that reads its reports anew from a folder, and from one file."""
    own, row = design("rr_ldp", "joint"), {}
    collection = collection_of(own)
    split, table = Split(collection.shape), np.full(math.prod(collection.shape), 1 / math.prod(collection.shape))
    for name in ("folder", "one_file"):
        given = source(str(scratch / f"rr_ldp_{name}"), own, expected(own, collection), on_threads)
        likelihoods = collection.estimator._likelihoods()  # type: ignore[attr-defined]  # noqa: SLF001  # a step alone
        fold = streamed(payload_pieces(given, collection, on_threads), likelihoods, split)
        row[name] = once(lambda fold=fold: step(fold, split, table, FITTED))[1]
    return row


def main() -> None:
    """Print one JSON object."""
    reports = int(sys.argv[1]) if len(sys.argv) > 1 else REPORTS
    out: Row = {"machine": facts(), "tally": [], "fit": []}
    with tempfile.TemporaryDirectory() as name:
        for method in ("krr", "oue"):
            say(f"{method}, {reports:,} reports")
            out["tally"].append(tallied(method, reports, Path(name) / method))
            shutil.rmtree(Path(name) / method)
        for method in ("rr_ldp", "em", "lremh"):
            say(method)
            out["fit"].append(fitted(method, Path(name)))
        out["read_anew"] = fresh(passes, Path(name))
    json.dump(out, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
