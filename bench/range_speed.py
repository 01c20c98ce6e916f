"""Speed and memory of ranges, as JSON: a million queries, exact errors, publishing, and a dense solution beside ours.

python bench/range_speed.py > range_speed.json

"mib" is the most memory that a call took beyond what its process held before (with a dense way, the explicit matrix is
included); every such call runs in a process of its own.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from cases import case, cases, fresh, once, random_ranges, say, seconds
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.linear import Array
from dpress.inference.interval import half_width
from dpress.mechanisms.linear.boost import Boost
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from machine import facts

SMALL, LARGE, HUGE = 1 << 10, 1 << 20, 1 << 60
QUERIES = 1_000_000
PRICED = [(name, LARGE) for name in ("identity", "prefix", "binary_tree", "boost", "privelet", "hierarchy")]
PRICED += [(name, HUGE) for name in ("binary_tree", "boost", "privelet")]
PRICED += [("dst", SMALL), ("p_identity", SMALL)]
DENSE = (256, 1024, 2048)
Row = dict[str, Any]


def queries() -> Row:
    """Return the time of a million answers with intervals from a release of 2^20 cells by `hierarchy`."""
    one, ranges = case("hierarchy", LARGE), [random_ranges(LARGE, QUERIES, rng.seeded(20))]
    decoder = one.decoder
    noisy = one.mechanism.measure(np.arange(LARGE) % 100, rng=rng.secure())
    variances = one.variances(ranges)
    parts: Row = {
        "answers_seconds": seconds(lambda: decoder.box_answers(noisy, ranges)),
        "variances_seconds": seconds(lambda: one.variances(ranges)),
        "intervals_seconds": seconds(lambda: half_width(variances, 0.95, "laplace")),
    }
    whole = sum(parts.values())

    def together() -> Array:
        return decoder.box_answers(noisy, ranges) + half_width(one.variances(ranges), 0.95, "laplace")

    parts["mib"] = once(together)[1]["mib"]
    return {"cells": LARGE, "queries": QUERIES} | parts | {"seconds": whole, "queries_per_second": QUERIES / whole}


def pricing(name: str, cells: int) -> Row:
    """Return the time and memory of the exact errors of a million ranges."""
    one, ranges = case(name, cells), [random_ranges(cells, QUERIES, rng.seeded(60))]
    first = once(lambda: one.variances(ranges))[1]
    again = seconds(lambda: one.variances(ranges), repeats=1)
    row = {"strategy": name, "cells": cells, "ranges": QUERIES, "first_seconds": first["seconds"], "seconds": again}
    return row | {"ranges_per_second": QUERIES / again, "mib": first["mib"]}


def publishing() -> list[Row]:
    """Return the seconds to measure and to reconstruct 2^20 cells, for every strategy."""
    rows, source, table = [], rng.secure(), np.arange(LARGE) % 100
    for one in cases((LARGE,)):
        say(f"publishing: 2^20 cells, {one.name}, {one.loss}")
        mechanism = one.mechanism
        try:
            noisy = mechanism.measure(table, rng=source)
            measure = seconds(lambda m=mechanism: m.measure(table, rng=source))  # type: ignore[misc]
            estimate = seconds(lambda m=mechanism, y=noisy: m.strategy.decoder.estimate(y))  # type: ignore[misc]
        except NotSupported:
            continue
        rows.append({"strategy": one.name, "loss": one.loss, "measure_seconds": measure, "estimate_seconds": estimate})
    return rows


def solution(kind: str, cells: int) -> Row:
    """Return the time and memory of one way to reconstruct the cells of `boost`, and its distance from `lstsq`."""
    strategy = Boost(cells)
    mechanism = MatrixMechanism(strategy=strategy, loss=PureDP(epsilon=1))
    noisy = mechanism.measure(np.arange(cells) % 100, rng=rng.seeded(cells))
    matrix = np.array([strategy.map.apply(cell) for cell in np.eye(cells)]).T
    y, ours = noisy.answers.astype(np.float64), strategy.decoder.estimate(noisy)[0]
    ways: dict[str, Callable[[], Array]] = {
        "dpress": lambda: strategy.decoder.estimate(noisy)[0],
        "lstsq": lambda: np.asarray(np.linalg.lstsq(matrix, y, rcond=None)[0]),
        "pinv": lambda: np.asarray(np.linalg.pinv(matrix) @ y),
        "normal_equations": lambda: np.asarray(np.linalg.solve(matrix.T @ matrix, matrix.T @ y)),
    }
    cells_found, row = once(ways[kind])
    if kind == "dpress":
        row["seconds"] = seconds(ways[kind])
    elif row["mib"] is not None:
        row["mib"] += matrix.nbytes / 2**20
    return row | {"largest_difference": float(np.max(np.abs(cells_found - ours)))}


def against_dense() -> list[Row]:
    """Return NumPy's dense ways over the two passes of least squares on a tree, in time and memory."""
    rows = []
    for cells in DENSE:
        say(f"dense: {cells} cells")
        ours = fresh(solution, "dpress", cells)
        for kind in ("lstsq", "pinv", "normal_equations"):
            dense = fresh(solution, kind, cells)
            row = {"cells": cells, "way": kind, "seconds": dense["seconds"], "dpress_seconds": ours["seconds"]}
            row |= {"mib": dense["mib"], "dpress_mib": ours["mib"], "ratio": dense["seconds"] / ours["seconds"]}
            rows.append(row | {"largest_difference": dense["largest_difference"]})
    return rows


def main() -> None:
    """Print one JSON object."""
    say("a million queries")
    out: Row = {"machine": facts() | {"blas_threads": os.environ.get("OPENBLAS_NUM_THREADS")}}
    out["queries"] = fresh(queries)
    out["exact_errors"] = []
    for name, cells in PRICED:
        say(f"exact errors: {name}, {cells} cells")
        out["exact_errors"].append(fresh(pricing, name, cells))
    out["publishing"] = publishing()
    out["dense"] = against_dense()
    json.dump(out, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
