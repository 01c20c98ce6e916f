"""Executors and drivers that are killed while a standalone cluster of this machine counts: every count, every charge.

python bench/kills.py [--executors 12] [--before 4] [--after 4] > kills.json

`executors` lose an executor in the midst of a publication, `before` kill the driver while rows are counted, `after`
once the charge is made: when nothing is drawn, when noise is drawn, among the files. The budget of a release is so
large that no noise is left: its tables are the counts. A release whose driver was killed is published again.
Wrong counts and wrong charges are listed, and make the script fail; a kill that came too late counts as none.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpress
from machine import facts

sys.path.append(str(Path(__file__).parents[1]))
FILES, ROWS, LIMIT = 40, 60_000, 120  # seconds for a driver
EPSILON = 1000
SPEC = f"""
[[attribute]]
name = "age"
kind = "integer"
bounds = [17, 90]
[privacy]
epsilon = {EPSILON}
[release]
kind = "histogram"
"""
PLACES = ("charged", "drawn", "writing")


def written(folder: Path) -> list[int]:
    """Write the rows and the specification; return the counts."""
    (folder / "rows").mkdir()
    (folder / "spec.toml").write_text(SPEC)
    counts = np.zeros(74, dtype=np.int64)
    for number in range(FILES):
        ages = 17 + (np.arange(ROWS) * 2654435761 + number) % 4294967296 % 74
        pq.write_table(pa.table({"age": ages}), folder / "rows" / f"{number:02}.parquet")
        counts += np.bincount(ages - 17, minlength=74)
    return counts.tolist()


def executors(folder: Path) -> list[int]:
    """Return the executors of the cluster whose workers work in a folder."""
    processes = []
    for place in Path("/proc").iterdir():
        try:
            words = (place / "cmdline").read_bytes() if place.name.isdecimal() else b""
            if b"CoarseGrainedExecutorBackend" in words and Path(place, "cwd").readlink().is_relative_to(folder):
                processes.append(int(place.name))
        except OSError:
            continue
    return sorted(processes)


def driver(address: str, folder: Path, out: str, ledger: str, place: str) -> None:
    """Publish once; kill this process at a place, if one is named."""
    from dpress.data.sources import spark_address
    from dpress.release.curator import paid

    def kill(*_: Any, **__: Any) -> None:
        os.killpg(0, signal.SIGKILL)

    spark_address.use(address)
    if place == "charged":
        vars(paid)["_drawn"] = kill
    if place == "drawn":
        vars(paid)["_confirmed"] = kill
    release = dpress.publish(
        dpress.load_spec(folder / "spec.toml"),
        str(folder / "rows"),
        out=folder / out,
        ledger=folder / ledger,
        engine="spark",
        writing=kill if place == "writing" else None,
    )
    print(json.dumps(release.kept.tolist()))


def started(address: str, folder: Path, name: str, place: str = "") -> subprocess.Popen[str]:
    """Start a driver in a group of processes of its own."""
    words = [sys.executable, __file__, "--driver", address, str(folder), name, f"{name}.ledger", place]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)


def charged(ledger: Path) -> float:
    """Return what a ledger has spent, 0 where there is none."""
    return float(dpress.Ledger.open(ledger).summary().spent["epsilon"]) if ledger.exists() else 0.0


def of_executors(address: str, folder: Path, expected: list[int], rounds: int) -> list[dict[str, Any]]:
    """Publish in one session, and lose an executor in the midst of every publication."""
    from dpress.data.sources import spark_address
    from dpress.data.sources.spark_session import active_session

    spark_address.use(address)
    active_session()
    results: list[dict[str, Any]] = []
    spec, rows = dpress.load_spec(folder / "spec.toml"), str(folder / "rows")
    dpress.publish(spec, rows, engine="spark")  # executors have begun their Python
    while sum(result["in_time"] for result in results) < rounds and len(results) < 2 * rounds:
        until = time.monotonic() + 30
        while len(executors(folder)) < 2 and time.monotonic() < until:
            time.sleep(0.1)
        done, killed = threading.Event(), list[bool]()

        def kill(done: threading.Event = done, killed: list[bool] = killed, number: int = len(results)) -> None:
            if not done.wait(0.6 + 0.2 * (number % 5)):
                victims = executors(folder)
                os.kill(victims[number % len(victims)], signal.SIGKILL)
                killed.append(not done.is_set())

        killer = threading.Thread(target=kill)
        killer.start()
        name = f"executor-{len(results)}"
        release = dpress.publish(spec, rows, out=folder / name, ledger=folder / f"{name}.ledger", engine="spark")
        done.set()
        killer.join()
        right, spent = release.kept.tolist() == expected, charged(folder / f"{name}.ledger")
        results.append({"kill": "executor", "in_time": any(killed), "right": right, "spent": spent})
    active_session().stop()
    return results


def of_drivers(address: str, folder: Path, expected: list[int], *, before: int, after: int) -> list[dict[str, Any]]:
    """Kill a driver, look at the ledger, publish again, and look again."""
    results: list[dict[str, Any]] = []
    for number in range(before + after):
        name, place = f"driver-{number}", PLACES[number % len(PLACES)] if number >= before else ""
        process = started(address, folder, name, place)
        if not place:
            until = time.monotonic() + LIMIT
            while not executors(folder) and process.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
            time.sleep(1.0 + 0.5 * (number % 4))
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait(LIMIT)
        in_time = code == -signal.SIGKILL
        spent = charged(folder / f"{name}.ledger")
        again = started(address, folder, name)
        output, _ = again.communicate(timeout=LIMIT)
        right = again.returncode == 0 and json.loads(output) == expected
        results.append(
            {
                "kill": f"driver, {place or 'counting'}",
                "in_time": in_time,
                "spent_then": spent,
                "right": right,
                "spent": charged(folder / f"{name}.ledger"),
                "left": sorted(path.name for path in folder.glob(f".{name}*")),
            }
        )
    return results


def main() -> None:
    from tests.spark_clusters import standalone

    parser = argparse.ArgumentParser()
    parser.add_argument("--executors", type=int, default=12)
    parser.add_argument("--before", type=int, default=4)
    parser.add_argument("--after", type=int, default=4)
    options = parser.parse_args()
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--conf spark.executor.memory=512m pyspark-shell")
    started_at = time.monotonic()
    with tempfile.TemporaryDirectory() as name, standalone(Path(name).resolve()) as address:
        folder = Path(name).resolve()
        expected = written(folder)
        results = of_executors(address, folder, expected, options.executors)
        results += of_drivers(address, folder, expected, before=options.before, after=options.after)
    wrong = [
        result
        for result in results
        if not result["right"]
        or result["spent"] != EPSILON
        or result.get("spent_then", EPSILON) != (0 if "counting" in result["kill"] else EPSILON)
        or result.get("left")
    ]
    kills = sum(result["in_time"] for result in results)
    seconds = round(time.monotonic() - started_at)
    rows = {"rows": FILES * ROWS, "kills": kills, "wrong": wrong, "seconds": seconds, "rounds": results}
    print(json.dumps({**rows, "machine": facts("pyspark", "pyarrow")}, indent=2))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--driver"]:
        driver(sys.argv[2], Path(sys.argv[3]), *sys.argv[4:])
    else:
        main()
