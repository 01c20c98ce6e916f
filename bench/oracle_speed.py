"""Reports per second of frequency oracles on one core, device and collector; one report's time; peers alongside.

python bench/oracle_speed.py [NAME...] [--peers PYTHON] > oracles.json

PYTHON (or $DPRESS_PEERS) is the interpreter of an environment that holds the peers, see `peer_oracles.py`; without it
no peer is run. Ours and theirs then take turns. A ratio is reports a second, ours over theirs, the median of the
rounds; collectors are compared from the reports to the estimate of every count.

Every rate is given by the wall clock and by the processor's: the latter is the one to go by on a shared machine.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpress import catalog, device
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.reports.oracle import Oracle
from dpress.data.specification.spec import from_dict
from machine import facts

REPEATS = 7
ROUNDS = 5
SINGLES = 2000
PEERS = ("multi-freq-ldpy", "pure-ldp")
ANSWERS = ("krr", "oue", "olh", "hadamard", "rappor")
Row = dict[str, Any]
Ask = Callable[[Row], Any]


class Duration(NamedTuple):
    """Seconds by both clocks."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One oracle over k values; so many reports are made and tallied at a time."""

    name: str
    size: int = 1024
    epsilon: float = 1
    reports: int = 1_000_000

    @property
    def oracle(self) -> Oracle:
        """The oracle, as a collection makes it."""
        make = catalog.card(self.name).oracle
        oracle = make(self.size, PureDP(epsilon=self.epsilon)) if make else None
        if oracle is None:
            raise SystemExit(f"{self.name} does not serve {self}")
        return oracle

    @property
    def values(self) -> np.ndarray:
        """What the users hold."""
        return (np.arange(self.reports) * 7919 % self.size).astype(np.int32)


CASES = (
    Case(name="krr"),
    Case(name="krr", size=16),
    Case(name="hadamard"),
    Case(name="hadamard", size=2**20),
    Case(name="olh"),
    Case(name="olh", epsilon=4),
    Case(name="sue", reports=200_000),
    Case(name="oue", reports=200_000),
    Case(name="oue", size=256),
    Case(name="subset_selection", reports=200_000),
    Case(name="subset_selection", epsilon=4, reports=200_000),
    Case(name="subset_selection", size=16),
)
AGAINST_PEERS = tuple(case for case in CASES if case.size <= 1024 and case.epsilon == 1)


