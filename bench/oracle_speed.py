"""Reports per second of frequency oracles on one core, device and collector, and the time of a single report.

python bench/oracle_speed.py [NAME...] > oracles.json
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpress import catalog
from dpress.core import rng
from dpress.core.claim import PureDP
from machine import facts

REPEATS = 7
SINGLES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One oracle over k values; so many reports are made and tallied at a time."""

    name: str
    size: int = 1024
    epsilon: float = 1
    reports: int = 1_000_000


CASES = (
    Case(name="krr"),
    Case(name="krr", size=16),
    Case(name="hadamard"),
    Case(name="hadamard", size=2**20),
    Case(name="olh"),
    Case(name="olh", epsilon=4),
    Case(name="sue"),
    Case(name="oue"),
    Case(name="oue", size=256),
    Case(name="subset_selection"),
    Case(name="subset_selection", epsilon=4),
    Case(name="subset_selection", size=16),
)


def seconds(run: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median duration; the first run only warms up (and compiles)."""
    run()
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def measure(case: Case) -> dict[str, object]:
    """Measure both sides of one oracle."""
    make = catalog.card(case.name).oracle
    oracle = make(case.size, PureDP(epsilon=case.epsilon)) if make else None
    if oracle is None:
        raise SystemExit(f"{case.name} does not serve {case}")
    secure = rng.secure()
    values = (np.arange(case.reports) * 7919 % case.size).astype(np.int32)
    payloads = oracle.perturb(values, rng=secure)
    tally = oracle.tally(payloads)
    return {
        "oracle": case.name,
        "size": case.size,
        "epsilon": case.epsilon,
        "bytes": oracle.width,
        "device_per_second": case.reports / seconds(lambda: oracle.perturb(values, rng=secure)),
        "collector_per_second": case.reports / seconds(lambda: oracle.tally(payloads)),
        "faults_per_second": case.reports / seconds(lambda: oracle.faults(payloads)),
        "single_report_microseconds": 1e6 * seconds(lambda: oracle.perturb(values[:1], rng=secure), SINGLES),
        "estimate_microseconds": 1e6 * seconds(lambda: oracle.estimate(tally, case.reports)),
    }


def main() -> None:
    """Measure every case, or those of the named oracles, on one core and print JSON."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    wanted = [case for case in CASES if not sys.argv[1:] or case.name in sys.argv[1:]]
    json.dump({"machine": facts("numba"), "speed": [measure(case) for case in wanted]}, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
