"""Weighted means at equal privacy: ours beside two clamped sums, and beside the mean without weights.

python bench/weighted.py [--runs 400] > weighted.json

Tables (DPRESS_DATA): Adult, hours by the survey's final weights; Uber pick-ups in New York, latitude by how many each
point stands for. Made up: pay with heavy-tailed weights. One row is protected; W is a public bound of the weights.
`error` is the root mean squared error over runs, in units of the attribute, of one group of all rows, under a seeded
generator of ours. Peers: `two sums`, sum w and sum w x with Laplace noise of W and W max |x|, each with half of
epsilon; `centred sums`, the same of x less the middle of its bounds; `unweighted` is our mean without weights of the
same rows, another number: its error is what the weights cost. `ratio` is ours by the peer's.
"""

import argparse
import json
import math
import os
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.moment_sums import MomentSums
from dpress.mechanisms.linear.row_weight import RowWeight
from machine import facts

Array = np.ndarray[Any, Any]
STEPS = 1 << 20


def tables() -> dict[str, tuple[Array, Array, tuple[float, float], float]]:
    """Return of every table the numbers, the weights, the bounds of the numbers, and the largest weight."""
    data = Path(os.environ.get("DPRESS_DATA", "../shared/data"))
    draw = np.random.default_rng(11)  # noqa: TID251  # made-up rows
    made = {
        "made up, 20000 rows": (
            np.clip(draw.lognormal(3, 0.5, 20000), 0, 100),
            np.clip(draw.lognormal(4, 0.8, 20000), 0, 400),
            (0.0, 100.0),
            400.0,
        )
    }
    if (adult := data / "adult" / "adult.parquet").is_file():
        hours, weights = pq.read_table(adult, columns=["hours_per_week", "fnlwgt"]).to_pandas().to_numpy(float).T
        made["Adult, hours"] = hours, np.clip(weights, 0, 500_000), (0.0, 99.0), 500_000.0
    if (uber := data / "nyc_pickups" / "nyc_uber_pickups_weighted.parquet").is_file():
        frame = pq.read_table(uber).to_pandas()
        weights = frame["count"].to_numpy(float)
        made["Uber pick-ups, latitude"] = frame["lat"].to_numpy(float), weights, (40.5, 41.0), 15.0
    return made


def noisy_mean(codes: Array, weight: RowWeight | None, epsilon: Fraction, runs: int) -> Array:
    """Return means of t in [-1, 1] of as many runs."""
    shape = (STEPS + 1, STEPS + 1)
    part = MomentSums(shape=shape, by=(), degree=1, steps=STEPS, axis=0, weight=weight)
    strategy = GroupStatistics(moments=(part,), shares=(Fraction(1),))
    mechanism = MatrixMechanism(strategy=strategy, loss=PureDP(epsilon=epsilon))
    sums = strategy.sums(codes)
    noisy = [mechanism.noisy(sums.copy(), rng=rng.seeded(run)).answers for run in range(runs)]
    levels = np.array(noisy, dtype=float)[:, part.first :]
    return (levels[:, 1] - levels[:, 0]) / levels.sum(axis=1)


def errors_of(name: str, epsilon: Fraction, runs: int) -> dict[str, Any]:
    """Return the errors of all ways for one table."""
    numbers, weights, (low, high), heaviest = tables()[name]
    numbers = np.clip(numbers, low, high)
    radius, centre = (high - low) / 2, (high + low) / 2
    t, u = (numbers - centre) / radius, weights / heaviest
    codes = np.rint(np.array([(t + 1) / 2, u]) * STEPS).astype(np.int32)
    true, plain = float(np.average(numbers, weights=weights)), float(numbers.mean())
    weight = RowWeight(axis=1, steps=STEPS, lightest=0.0)
    half = float(epsilon) / 2
    draw = np.random.default_rng(rng.seeded(5).words(4))  # noqa: TID251  # noise of the peers
    noise = draw.laplace(0, 1 / half, (3, runs))
    count = u.sum() + noise[0]
    largest = max(abs(low), abs(high))
    ways = {
        "ours": centre + radius * noisy_mean(codes, weight, epsilon, runs) - true,
        "two sums": ((u * numbers).sum() + largest * noise[1]) / count - true,
        "centred sums": centre + radius * ((u * t).sum() + noise[2]) / count - true,
        "unweighted": centre + radius * noisy_mean(codes, None, epsilon, runs) - plain,
    }
    errors = {
        way: math.sqrt(float(np.mean(np.clip(error, -(high - low), high - low) ** 2))) for way, error in ways.items()
    }
    return {
        "table": name,
        "epsilon": float(epsilon),
        "mean weight by the largest": float(u.mean()),
        "error": errors,
        "ratio": {way: errors["ours"] / error for way, error in errors.items() if way != "ours"},
    }


def main() -> None:
    """Print the errors as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    runs = parser.parse_args().runs
    rows = [errors_of(name, epsilon, runs) for name in tables() for epsilon in (Fraction(1, 10), Fraction(1))]
    json.dump({"machine": facts(), "runs": runs, "weighted": rows}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
