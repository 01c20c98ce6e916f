"""How time and memory of publishing grow: every kind, by rows, cells, names, groups, queries and columns; as JSON.

python bench/growth.py [AXIS ...] [--most SIZE] > growth.json

Each axis grows by tens (columns by threes). For every size a table is made up and written as Parquet; then `dpress
plan`, `publish`, `query` and `report` run as processes of their own, as people run them: seconds of CPU and the largest
memory of each. `exponent` is the slope between the last two sizes, of what is above a process that does nothing but
start (a tenth of it counts as nothing): 1 is linear in the size, as it should be at most; columns are by pairs, so that
2 is linear in what is published. `wrong` names what grows faster than `ALLOWED` times that, and the exit code is 1.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpress.core.basics import rng
from dpress.core.basics.rng import Generator
from dpress.data.specification.toml import as_toml
from machine import facts
from process_cost import cost

ALLOWED = 1.25
ROWS = 100_000
STEPS = ("plan", "publish", "query", "report")
Column = dict[str, Any]
Made = tuple[dict[str, Any], dict[str, Any], str]  # the specification, the columns, a query


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Something that grows.

    Args:
        sizes: how many there are of it, one after the other.
        make: from a size and random numbers to a specification, a table and a query.
        power: what the result grows with, as a power of the size.
    """

    sizes: Sequence[int]
    make: Callable[[int, Generator], Made]
    power: float = 1.0


def integer(name: str, size: int) -> Column:
    """Return an attribute of so many cells."""
    return {"name": name, "kind": "integer", "bounds": [0, size - 1]}


def below(draw: Generator, high: int, size: int) -> np.ndarray:
    """Return so many whole numbers below a bound."""
    return (draw.words(size) % np.uint64(high)).astype(np.int64)


def spec(attributes: Sequence[Column], release: Mapping[str, Any], **privacy: Any) -> dict[str, Any]:
    """Return a specification as plain objects."""
    return {"attribute": [*attributes], "privacy": {"epsilon": 1.0} | privacy, "release": dict(release)}


def rows(size: int, draw: Generator) -> Made:
    """Return a small table of many rows."""
    columns = {"age": below(draw, 100, size), "sex": below(draw, 2, size)}
    return spec([integer("age", 100), integer("sex", 2)], {"kind": "histogram"}), columns, "age in 30..39 and sex = 1"


