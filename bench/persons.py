"""Seconds and memory of bounding a person's rows, and counting what stays: against DuckDB's window, in one run.

python bench/persons.py [GOWALLA] > persons.json

GOWALLA is the file of check-ins that `make data` names; without it the real table is left out. Every figure is the
median of RUNS fresh processes, which take turns; `peak_mib` is the process's, `before_mib` what it was before the rows.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from machine import facts

ROWS, PERSONS, MILLION, RUNS = 20_000_000, 500_000, 1_000_000, 3
CAPS = (1, 5, 20)
START = """
import json, sys, time
import duckdb, pyarrow as pa, pyarrow.parquet as pq
from dpress.core.basics import rng
from dpress.core.basics.claim import Unit
from dpress.data.persons.contributions import contributions
from dpress.data.persons.row_sample import row_sample
path, person, cap, cells = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4].split(",")
def opened(columns):
    return pq.ParquetFile(path).iter_batches(1 << 17, columns=columns)
def memory():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) / 1024
counts = f"SELECT {', '.join(cells)}, count(*) FROM kept GROUP BY ALL"
pair = pa.table({person: pq.ParquetFile(path).read_row_group(0, columns=[person])[person][:2]})
unit = Unit(column=person, rows=cap)
connection = duckdb.connect()
connection.execute("SET enable_progress_bar = false; SET preserve_insertion_order = false")
"""
END = """
rows = sum(int(own[-1]) for own in found)
print(json.dumps({"seconds": seconds, "rows": rows, "before_mib": before, "peak_mib": memory()}))
"""
OURS = """
row_sample(pair.to_batches, unit, rng=rng.secure())  # compiles, or reads what was compiled
before, start = memory(), time.perf_counter()
sample = row_sample(lambda: opened([person]), unit, rng=rng.secure())
schema = pa.schema([pq.read_schema(path).field(name) for name in cells])
connection.register("kept", pa.RecordBatchReader.from_batches(schema, sample.of(opened(cells))))
found = connection.sql(counts).fetchall()
seconds = time.perf_counter() - start
"""
WINDOW = """
before, start = memory(), time.perf_counter()
drawn = f"SELECT *, random() AS draw FROM read_parquet('{path}')"
kept = f"FROM ({drawn}) QUALIFY row_number() OVER (PARTITION BY {person} ORDER BY draw) <= {cap}"
found = connection.sql(counts.replace("FROM kept", f"FROM (SELECT {', '.join(cells)} {kept})")).fetchall()
seconds = time.perf_counter() - start
"""
CONTRIBUTIONS = """
contributions(pair.to_batches, (person,), (1,))
before, start = memory(), time.perf_counter()
found = [(contributions(lambda: opened([person]), (person,), (1, 2, 5, 10, 20, 50, 100)).rows,)]
seconds = time.perf_counter() - start
"""
COUNTED = """
before, start = memory(), time.perf_counter()
sums = ", ".join(f"sum(least(own, {cap}))" for cap in (1, 2, 5, 10, 20, 50, 100))
each = f"SELECT count(*) AS own FROM read_parquet('{path}') GROUP BY {person}"
found = connection.sql(f"SELECT max(own), {sums}, sum(own) FROM ({each})").fetchall()
seconds = time.perf_counter() - start
"""


def write_rows(path: Path, *, skewed: bool) -> None:
    """Write made-up rows: all persons equally likely, or the r-th with a chance in proportion to 1 / r."""
    rng = np.random.default_rng(1)  # noqa: TID251  # made-up rows, no noise
    ranks = np.cumsum(1 / np.arange(1, PERSONS + 1))
    schema = pa.schema([("uid", pa.int64()), ("name", pa.string()), ("age", pa.int64()), ("work", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(ROWS // MILLION):
            uids = (
                np.searchsorted(ranks, rng.random(MILLION) * ranks[-1]) if skewed else rng.integers(0, PERSONS, MILLION)
            )
            columns = {
                "uid": uids.astype(np.int64),
                "name": pa.array(np.char.add("person-", uids.astype(str))),
                "age": rng.integers(0, 100, MILLION),
                "work": pa.array([f"w{i}" for i in range(8)]).take(pa.array(rng.integers(0, 8, MILLION))),
            }
            writer.write_table(pa.table(columns, schema=schema))


def child(code: str, *arguments: object) -> dict[str, float]:
    """Run one way to do it in a fresh process."""
    command = [sys.executable, "-c", START + code + END, *map(str, arguments)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def against(ours: str, theirs: str, *arguments: object) -> dict[str, object]:
    """Return the medians of two ways that take turns, and their ratio."""
    runs = [(child(ours, *arguments), child(theirs, *arguments)) for _ in range(RUNS)]
    assert len({own["rows"] for both in runs for own in both}) == 1  # both keep as many
    first, second = ({key: statistics.median(run[side][key] for run in runs) for key in runs[0][0]} for side in (0, 1))
    return {"dpress": first, "duckdb": second, "ratio": first["seconds"] / second["seconds"]}


def main() -> None:
    """Print one JSON object."""
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        even, skewed = Path(folder) / "even.parquet", Path(folder) / "skewed.parquet"
        write_rows(even, skewed=False)
        write_rows(skewed, skewed=True)
        tables = [(even, "uid", "age,work"), (even, "name", "age,work"), (skewed, "name", "age,work")]
        tables += [(Path(path), "uid", "lid") for path in sys.argv[1:2]]
        for path, person, cells in tables:
            name = f"{path.stem}, persons by {person}"
            for cap in CAPS:
                figures[f"{name}, {cap} rows"] = against(OURS, WINDOW, path, person, cap, cells)
            figures[f"{name}, contributions"] = against(CONTRIBUTIONS, COUNTED, path, person, 1, cells)
    print(json.dumps({"machine": facts("duckdb", "pyarrow", "numba"), "rows": ROWS, "figures": figures}, indent=2))


if __name__ == "__main__":
    main()