def once(run: Callable[[], object]) -> Duration:
    """Return what one call takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return Duration(time.perf_counter() - wall, time.process_time() - cpu)


def seconds(run: Callable[[], object], repeats: int = REPEATS) -> Duration:
    """Return the median duration; the first run only warms up (and compiles)."""
    run()
    taken = [once(run) for _ in range(repeats)]
    return Duration(*(statistics.median(clock) for clock in zip(*taken, strict=True)))


def rates(name: str, reports: int, taken: Duration) -> Row:
    """Return reports a second by both clocks."""
    return {f"{name}_per_second": reports / taken.wall, f"{name}_per_cpu_second": reports / taken.cpu}


def answered(method: str) -> Row:
    """Return what one whole answer of a device takes, from a code to packed bytes, with its secret."""
    attribute = {"name": "age", "kind": "integer", "bounds": [0, 99]}
    release = {"kind": "histogram", "attributes": ["age"], "method": method}
    own = device(from_dict({"attribute": [attribute], "privacy": {"model": "local", "epsilon": 1}, "release": release}))
    secure, secret = rng.secure(), os.urandom(32)
    taken = seconds(lambda: own.answer((7,), rng=secure, secret=secret), SINGLES)
    return {"method": method, "microseconds": 1e6 * taken.wall, "cpu_microseconds": 1e6 * taken.cpu}


def peak(run: Callable[[], object]) -> int:
    """Return the most bytes that a call holds at a time."""
    tracemalloc.start()
    run()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def measure(case: Case) -> Row:
    """Measure both sides of one oracle."""
    oracle, values, secure = case.oracle, case.values, rng.secure()
    payloads = oracle.perturb(values, rng=secure)
    tally = oracle.tally(payloads)
    single = seconds(lambda: oracle.perturb(values[:1], rng=secure), SINGLES)
    return {
        "oracle": case.name,
        "size": case.size,
        "epsilon": case.epsilon,
        "bytes": oracle.width,
        **rates("device", case.reports, seconds(lambda: oracle.perturb(values, rng=secure))),
        **rates("collector", case.reports, seconds(lambda: oracle.tally(payloads))),
        **rates("faults", case.reports, seconds(lambda: oracle.faults(payloads))),
        "single_report_microseconds": 1e6 * single.wall,
        "single_report_cpu_microseconds": 1e6 * single.cpu,
        "estimate_microseconds": 1e6 * seconds(lambda: oracle.estimate(tally, case.reports)).wall,
        "tally_bytes": tally.nbytes,
        "tally_peak_bytes": peak(lambda: oracle.tally(payloads)),
        "payload_bytes": payloads.nbytes,
    }


@contextmanager
def peers(python: str) -> Iterator[tuple[Row, Ask]]:
    """Run the peers' program; yield its versions and what asks it for one run."""
    script = Path(__file__).with_name("peer_oracles.py")
    with subprocess.Popen([python, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        asked, answers = process.stdin, process.stdout

        def answer() -> Any:
            line = answers.readline()
            return json.loads(line) if line else sys.exit("the peers' program has ended")

        def ask(case: Row) -> Any:
            print(json.dumps(case), file=asked, flush=True)
            return answer()

        yield answer(), ask


def compare(case: Case, library: str, ask: Ask) -> Row | None:
    """Return the rates of ours and of a peer, who take turns; None where the peer does not have the oracle."""
    asked = {"library": library, "oracle": case.name, "size": case.size, "epsilon": case.epsilon}
    theirs = [ask(asked)]
    if theirs[0] is None:
        return None
    oracle, values, secure = case.oracle, case.values, rng.secure()
    payloads = oracle.perturb(values, rng=secure)
    run: dict[str, Callable[[], object]] = {
        "device": lambda: oracle.perturb(values, rng=secure),
        "collector": lambda: oracle.estimate(oracle.tally(payloads), case.reports),
    }
    run["collector"]()
    ours = []
    for _ in range(ROUNDS):
        ours.append({side: once(call) for side, call in run.items()})
        theirs.append(ask(asked))
    row: Row = {"bytes": oracle.width, "peer_bytes": theirs[0]["bytes_held"]}
    for side in run:
        for clock in Duration._fields:
            mine = [case.reports / getattr(one[side], clock) for one in ours]
            other = [one[side]["reports"] / one[side][clock] for one in theirs[1:]]
            found = {"per_second": mine, "peer_per_second": other, "ratio": np.divide(mine, other).tolist()}
            row |= {f"{side}_{clock}_{name}": statistics.median(numbers) for name, numbers in found.items()}
    return asked | row


def against(python: str, wanted: list[Case]) -> Row:
    """Return every comparison with every peer."""
    with peers(python) as (versions, ask):
        found = [compare(case, library, ask) for case in wanted for library in PEERS]
    return {"versions": versions, "rounds": ROUNDS, "ratios": [row for row in found if row]}


def main() -> None:
    """Measure every case, or those of the named oracles, on one core and print JSON."""
    parser = argparse.ArgumentParser(description="Speed of frequency oracles.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--peers", default=os.environ.get("DPRESS_PEERS"), metavar="PYTHON")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    named = set(options.names or (case.name for case in CASES))
    out: Row = {"machine": facts("numba"), "speed": [measure(case) for case in CASES if case.name in named]}
    out["devices"] = [answered(name) for name in options.names or ANSWERS]
    if options.peers:
        out["peers"] = against(options.peers, [case for case in AGAINST_PEERS if case.name in named])
    json.dump(out, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
