"""Linear regressions at equal privacy: ours beside AdaSSP, the same sums measured one by one, diffprivlib and OpenDP.

python bench/relations.py [--runs 40] [--peers PEER_PYTHON] > relations.json

Tables (DPRESS_DATA): Adult, hours by age and years of education; block groups of 2010, persons by latitude and
longitude; and made-up ones of 1,000 to 100,000 rows with one to five regressors. One row is protected, all numbers
are scaled to [-1, 1] by public bounds. `error` is the root of the mean over runs of the squared distance of the
coefficients, in units of t, from those of the rows; `refused` the share of ours that are not stated, and not in their
error; `ratio` is ours by the peer's. Peers: `AdaSSP` (Wang 2018, Revisiting differentially private linear regression,
Algorithm 2), under epsilon and delta = 1e-6, in floats; `each sum` measures 1, t, t^2 and all products with Laplace
noise, each with an equal share of epsilon, as one would with a library of sums. `--peers` names the interpreter of an
environment with both libraries, see `peer_relations.py`: `diffprivlib` perturbs the objective under what it calls
epsilon 1, in floats; `OpenDP` has one regressor, and a line through medians (Theil-Sen), so that its distance has
that of the two lines in it: on made-up tables a small one.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.inference.linear_relations import Column, Moments, Regression
from dpress.kinds.statistics.relations.design import scaled
from dpress.mechanisms.linear.cross_moments import CrossMoments, feature_places
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from machine import facts

Array = np.ndarray[Any, Any]
DELTA = Fraction(1, 10**6)
STEPS = 1 << 16


def tables(draw: Any) -> dict[str, Array]:
    """Return the numbers of every table in units of t, the outcome last."""
    made: dict[str, Array] = {}
    for size, numbers in ((1000, 2), (10000, 2), (1000, 3), (10000, 3), (100000, 3), (10000, 6), (100000, 6)):
        x = np.clip(draw.normal(0.1, 0.3, (numbers - 1, size)), -1, 1)
        y = np.clip(-0.2 + 0.2 * x.sum(axis=0) + draw.normal(0, 0.2, size), -1, 1)
        made[f"made up, {size} rows, {numbers - 1} regressors"] = np.vstack([x, y])
    adult = Path(os.environ.get("DPRESS_DATA", "../shared/data")) / "adult" / "adult.parquet"
    if adult.is_file():
        frame = pq.read_table(adult, columns=["age", "education_num", "hours_per_week"]).to_pandas().to_numpy(float).T
        low, high = np.array([[0], [1], [0]]), np.array([[99], [16], [99]])
        made["Adult, hours by age and education"] = np.clip(2 * (frame - low) / (high - low) - 1, -1, 1)
    spine = Path(os.environ.get("DPRESS_DATA", "../shared/data")) / "us_spine" / "us_block_groups_2010.parquet"
    if spine.is_file():
        frame = pq.read_table(spine, columns=["lat", "lon", "population"]).to_pandas().to_numpy(float).T
        low, high = np.array([[15], [-180], [0]]), np.array([[75], [-60], [10000]])
        made["block groups, persons by latitude and longitude"] = np.clip(2 * (frame - low) / (high - low) - 1, -1, 1)
    return made


def of_peers(python: str, every: dict[str, Array], runs: int) -> dict[str, dict[str, Array]]:
    """Return the coefficients of other libraries, by table and library, shape (runs, coefficients)."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(file := Path(folder) / "tables.npz", **every)
        words = [python, str(Path(__file__).with_name("peer_relations.py")), str(file), str(runs)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    made = json.loads(done.stdout)
    return {table: {name: np.array(each) for name, each in libraries.items()} for table, libraries in made.items()}


def ours(t: Array, loss: Any, draw: Any) -> Array:
    """Return the coefficients of the form that a plan would take, or NaN where they are refused."""
    p = len(t)
    bare = CrossMoments(
        shape=(STEPS + 1,) * p, by=(), axes=tuple(range(p)), steps=(STEPS,) * p, degree=0, scales=(1, 1, 1, 1)
    )
    made = []
    for paid in loss.payable:
        for degree, scales in scaled(bare, paid.order):
            strategy = CrossMoments(
                shape=bare.shape, by=(), axes=bare.axes, steps=bare.steps, degree=degree, scales=scales
            )
            variance = MatrixMechanism(strategy=strategy, loss=paid).noises[0].variance
            made.append((float(np.trace(strategy.covariance(variance))), strategy, variance, paid.tail))
    _, strategy, variance, tail = min(made, key=lambda each: each[0])
    codes = np.rint((t + 1) / 2 * STEPS).astype(np.int32)
    scale = math.sqrt(variance)
    noise = (
        draw.laplace(0, scale / math.sqrt(2), strategy.width)
        if tail == "laplace"
        else draw.normal(0, scale, strategy.width)
    )
    features = (strategy.sums(codes) + noise) @ strategy.reading.T
    moments = Moments(
        features=features[np.newaxis],
        covariance=strategy.covariance(variance),
        merged=np.ones(1),
        places=feature_places(p, strategy.pairs),
        z=2.0,
    )
    columns = tuple(Column(cells=np.ones(1), number=number) for number in range(p))
    return Regression(moments=moments, outcome=p, columns=columns).coefficients(np.eye(p), np.zeros(p)).value


def ada_ssp(t: Array, epsilon: float, draw: Any) -> Array:
    """Return the coefficients of AdaSSP, rows of length sqrt(p) at most, outcomes in [-1, 1]."""
    x, y, d = np.vstack([np.ones(t.shape[1]), t[:-1]]).T, t[-1], len(t)
    delta, beta, bound = float(DELTA), 0.05, math.sqrt(d)
    log = math.log(6 / delta)
    spread = math.sqrt(log) / (epsilon / 3)
    gram = x.T @ x
    smallest = np.linalg.eigvalsh(gram)[0] + spread * bound**2 * draw.normal() - log / (epsilon / 3) * bound**2
    ridge = max(0.0, math.sqrt(d * log * math.log(2 * d**2 / beta)) * bound**2 / (epsilon / 3) - max(smallest, 0.0))
    noise = np.triu(draw.normal(0, spread * bound**2, (d, d)))
    noisy = gram + noise + np.triu(noise, 1).T
    return np.linalg.solve(noisy + ridge * np.eye(d), x.T @ y + draw.normal(0, spread * bound, d))


def each_sum(t: Array, epsilon: float, draw: Any) -> Array:
    """Return the coefficients from sums with Laplace noise, each with an equal share of epsilon."""
    z = np.vstack([np.ones(t.shape[1]), t])
    sums = z @ z.T
    count = len(z) * (len(z) + 1) // 2
    noise = np.triu(draw.laplace(0, count / epsilon, sums.shape))
    sums = sums + noise + np.triu(noise, 1).T
    return np.linalg.solve(sums[:-1, :-1], sums[:-1, -1])


def main() -> None:
    """Print the errors as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--peers")
    asked, draw = parser.parse_args(), np.random.default_rng(1)  # noqa: TID251  # made-up rows and noise to measure
    runs, every, rows = asked.runs, tables(draw), []
    peers = of_peers(asked.peers, every, runs) if asked.peers else {}
    for name, t in every.items():
        exact = np.linalg.lstsq(np.vstack([np.ones(t.shape[1]), t[:-1]]).T, t[-1], rcond=None)[0]
        ways = {
            "epsilon": lambda t=t: ours(t, PureDP(epsilon=1), draw),
            "epsilon and delta": lambda t=t: ours(t, ApproxDP(1, DELTA), draw),
            "AdaSSP": lambda t=t: ada_ssp(t, 1.0, draw),
            "each sum": lambda t=t: each_sum(t, 1.0, draw),
        }
        squares = {way: np.array([((run() - exact) ** 2).sum() for _ in range(runs)]) for way, run in ways.items()}
        squares |= {peer: ((made - exact) ** 2).sum(axis=1) for peer, made in peers.get(name, {}).items()}
        stated = {way: values[np.isfinite(values)] for way, values in squares.items()}
        errors = {way: math.sqrt(values.mean()) if values.size else None for way, values in stated.items()}
        pairs = {"AdaSSP": "epsilon and delta"} | dict.fromkeys(["each sum", *peers.get(name, {})], "epsilon")
        rows.append(
            {
                "table": name,
                "error": errors,
                "refused": {way: 1 - stated[way].size / runs for way in ("epsilon", "epsilon and delta")},
                "ratio": {peer: errors[way] / errors[peer] if errors[way] else None for peer, way in pairs.items()},
            }
        )
    json.dump({"machine": facts(), "epsilon": 1, "runs": runs, "relations": rows}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
