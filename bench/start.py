"""CPU seconds of starting: the command line and the imports, against importing numpy and Parquet in the same run.

python bench/start.py > start.json

Every figure is user and system time of whole processes, the median of 7; the processes take turns, so that a change of
the machine's speed meets all of them. A first run compiles all byte code into a folder of its own, as an installation
does, whatever the environment says. `times` is the ratio to the yardstick, `target` what it may be at most, `heavy` the
large libraries that are loaded, `missed` the starts that cost more than their target.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from dpress import load_spec, publish
from machine import facts

RUNS = 7
YARDSTICK = "import numpy, pyarrow.parquet"
DEVICE = """
import dpress.core.basics.rng, dpress.mechanisms.protocol.collection, dpress.mechanisms.protocol.report_type
import dpress.noise.response
from dpress.mechanisms.oracle import hadamard, krr, olh, oue, rappor, subset_selection, sue
"""
TARGETS = {
    "dpress --help": 0.3, "dpress list": 1.0, "dpress query": 1.5, "dpress plan": 2.5, "dpress check": 4.0,
    "dpress report": 5.0, "import a device": 1.0,
}  # fmt: skip
HEAVY = ("numpy", "pyarrow", "scipy", "numba", "duckdb", "narwhals", "pandas", "polars", "altair", "rich", "sklearn")
SPEC = """
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 99]

[[attribute]]
name = "sex"
kind = "categorical"
values = ["F", "M"]

[privacy]
epsilon = 1.0

[release]
kind = "marginals"
attributes = ["age", "sex"]
"""
ROWS = "age,sex\n" + "".join(f"{i % 100},{'FM'[i % 2]}\n" for i in range(1000))


def make(folder: Path) -> None:
    """Write a spec, rows and their release."""
    (folder / "spec.toml").write_text(SPEC)
    (folder / "rows.csv").write_text(ROWS)
    publish(load_spec(folder / "spec.toml"), folder / "rows.csv", out=folder / "release")


def starts(folder: Path) -> dict[str, list[str]]:
    """Return the processes, by name."""
    python, program = sys.executable, str(Path(sys.executable).with_name("dpress"))
    release, spec, page = str(folder / "release"), str(folder / "spec.toml"), str(folder / "page.html")
    return {
        "yardstick": [python, "-c", YARDSTICK],
        "python": [python, "-c", "pass"],
        "import dpress": [python, "-c", "import dpress"],
        "import a device": [python, "-c", DEVICE],
        "dpress --help": [program, "--help"],
        "dpress list": [program, "list"],
        "dpress query": [program, "query", release, "total"],
        "dpress plan": [program, "plan", spec],
        "dpress check": [program, "check", spec, "--data", str(folder / "rows.csv")],
        "dpress report": [program, "report", release, "--out", page],
    }


def surroundings(folder: Path) -> dict[str, str]:
    """Return the environment of the processes: byte code is written, and to the folder."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(folder / "compiled")}


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """Return the CPU seconds of one process, user and system."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} failed")
    return usage.ru_utime + usage.ru_stime


def heavy(command: list[str], environment: dict[str, str]) -> list[str]:
    """Return the large libraries that a process loads, as `-X importtime` tells."""
    traced = [sys.executable, "-X", "importtime", *command[command[0] == sys.executable :]]
    told = subprocess.run(traced, env=environment, check=True, capture_output=True, text=True).stderr
    loaded = {line.rsplit("|", 1)[-1].strip() for line in told.splitlines()}
    return [name for name in HEAVY if name in loaded]


def main() -> None:
    """Print one JSON object."""
    with tempfile.TemporaryDirectory() as name:
        make(Path(name))
        commands, environment = starts(Path(name)), surroundings(Path(name))
        figures = {start: {"heavy": heavy(command, environment)} for start, command in commands.items()}
        runs = [{start: seconds(command, environment) for start, command in commands.items()} for _ in range(RUNS)]
    medians = {start: statistics.median(run[start] for run in runs) for start in commands}
    for start, figure in figures.items():
        times, target = medians[start] / medians["yardstick"], TARGETS.get(start)
        figure |= {"seconds": medians[start], "times": times, "target": target}
    missed = [start for start, target in TARGETS.items() if medians[start] > target * medians["yardstick"]]
    print(json.dumps({"machine": facts("click", "pyarrow"), "figures": figures, "missed": missed}, indent=2))


if __name__ == "__main__":
    main()
