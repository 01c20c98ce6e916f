"""Reports of frequency oracles side by side: bytes, error, time of a device and of the collector.

python bench/devices.py > devices.json

The error is the exact variance of a count by one user at even frequencies, over that of the least that any private
report allows. A device's time is that of one report among a thousand made at once, secure coins included; a collector's
is that of one report, from the payloads to the estimate of every count (its fixed part, the estimate, apart). Times are
the processor's, the least of three.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.inference import frequencies
from dpress.mechanisms.oracle.subset_selection import design
from machine import facts

ORACLES = ("pgr", "subset_selection", "hadamard", "olh", "krr")
SIZES, EPSILONS = (16, 1024, 65536), (1, 2, 4)
TURNS = 3
MOST_WORK = 1 << 26  # bits, or steps of a collector that takes k for each report


def seconds(act: Callable[[], Any]) -> float:
    """Return the processor's time, the least of a few turns."""
    found = []
    for _ in range(TURNS):
        start = time.process_time()
        act()
        found.append(time.process_time() - start)
    return min(found)


def row(name: str, size: int, epsilon: int) -> dict[str, Any]:
    """Return the figures of one oracle."""
    loss, secure = PureDP(epsilon=epsilon), rng.secure()
    make = catalog.card(name).oracle
    oracle: Any = make(size, loss) if make is not None else None
    best = design(size, loss.epsilon)
    least = float(frequencies.variances(1, np.asarray(1 / size), best.p, best.q))
    heavy = max(8 * oracle.width, size if catalog.card(name).work == "per report" else 1)
    users = min(100_000, max(1000, MOST_WORK // heavy))
    some = (np.arange(1000) % size).astype(np.int32)
    values = (np.arange(users) % size).astype(np.int32)
    reports = oracle.perturb(values, rng=secure)
    tally = oracle.tally(reports)
    oracle.estimate(tally, users)
    return {
        "oracle": name, "k": size, "epsilon": epsilon, "bytes": oracle.width,
        "variance": round(oracle.variance(1, 1 / size), 6),
        "over_least": round(oracle.variance(1, 1 / size) / least, 4),
        "device_us": round(1e3 * seconds(lambda: oracle.perturb(some, rng=secure)), 3),
        "collector_us": round(1e6 * seconds(lambda: oracle.tally(reports)) / users, 4),
        "estimate_ms": round(1e3 * seconds(lambda: oracle.estimate(tally, users)), 3),
    }  # fmt: skip


def rows() -> Iterator[dict[str, Any]]:
    """Yield the figures of all oracles."""
    for size in SIZES:
        for epsilon in EPSILONS:
            for name in ORACLES:
                yield row(name, size, epsilon)


if __name__ == "__main__":
    json.dump({"machine": facts(), "rows": list(rows())}, sys.stdout, indent=1)
    sys.stdout.write("\n")