def persons(size: int, draw: Generator) -> Made:
    """Return many rows of which a person has ten, and may keep three."""
    asked, columns, query = rows(size, draw)
    asked["privacy"] |= {"unit": "uid", "rows_per_unit": 3}
    return asked, columns | {"uid": below(draw, max(1, size // 10), size)}, query


def cells(size: int, draw: Generator) -> Made:
    """Return one table of many cells."""
    columns = {"a": below(draw, 10, ROWS), "b": below(draw, size // 10, ROWS)}
    return spec([integer("a", 10), integer("b", size // 10)], {"kind": "histogram"}), columns, "a = 3 and b in 0..9"


def ranges(size: int, draw: Generator) -> Made:
    """Return ranges of one attribute of many cells."""
    return spec([integer("a", size)], {"kind": "ranges"}), {"a": below(draw, size, ROWS)}, "a in 0..99"


def names(size: int, draw: Generator) -> Made:
    """Return names that nobody lists, each of about fifty rows."""
    texts = pa.array([f"name {number}" for number in range(size)]).take(pa.array(below(draw, size, 50 * size)))
    asked = [{"name": "name", "kind": "categorical", "values": "discover"}]
    return spec(asked, {"kind": "names"}, delta=1e-6), {"name": texts}, 'name = "name 3"'


def groups(size: int, draw: Generator) -> Made:
    """Return means of many groups."""
    columns = {"ward": below(draw, size, ROWS), "cost": below(draw, 10_000, ROWS) / 100}
    cost = {"name": "cost", "kind": "numeric", "bounds": [0.0, 100.0], "bins": 10}
    release = {"kind": "statistics", "parameters": {"by": ["ward"], "mean": ["cost"]}}
    return spec([integer("ward", size), cost], release), columns, "mean cost where ward = 3"


def queries(size: int, draw: Generator) -> Made:
    """Return a list of many predicates."""
    predicates = [f"a in {low}..{high}" for low in range(200) for high in range(low, 200)]
    asked = [predicates[place] for place in sorted(range(len(predicates)), key=draw.words(len(predicates)).item)[:size]]
    release = {"kind": "queries", "parameters": {"queries": asked}}
    return spec([integer("a", 200)], release), {"a": below(draw, 200, ROWS)}, asked[0]


def maps(size: int, draw: Generator) -> Made:
    """Return a map of many points."""
    place = {"name": "place", "kind": "location", "columns": ["lon", "lat"], "bounds": [[0.0, 1.0], [0.0, 1.0]]}
    points = {name: (below(draw, 1000, size) * below(draw, 1000, size)) / 1e6 for name in ("lon", "lat")}
    return spec([place], {"kind": "spatial"}), points, "lon in 0.2..0.4 and lat in 0.1..0.3"


def records(size: int, draw: Generator) -> Made:
    """Return made-up records of many people."""
    columns = {name: below(draw, 5, size) for name in "abcde"}
    columns["f"] = (columns["a"] + columns["b"]) // 2
    return spec([integer(name, 5) for name in columns], {"kind": "microdata"}), columns, "a = 3"


def pairs(size: int, draw: Generator) -> Made:
    """Return all pairs of many columns."""
    columns = {f"c{place}": below(draw, 2 + place % 14, ROWS) for place in range(size)}
    attributes = [integer(f"c{place}", 2 + place % 14) for place in range(size)]
    return spec(attributes, {"kind": "marginals", "parameters": {"ways": 2}}, delta=1e-6), columns, "c1 = 0"


AXES = {
    "rows": Axis(sizes=[10**4, 10**5, 10**6, 10**7], make=rows),
    "rows of persons": Axis(sizes=[10**4, 10**5, 10**6, 10**7], make=persons),
    "cells": Axis(sizes=[10**4, 10**5, 10**6, 10**7], make=cells),
    "cells of ranges": Axis(sizes=[10**3, 10**4, 10**5, 10**6, 10**7], make=ranges),
    "names": Axis(sizes=[10**3, 10**4, 10**5, 10**6], make=names),
    "groups": Axis(sizes=[10**3, 10**4, 10**5, 10**6], make=groups),
    "queries": Axis(sizes=[10, 100, 1000, 10**4], make=queries),
    "points of a map": Axis(sizes=[10**4, 10**5, 10**6, 10**7], make=maps),
    "rows of records": Axis(sizes=[10**3, 10**4, 10**5, 10**6], make=records),
    "columns by pairs": Axis(sizes=[10, 30, 100, 300], make=pairs, power=2.0),
}


def written(name: str, size: int, folder: Path) -> str:
    """Write the table and the specification of one size; return its query."""
    asked, columns, query = AXES[name].make(size, rng.seeded(size))
    pq.write_table(pa.table(columns), folder / f"{size}.parquet")
    (folder / "spec.toml").write_text(as_toml(asked))
    return query


def measured(name: str, size: int, folder: Path) -> dict[str, Any]:
    """Return what publishing, a question and the page of one size cost, or why there is none."""
    query = written(name, size, folder)
    table, design, out = folder / f"{size}.parquet", folder / f"{size}.json", folder / f"{size}"
    steps = {
        "plan": ["dpress", "plan", str(folder / "spec.toml"), "--out", str(design)],
        "publish": ["dpress", "publish", str(design), "--data", str(table), "--out", str(out), "--quiet"],
        "query": ["dpress", "query", str(out), query],
        "report": ["dpress", "report", str(out), "--out", str(folder / f"{size}.html")],
    }
    found: dict[str, Any] = {"size": size}
    for step in STEPS:
        try:
            found[step] = cost([sys.executable, "-m", *steps[step]])
        except RuntimeError as failure:
            found[step] = {"refused": str(failure)}
            break
    return found


def exponents(sizes: Sequence[Mapping[str, Any]], start: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return the slope of every step between the last two sizes, of what is above a start."""
    slopes: dict[str, dict[str, float]] = {}
    for step in STEPS:
        done = [each for each in sizes if "seconds" in each.get(step, {})]
        if len(done) < 2:
            continue
        last, before = done[-1], done[-2]
        slopes[step] = {}
        for figure, base in start.items():
            above, below = (max(each[step][figure] - base, base / 10) for each in (last, before))
            slopes[step][figure] = math.log(above / below) / math.log(last["size"] / before["size"])
    return slopes


def main() -> None:
    """Measure, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("axes", nargs="*", default=[], metavar="AXIS", help=f"of {', '.join(AXES)}")
    parser.add_argument("--most", type=float, default=math.inf, help="no larger sizes")
    chosen = parser.parse_args()
    start = cost([sys.executable, "-m", "dpress", "publish", "--help"])
    answers: dict[str, Any] = {}
    for name in chosen.axes or AXES:
        axis, done = AXES[name], list[dict[str, Any]]()
        with tempfile.TemporaryDirectory() as folder:
            for size in (size for size in axis.sizes if size <= chosen.most):
                done.append(measured(name, size, Path(folder)))
                print(name, json.dumps(done[-1]), file=sys.stderr)
        answers[name] = {"sizes": done, "power": axis.power, "exponent": exponents(done, start)}
    wrong = [
        f"{name}: {figure} of {step} by the power {slope:.2f}"
        for name, answer in answers.items()
        for step, slopes in answer["exponent"].items()
        for figure, slope in slopes.items()
        if slope > ALLOWED * answer["power"]
    ]
    print(json.dumps({"machine": facts(), "start": start, "axes": answers, "wrong": wrong}, indent=1))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
