"""Estimators of a joint table from `rr_ldp` reports: error on real data, passes and time, as JSON.

python bench/mixture.py > mixture.json

Data: DPRESS_DATA or ../shared/data. "avd" is half the L1 distance to the true table; one report a person, all people.
"step" is one EM step of 45,222 reports over 10,000 cells on one core: medians of several; the core's own time, which
leaves out waiting for it, is held against TARGET. "gap" is the way to a duality gap of 1e-4 on Adult's 6,720 cells.
"memory" is what reports take, each number of them in a process of its own. "streaming" is one pass over reports that
are read anew, against one over halves that are kept; "mib" is what it took beyond what there was. Times are reported,
not asserted.
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

from cases import fresh, once, say
from dpress.core.basics import rng
from dpress.core.reports.pieces import on_threads
from dpress.inference.joint.bit_evidence import BitEvidence, one_hot
from dpress.inference.joint.likelihood import Halves, Split, in_memory
from dpress.inference.joint.mixture import maximise, step
from dpress.mechanisms.joint.bit_fold import bit_fold
from dpress.mechanisms.joint.bit_tables import OneHotScores, unbiased, variances
from dpress.mechanisms.joint.documents.em import Em
from dpress.mechanisms.joint.documents.lasso import Lasso
from dpress.mechanisms.joint.documents.lremh import Lremh
from dpress.mechanisms.joint.early_stop import UNIFORM, independent, regularised
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.protocol.bit_tally import BitTally
from machine import facts

DATA = Path(os.environ.get("DPRESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
ADULT = {"education_num": 16, "marital_status": 7, "relationship": 6, "race": 5, "sex": 2}
NLTCS = {f"x{number:02d}": 2 for number in range(4)}
FILES = {"adult": ("adult/adult_privbayes_45222.parquet", ADULT), "nltcs": ("nltcs/nltcs.parquet", NLTCS)}
CASES = (("adult", "0.1"), ("adult", "0.5"), ("nltcs", "0.1"), ("nltcs", "0.5"))
STEPS, CELLS, REPORTS = 25, 100, 45_222
TARGET = 25.0  # milliseconds a step
GAP, THREADS = 1e-4, (1, 2)
READ = 1 << 16  # reports of a batch
Row = dict[str, Any]
Array = npt.NDArray[np.float64]


def collapsed(halves: Halves) -> Halves:
    """Return the distinct reports with their counts: faster where few patterns exist, as of a few short strings."""
    both = np.ascontiguousarray(np.concatenate([halves.left, halves.right], axis=1))
    keys = both.view(np.dtype((np.void, both.dtype.itemsize * both.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    counts = np.bincount(inverse.ravel(), weights=halves.counts, minlength=len(first)).astype(np.float64)
    return Halves(left=halves.left[first], right=halves.right[first], counts=counts)


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
        packed = [np.packbits(bits, axis=1, bitorder="little") for bits in parts]
        starts = np.cumsum([0, *(8 * own.shape[1] for own in packed[:-1])]).tolist()
        counter = BitTally(starts=tuple(starts), sizes=split.sizes)
        tally = counter.tally(np.concatenate(packed, axis=1))
        scores = [OneHotScores(size=size, q_star=q_star, p_star=p_star) for size in split.sizes]
        found = unbiased(counter.block(tally, tuple(range(len(parts)))), scores)
        spread = variances(found, scores, len(parts[0]))
        return found.ravel() / len(parts[0]), {"standard_error": float(np.sqrt(np.mean(spread)))}

    yield "independent", lambda: (product, {})
    yield "em", lambda: fitted(Em().estimate(fold, split))
    yield "lasso", lambda: (Lasso().estimate(evidence, tallies), {})
    yield "lremh", lambda: fitted(Lremh().estimate(fold, split, evidence, tallies))
    yield "maximum", lambda: fitted(maximise(fold, split, opened(product), gap=GAP))
    yield "regularised", both
    yield "unbiased", inverse


def opened(product: Array) -> Array:
    return (1 - UNIFORM) * product + UNIFORM / product.size


def drawn(split: Split, reports: int) -> Halves:
    draw, (left, right) = rng.seeded(1), split.shape
    halves = (
        (draw.words(reports * side).reshape(-1, side) / 2.0**64 + 0.1).astype(np.float32) for side in (left, right)
    )
    return Halves(left=next(halves), right=next(halves), counts=np.ones(reports))


def one_step() -> Row:
    split = Split((CELLS, CELLS))
    fold, table = in_memory(drawn(split, REPORTS), threads=1), np.full(split.cells, 1 / split.cells)
    taken, own = [], []
    for _ in range(STEPS):
        start, core = time.perf_counter(), time.thread_time()
        step(fold, split, table, REPORTS)
        own.append(1e3 * (time.thread_time() - core))
        taken.append(1e3 * (time.perf_counter() - start))
    median = statistics.median(own[1:])
    found = {"reports": REPORTS, "cells": split.cells, "core_milliseconds": median, "least_core_milliseconds": min(own)}
    return found | {"milliseconds": statistics.median(taken[1:]), "target": TARGET, "met": median <= TARGET}


def to_the_gap(f: str, threads: int) -> Row:
    """Return how long the greatest likelihood takes on Adult's five attributes, reports' likelihoods included."""
    values, sizes = codes("adult")
    oracle, split = RrLdp(sizes=sizes, f=Fraction(f)), Split(sizes)
    parts = strings(oracle, values, 1)
    rates = float(oracle.responses.q_star), float(oracle.responses.p_star)
    evidence = [one_hot(size, q_star=rates[0], p_star=rates[1]) for size in sizes]
    start, core = time.perf_counter(), time.process_time()
    tallies = [own.tally(bits) for own, bits in zip(evidence, parts, strict=True)]
    product = independent([own.bit_shares(tally) for own, tally in zip(evidence, tallies, strict=True)])
    halves = split.halves([own.likelihoods(bits) for own, bits in zip(evidence, parts, strict=True)])
    fit = maximise(in_memory(halves, threads=threads), split, opened(product), gap=GAP)
    row: Row = {"f": f, "cells": split.cells, "threads": threads, "gap": fit.gap, "passes": fit.passes}
    return row | {"seconds": time.perf_counter() - start, "core_seconds": time.process_time() - core}


def memory(reports: int) -> Row:
    """Return what so many reports over Adult's five attributes take, their halves and three passes."""
    split = Split(tuple(ADULT.values()))
    one_hots = [np.ones((reports, size), dtype=np.float32) for size in split.sizes]

    def passes() -> None:
        maximise(in_memory(split.halves(one_hots)), split, np.ones(split.cells), passes=3)

    _, taken = once(passes)
    mib = taken["mib"]
    return {"reports": reports, "bytes_a_report": None if mib is None else mib * 2**20 / reports, **taken}


