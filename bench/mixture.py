"""Estimators of a joint table from `rr_ldp` reports: error on real data, passes and time, as JSON.

python bench/mixture.py > mixture.json

Data: DPRESS_DATA or ../shared/data. "avd" is half the L1 distance to the true table; one report a person, all people.
"step_milliseconds" is one EM step of 45,222 reports over 10,000 cells on one core, the median of several.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from dpress.core import rng
from dpress.estimate.bit_evidence import BitEvidence, one_hot
from dpress.estimate.channel_inverse import scored, summing_to_one, unbiased
from dpress.estimate.early_stop import independent, regularised
from dpress.estimate.likelihood import Halves, Split, collapsed, in_memory
from dpress.estimate.mixture import step
from dpress.mechanisms.joint.em import Em
from dpress.mechanisms.joint.lasso import Lasso
from dpress.mechanisms.joint.lremh import Lremh
from dpress.mechanisms.joint.rr_ldp import RrLdp
from machine import facts

DATA = Path(os.environ.get("DPRESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
ADULT = {"education_num": 16, "marital_status": 7, "relationship": 6, "race": 5, "sex": 2}
NLTCS = {f"x{number:02d}": 2 for number in range(4)}
FILES = {"adult": ("adult/adult_privbayes_45222.parquet", ADULT), "nltcs": ("nltcs/nltcs.parquet", NLTCS)}
CASES = (("adult", "0.1"), ("adult", "0.5"), ("nltcs", "0.1"), ("nltcs", "0.5"))
STEPS, CELLS, REPORTS = 9, 100, 45_222
Row = dict[str, Any]
Array = npt.NDArray[np.float64]


def codes(name: str) -> tuple[npt.NDArray[np.int32], tuple[int, ...]]:
    path, columns = FILES[name]
    table = pq.read_table(DATA / path, columns=list(columns))
    return np.stack([np.asarray(table[column]).astype(np.int32) for column in columns]), tuple(columns.values())


def strings(oracle: RrLdp, values: npt.NDArray[np.int32], seed: int) -> list[npt.NDArray[np.uint8]]:
    payloads = oracle.perturb(values, rng=rng.seeded(seed))
    own = np.unpackbits(payloads, axis=1, count=oracle.bits, bitorder="little")
    return np.split(own, np.cumsum(oracle.sizes)[:-1], axis=1)


def compared(name: str, f: str, seed: int = 1) -> Row:
    values, sizes = codes(name)
    oracle, split = RrLdp(sizes=sizes, f=Fraction(f)), Split(sizes)
    q_star, p_star = float(oracle.responses.q_star), float(oracle.responses.p_star)
    evidence = [one_hot(size, q_star=q_star, p_star=p_star) for size in sizes]
    parts = strings(oracle, values, seed)
    truth = np.bincount(np.ravel_multi_index(tuple(values), sizes), minlength=split.cells) / values.shape[1]
    rows = {}
    for method, estimate in estimators(split, evidence, parts, (q_star, p_star)):
        start = time.perf_counter()
        table, more = estimate()
        rows[method] = {"avd": float(np.abs(table - truth).sum() / 2), "seconds": time.perf_counter() - start, **more}
    epsilon = float(oracle.claim.proven.epsilon)  # type: ignore[union-attr]
    return {"data": name, "f": f, "users": values.shape[1], "cells": split.cells, "epsilon": epsilon, "methods": rows}


def estimators(
    split: Split,
    evidence: list[BitEvidence],
    parts: list[npt.NDArray[np.uint8]],
    rates: tuple[float, float],
) -> Iterator[tuple[str, Callable[[], tuple[Array, Row]]]]:
    """Yield every estimator by name; the reports' halves are made once, before."""
    q_star, p_star = rates
    halves = split.halves([own.likelihoods(bits) for own, bits in zip(evidence, parts, strict=True)])
    fold = in_memory(collapsed(halves) if split.cells <= 64 else halves)
    tallies = [own.tally(bits) for own, bits in zip(evidence, parts, strict=True)]
    product = independent([own.bit_shares(tally) for own, tally in zip(evidence, tallies, strict=True)])

    def fitted(fit: Any) -> tuple[Array, Row]:
        return fit.table, {"passes": fit.passes, "gap": fit.gap, "reason": fit.reason}

    def both() -> tuple[Array, Row]:
        found = regularised(fold, split, product)
        table, more = fitted(found.fit)
        return table, more | {"support": found.support, "maximum": fitted(found.maximum)[1]}

    def inverse() -> tuple[Array, Row]:
        scores = [summing_to_one((bits - p_star) / (q_star - p_star)) for bits in parts]
        measured = unbiased(in_memory(scored(split, scores)), split)
        return measured.answers / len(parts[0]), {"standard_error": float(np.sqrt(np.mean(measured.variance)))}

    yield "independent", lambda: (product, {})
    yield "em", lambda: fitted(Em().estimate(fold, split))
    yield "lasso", lambda: (Lasso().estimate(evidence, tallies), {})
    yield "lremh", lambda: fitted(Lremh().estimate(fold, split, evidence, tallies))
    yield "maximum", lambda: fitted(regularised(fold, split, product).maximum)
    yield "regularised", both
    yield "unbiased", inverse


def step_milliseconds() -> float:
    split = Split((CELLS, CELLS))
    draw = rng.seeded(1)
    left, right = (draw.words(REPORTS * CELLS).reshape(-1, CELLS) / 2.0**64 + 0.1 for _ in range(2))
    halves = Halves(left=left.astype(np.float32), right=right.astype(np.float32), counts=np.ones(REPORTS))
    fold, table, taken = in_memory(halves, threads=1), np.full(split.cells, 1 / split.cells), []
    for _ in range(STEPS):
        start = time.perf_counter()
        step(fold, split, table, REPORTS)
        taken.append(time.perf_counter() - start)
    return 1e3 * statistics.median(taken[1:])


def main() -> None:
    """Print one JSON object."""
    rows = [compared(name, f) for name, f in CASES]
    json.dump(
        {"machine": facts("scikit-learn"), "step_milliseconds": step_milliseconds(), "tables": rows},
        sys.stdout,
        indent=2,
    )
    print()


if __name__ == "__main__":
    main()
