"""Seconds and memory of publishing: three columns of a million rows, 2^20 cells, ten million rows, start-up.

python bench/publish.py [PEER_PYTHON] > publish.json

PEER_PYTHON is the interpreter of an environment with `opendp[polars]` (see peer_opendp.py); without it that peer is
left out. Every figure is the median of several runs in fresh or warmed-up processes, as its name says.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from machine import facts

HERE = Path(__file__).parent
RUNS = 5
LARGE = 1 << 20
ATTRIBUTES = [
    {"name": "age", "kind": "integer", "bounds": [0, 99]},
    {"name": "work", "kind": "categorical", "values": [f"w{i}" for i in range(8)]},
    {"name": "sex", "kind": "categorical", "values": ["F", "M"]},
    {"name": "cell", "kind": "integer", "bounds": [0, LARGE - 1]},
]
RELEASES = {
    "marginals of 3 columns": {"kind": "marginals", "attributes": ["age", "work", "sex"]},
    "histogram of 2^20 cells": {"kind": "histogram", "attributes": ["cell"]},
}
CHILD = """
import json, resource, sys, time
start = time.perf_counter()
from dpress import publish
from dpress.data.specification.spec import from_dict
import dpress.release.curator.publish, pyarrow, duckdb
spec, path, runs = from_dict(json.loads(sys.argv[1])), sys.argv[2], int(sys.argv[3])
imported, seconds = time.perf_counter() - start, []
for run in range(runs):
    start = time.perf_counter()
    publish(spec, path, out=f"{sys.argv[4]}/{time.time_ns()}")
    seconds.append(time.perf_counter() - start)
print(json.dumps({"import": imported, "seconds": seconds, "kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
"""


def write_rows(path: Path, rows: int) -> None:
    """Write made-up rows in groups of a million."""
    rng = np.random.default_rng(1)  # noqa: TID251  # made-up rows, no noise
    writer = None
    for start in range(0, rows, 1_000_000):
        size = min(1_000_000, rows - start)
        table = pa.table(
            {
                "age": rng.integers(0, 100, size),
                "work": pa.array([f"w{i}" for i in range(8)]).take(pa.array(rng.integers(0, 8, size))),
                "sex": pa.array(["F", "M"]).take(pa.array(rng.integers(0, 2, size))),
                "cell": rng.integers(0, LARGE, size),
            }
        )
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def child(release: dict[str, object], path: Path, runs: int, out: str) -> dict[str, float]:
    """Publish in a fresh process; the first run pays for warming up, the median of the others is the steady time."""
    spec = {"attribute": ATTRIBUTES, "privacy": {"epsilon": 1.0}, "release": release}
    command = [sys.executable, "-c", CHILD, json.dumps(spec), str(path), str(runs), out]
    done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {
        "import_seconds": done["import"],
        "first_seconds": done["seconds"][0],
        "median_seconds": statistics.median(done["seconds"][1:] or done["seconds"]),
        "peak_mib": done["kib"] / 1024,
    }


def start_up(*command: str) -> float:
    """Return the median wall seconds of a whole process."""
    seconds = []
    for _ in range(2 * RUNS):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main() -> None:
    """Print one JSON object."""
    with tempfile.TemporaryDirectory() as folder:
        million, ten = Path(folder) / "1m.parquet", Path(folder) / "10m.parquet"
        write_rows(million, 1_000_000)
        write_rows(ten, 10_000_000)
        figures: dict[str, object] = {
            f"{name}, 1e6 rows": child(release, million, RUNS + 1, folder) for name, release in RELEASES.items()
        }
        figures["marginals of 3 columns, 1e7 rows"] = child(RELEASES["marginals of 3 columns"], ten, 2, folder)
        if len(sys.argv) > 1:
            peer = [sys.argv[1], str(HERE / "peer_opendp.py"), str(million)]
            done = json.loads(subprocess.run(peer, check=True, capture_output=True, text=True).stdout)
            seconds = statistics.median(done["seconds"])
            ours = child(RELEASES["marginals of 3 columns"], million, RUNS + 1, folder)["median_seconds"]
            figures["opendp polars context, same tables"] = {"median_seconds": seconds, "times_ours": seconds / ours}
    program = str(Path(sys.executable).with_name("dpress"))
    python = start_up(sys.executable, "-c", "pass")
    figures["start-up seconds"] = {
        "python": python,
        "import dpress": start_up(sys.executable, "-c", "import dpress") - python,
        "dpress --help": start_up(program, "--help"),
    }
    print(json.dumps({"machine": facts("duckdb", "pyarrow"), "figures": figures}, indent=2))


if __name__ == "__main__":
    main()