def streaming(reports: int) -> Row:
    """Return what a pass takes that reads reports over Adult's five attributes anew, and one over kept halves."""
    sizes = tuple(ADULT.values())
    oracle, split = RrLdp(sizes=sizes, f=Fraction("0.1")), Split(sizes)
    q_star, p_star = float(oracle.responses.q_star), float(oracle.responses.p_star)
    evidence = [one_hot(size, q_star=q_star, p_star=p_star) for size in sizes]
    payloads = oracle.perturb(np.zeros((len(sizes), reports), dtype=np.int32), rng=rng.seeded(1))
    table = np.full(split.cells, 1 / split.cells)

    def batches(kernel: Callable[[list[npt.NDArray[np.uint8]]], Any]) -> Iterator[Any]:
        return on_threads(kernel, ([payloads[start : start + READ]] for start in range(0, reports, READ)))

    def likelihoods(own: npt.NDArray[np.uint8]) -> list[Any]:
        bits = np.unpackbits(own, axis=1, count=oracle.bits, bitorder="little")
        parts = np.split(bits, np.cumsum(sizes)[:-1], axis=1)
        return [one.likelihoods(part) for one, part in zip(evidence, parts, strict=True)]

    row: Row = {"reports": reports}
    for name, memory in (("read_anew", 0), ("kept", 1 << 40)):
        fold, ready = once(lambda memory=memory: bit_fold(batches, likelihoods, split, memory=memory))
        row[name] = {"ready": ready, "pass": once(lambda fold=fold: step(fold, split, table, reports))[1]}
    return row


def main() -> None:
    """Print one JSON object."""
    say("one step")
    out: Row = {"machine": facts("scikit-learn"), "step": one_step()}
    say("to the gap")
    out["gap"] = [to_the_gap(f, threads) for f in ("0.1", "0.5") for threads in THREADS]
    say("memory")
    out["memory"] = [fresh(memory, REPORTS * times) for times in (1, 2, 4, 8)]
    say("streaming")
    out["streaming"] = [fresh(streaming, REPORTS * times) for times in (5, 20)]
    out["tables"] = []
    for name, f in CASES:
        say(f"{name}, f = {f}")
        out["tables"].append(compared(name, f))
    json.dump(out, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
