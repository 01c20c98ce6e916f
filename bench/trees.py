"""Time and error of `hierarchy` against OpenDP's consistent b-ary trees, in one run, as JSON.

python bench/trees.py > trees.json

Both are given the same counts and epsilon = 1. OpenDP's branching is the one that its `choose_branching_factor` returns
for the number of cells. "seconds" is the median time of building the tree of counts, adding noise, and making it
consistent (OpenDP takes and returns Python lists, which is part of its time); choosing a branching is timed apart. Both
are asked the same random ranges in every run; "measured_mse" is the mean squared error over runs and ranges with the
standard error of the runs, which is itself rough for few runs, since their errors are skewed; "predicted_mse" is exact:
for OpenDP, that of least squares on its tree with noise of its scale. "ours_over_theirs" compares times and errors.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import opendp.prelude as dp

from cases import case, random_ranges, say
from dpress.core.basics import rng
from dpress.core.maps.ranges import Ranges
from dpress.core.maps.tree import Tree
from dpress.inference.box_sums import box_sums
from dpress.inference.tree_ranges import tree_variances
from machine import facts

OURS, THEIRS = 900, {1 << 10: 900, 1 << 14: 100, 1 << 17: 20}  # runs; theirs takes seconds each at 2^17
RANGES = 1000
Row = dict[str, Any]
Array = npt.NDArray[np.float64]
Release = Callable[[], Array]


def opendp_tree(counts: list[int]) -> tuple[int, Release]:
    """Return OpenDP's branching, and a function that releases the leaves of its consistent tree."""
    cells = len(counts)
    branching = dp.t.choose_branching_factor(size_guess=cells)
    domain, metric = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    tree = dp.t.make_b_ary_tree(domain, metric, leaf_count=cells, branching_factor=branching)
    measurement = tree >> dp.m.then_laplace(scale=float(tree.map(1)))  # type: ignore[no-untyped-call]
    assert measurement.map(1) <= 1 + 1e-9  # the same promise as ours
    consistent = dp.t.make_consistent_b_ary_tree(branching_factor=branching)
    return branching, lambda: np.array(consistent(measurement(counts)))


def compared(cells: int) -> Row:
    say(f"trees: {cells} cells")
    counts, source = np.arange(cells) % 100, rng.secure()
    ranges = random_ranges(cells, RANGES, rng.seeded(cells))
    start = time.perf_counter()
    one = case("hierarchy", cells)
    chosen = time.perf_counter()
    branching, theirs = opendp_tree(counts.tolist())
    built = time.perf_counter()
    decoder = one.decoder

    def ours() -> Array:
        return np.asarray(decoder.estimate(one.mechanism.measure(counts, rng=source))[0])

    own = _measured(ours, counts, ranges, OURS)
    peer = _measured(theirs, counts, ranges, THEIRS[cells])
    own |= {"predicted_mse": float(one.variances([ranges]).mean()), "choosing_seconds": chosen - start}
    tree = Tree(cells, branching)
    noise = 2.0 * len(tree.levels) ** 2
    peer |= {"branching": branching, "choosing_seconds": built - chosen}
    peer |= {"predicted_mse": float(tree_variances(tree, ranges).mean()) * noise}  # least squares on the same tree
    own["branching"] = getattr(one.mechanism.strategy.map, "branching", None)
    ratios = {"time": own["seconds"] / peer["seconds"], "mse": own["predicted_mse"] / peer["predicted_mse"]}
    ratios["measured_mse"] = own["measured_mse"] / peer["measured_mse"]
    return {"cells": cells, "dpress": own, "opendp": peer, "ours_over_theirs": ratios}


def _measured(release: Release, counts: npt.NDArray[np.int64], ranges: Ranges, runs: int) -> Row:
    truth, times, errors = box_sums(counts, [ranges]), [], []
    release()
    for _ in range(runs):
        start = time.perf_counter()
        leaves = release()
        times.append(time.perf_counter() - start)
        errors.append(float(np.mean((box_sums(leaves[: len(counts)], [ranges]) - truth) ** 2)))
    error = float(np.std(errors, ddof=1) / np.sqrt(runs))
    return {
        "runs": runs,
        "seconds": float(np.median(times)),
        "measured_mse": float(np.mean(errors)),
        "standard_error": error,
    }


def main() -> None:
    """Print one JSON object."""
    dp.enable_features("contrib")
    case("hierarchy", 16)  # imports what is slow to import
    rows = [compared(cells) for cells in THEIRS]
    json.dump({"machine": facts(), "ranges": RANGES, "trees": rows}, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
