"""Ranges of few people: what a release answers, the unbiased answers, and DAWA, on tables seen and unseen, as JSON.

python bench/unseen_ranges.py > unseen-ranges.json

Every table has 4,096 cells; n people are drawn from it anew in every run, and 2,000 random ranges are asked, under pure
epsilon. Figures are mean squared errors over the ranges with the standard error over RUNS runs: "unbiased" and
"posterior" of the default method, "few" the posterior of a tree of branching 4 with its root and equal noise, which a
plan takes that knows how few people there are, "top_down" of the same tree, "dawa" that of `dawa.py`. Ratios are to
DAWA; "all" has the geometric mean of a row of cases, and the worst. Tables of $DPRESS_DATA (DPBench) were looked at
while the method was made ("tuned"); those of $DPRESS_UNSEEN, `.npy` files of 4,096 counts, were not, and are left out
where the variable is not set.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import dpress
from cases import say
from dawa import dawa
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW
from dpress.core.basics.losses.pure import PureDP
from dpress.inference.postprocess import adjust
from dpress.mechanisms.linear.hierarchy import Hierarchy
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from machine import facts

CELLS, RANGES, RUNS = 4096, 2000, 6
CASES = ((1_000, 0.1), (1_000, 1.0), (10_000, 0.1), (10_000, 1.0), (1_000_000, 1.0))
Array = npt.NDArray[np.float64]


def tables() -> dict[str, tuple[Array, bool]]:
    """Return counts by name, and whether they were looked at before."""
    folder = Path(os.environ.get("DPRESS_DATA", "../shared/data")) / "dpbench" / "dpbench_1d_4096.npz"
    seen = dict(np.load(folder)) if folder.exists() else {}
    unseen = Path(os.environ.get("DPRESS_UNSEEN", "nowhere"))
    held_out = {path.stem: np.load(path) for path in sorted(unseen.glob("*.npy"))}
    named = {name: (np.asarray(counts, float), True) for name, counts in seen.items()}
    return named | {name: (np.asarray(counts, float), False) for name, counts in held_out.items()}


def default(epsilon: float) -> MatrixMechanism:
    """Return what `auto` takes."""
    plain = {
        "attribute": [{"name": "x", "kind": "integer", "bounds": [0, CELLS - 1]}],
        "privacy": {"epsilon": epsilon},
        "release": {"kind": "ranges"},
    }
    mechanism: Any = dpress.plan(dpress.load_spec(plain)).chosen.mechanism
    return mechanism


def estimates(mechanism: MatrixMechanism, truth: Array) -> dict[str, Array]:
    """Return the unbiased counts of one release, and adjusted ones."""
    measured = mechanism.measure(truth.astype(np.int64), rng=rng.secure())
    (unbiased,) = mechanism.decoder.estimate(measured)

    def noise(weights: list[Array]) -> float:
        return mechanism.decoder.query_variance(measured.variance, weights)

    likely = adjust(unbiased, ["posterior"], shape=(CELLS,), noise=noise)
    return {"unbiased": unbiased, "posterior": likely, "top_down": adjust(unbiased, ["top_down"])}


def squares(truth: Array, counts: dict[str, Array], ends: npt.NDArray[np.int64]) -> dict[str, float]:
    """Return the mean squared error over ranges."""
    prefixes = {name: np.append(0.0, np.cumsum(each - truth)) for name, each in counts.items()}
    return {name: float(np.mean((sums[ends[1]] - sums[ends[0]]) ** 2)) for name, sums in prefixes.items()}


def measured(shares: Array, people: int, epsilon: float, seed: int) -> dict[str, Any]:
    """Return the errors of one table, with their standard errors."""
    few = MatrixMechanism(strategy=Hierarchy(CELLS, 4, root=True), loss=PureDP(epsilon=epsilon), unit=ROW)
    usual, runs = default(epsilon), []
    for run in range(RUNS):
        draws = np.random.default_rng([seed, people, int(1000 * epsilon), run])  # noqa: TID251  # people, queries, DAWA
        truth = draws.multinomial(people, shares / shares.sum()).astype(float)
        ends = np.sort(draws.integers(0, CELLS + 1, (2, RANGES)), axis=0)
        small = estimates(few, truth)
        counts = estimates(usual, truth) | {"few": small["posterior"], "top_down": small["top_down"]}
        runs.append(squares(truth, counts | {"dawa": dawa(truth, epsilon, draws)}, ends))
    figures = {name: np.array([each[name] for each in runs]) for name in runs[0]}
    return {
        "mse": {name: float(each.mean()) for name, each in figures.items()},
        "standard_error": {name: float(each.std(ddof=1) / len(each) ** 0.5) for name, each in figures.items()},
    }


def together(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the geometric mean and the worst of ratios to DAWA."""
    names = [name for name in rows[0]["mse"] if name != "dawa"]
    logs = {name: np.log([row["mse"][name] / row["mse"]["dawa"] for row in rows]) for name in names}
    return {
        name: {"mean": float(np.exp(each.mean())), "worst": float(np.exp(each.max()))} for name, each in logs.items()
    }


def main() -> None:
    """Print the JSON."""
    known, cases, summary = tables(), [], []
    for people, epsilon in CASES:
        for place, (name, (shares, tuned)) in enumerate(known.items()):
            say(f"ranges of few people: {name}, {people:,} people, epsilon {epsilon:g}")
            row = {"table": name, "tuned": tuned, "people": people, "epsilon": epsilon}
            cases.append(row | measured(shares, people, epsilon, place))
        for tuned in (True, False):
            rows = [row for row in cases if (row["people"], row["epsilon"], row["tuned"]) == (people, epsilon, tuned)]
            if rows:
                summary.append({"people": people, "epsilon": epsilon, "tuned": tuned, "to_dawa": together(rows)})
    print(json.dumps({"machine": facts(), "runs": RUNS, "cases": cases, "all": summary}, indent=1))


if __name__ == "__main__":
    main()
