"""The experiments of the document on joint distributions under local privacy: RR-LDP, EM, LASSO, LREMH.

make reproduce PAPER=joint        (python papers/joint.py [--quick] [--out FOLDER])

Writes tables (CSV) and figures (SVG, PNG) to out/papers/joint/ and prints a line for every claim; exit 1 if one of ours
fails. A claim of the document that does not hold is a finding and no failure. NLTCS and Adult come from $DPRESS_DATA,
by default ../shared/data; without them it says so and stops. About 10 minutes on two cores; --quick takes seconds.
"""

import argparse
import csv
import math
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # times are those of one core

import joint_claims
import numpy as np
import pyarrow.parquet as pq
from joint_figures import draw
from joint_methods import (
    BLOOM,
    Codes,
    Found,
    bloom_bits,
    bloom_oracle,
    from_bits,
    from_questions,
    loop_seconds,
    one_hot_bits,
    truth,
)

from dpress.core import rng
from dpress.core.claim import PureDP
from dpress.inference.joint.bit_evidence import one_hot
from dpress.mechanisms.joint.lasso import Lasso
from dpress.mechanisms.joint.rr_ldp import RrLdp

DATA = Path(os.environ.get("DPRESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
SEED = 2021
ALL, SAMPLE = "all", "sample"
FEW = 200  # reports that the loop as published is timed on
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A data set of the document.

    Args:
        path: below the folder of reference data.
        sizes: of the attributes in the order in which they are taken: the first k are used.
        part: one in so many rows is the document's sample.
    """

    path: str
    sizes: dict[str, int]
    part: int


SOURCES = {
    "nltcs": Source(path="nltcs/nltcs.parquet", sizes={f"x{place:02d}": 2 for place in range(16)}, part=5),
    "adult": Source(
        path="adult/adult_privbayes_45222.parquet",
        sizes={
            "education_num": 16, "marital_status": 7, "relationship": 6, "race": 5, "sex": 2, "workclass": 7,
            "occupation": 14, "income": 2,
        },
        part=10,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One setting, with all its runs.

    Args:
        data: which data set.
        k: how many attributes.
        who: everybody, or the document's sample, drawn anew for every run.
        f: of the permanent response.
        runs: how many.
        reports: the device's method, "rr_ldp" or "rappor".
    """

    data: str
    k: int
    who: str
    f: str
    runs: int
    reports: str = "rr_ldp"

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of every attribute."""
        return tuple(SOURCES[self.data].sizes.values())[: self.k]

    @property
    def work(self) -> int:
        """About how long it takes, for the order."""
        people = 45_222 if self.data == "adult" else 21_574
        return math.prod(self.sizes) * people // (1 if self.who == ALL else 10)


EVERY_F = tuple(f"0.{tenth}" for tenth in range(1, 10))
SOME_F = ("0.1", "0.3", "0.5", "0.7", "0.9")


def tasks(*, quick: bool) -> list[Task]:
    """Return every setting, the longest first."""
    if quick:
        out = [Task(data="adult", k=k, who=ALL, f="0.1", runs=2) for k in (2, 5)]
        out += [Task(data="nltcs", k=4, who=ALL, f=f, runs=2) for f in ("0.5", "0.9")]
        out += [Task(data="nltcs", k=k, who=SAMPLE, f=f, runs=2) for k in (2, 4) for f in ("0.1", "0.9")]
        out += [Task(data="adult", k=3, who=SAMPLE, f="0.5", runs=2)]
        out += [Task(data="nltcs", k=4, who=SAMPLE, f="0.5", runs=2, reports=name) for name in ("rr_ldp", "rappor")]
    else:
        out = [
            Task(data=data, k=k, who=who, f=f, runs=10)
            for data in SOURCES
            for who, fs in ((SAMPLE, EVERY_F), (ALL, SOME_F))
            for k in range(2, 7)
            for f in fs
            if (data, k) != ("adult", 6)
        ]
        out += [Task(data="adult", k=6, who=SAMPLE, f=f, runs=10) for f in SOME_F]
        out += [Task(data="nltcs", k=8, who=ALL, f=f, runs=10) for f in SOME_F]
        out += [
            Task(data=data, k=k, who=SAMPLE, f=f, runs=10, reports="rappor")
            for data, k in (("nltcs", 4), ("adult", 5))
            for f in ("0.1", "0.5", "0.9")
        ]
    return sorted(out, key=lambda task: -task.work)


def people(task: Task) -> Codes:
    """Return the codes of everybody, shape (k, users)."""
    source = SOURCES[task.data]
    table = pq.read_table(DATA / source.path, columns=list(source.sizes)[: task.k])
    return np.stack([np.asarray(column).astype(np.int32) for column in table.columns])


def reporting(task: Task, everybody: Codes, source: rng.Generator) -> Codes:
    """Return the codes of those who report: all, or the part with the smallest random words."""
    if task.who == ALL:
        return everybody
    users = everybody.shape[1]
    chosen = np.argsort(source.words(users), kind="stable")[: users // SOURCES[task.data].part]
    return everybody[:, np.sort(chosen)]


def simulated(task: Task, values: Codes, source: rng.Generator, *, early: bool) -> Iterator[Found]:
    """Yield what every estimator finds in one run."""
    true, f = truth(values, task.sizes), Fraction(task.f)
    if task.reports == "rappor":
        yield from from_bits(bloom_bits(task.sizes, f, values, rng=source), true, early=early)
        return
    oracle = RrLdp(sizes=task.sizes, f=f)
    yield from from_bits(one_hot_bits(oracle, values, rng=source), true, early=early)
    yield from from_questions(task.sizes, loss_of(oracle), values, true, rng=source)


EARLY_RUNS = 3  # of the likelihood stopped early: it takes most of the time, and varies little from run to run


def loss_of(oracle: RrLdp) -> PureDP:
    """Return the proven loss of one report."""
    assert isinstance(oracle.claim.proven, PureDP)  # noqa: S101  # it has a proof
    return oracle.claim.proven


def run(task: Task) -> list[Row]:
    """Return a row for every estimator: means over the runs, with standard errors."""
    source = rng.seeded(SEED + hash_of(task))
    everybody, found = people(task), dict[str, list[Found]]()
    for number in range(task.runs):
        values = reporting(task, everybody, source)
        for one in simulated(task, values, source, early=number < EARLY_RUNS):
            found.setdefault(one.method, []).append(one)
    epsilon = float(loss_of(RrLdp(sizes=task.sizes, f=Fraction(task.f))).epsilon)
    row = asdict(task) | {"cells": math.prod(task.sizes), "users": values.shape[1], "epsilon": epsilon}
    return [row | summary(name, own) for name, own in found.items()]


def hash_of(task: Task) -> int:
    """Return a number of the setting that is the same everywhere: settings must not share noise."""
    text = f"{task.data} {task.k} {task.who} {task.f} {task.reports}".encode()
    return sum(byte * pow(257, place, 1 << 31) for place, byte in enumerate(text)) % (1 << 31)


def summary(method: str, found: Sequence[Found]) -> Row:
    """Return the means of one estimator's runs."""
    avd = np.array([one.avd for one in found])
    error = float(avd.std(ddof=1) / math.sqrt(len(avd)))
    row: Row = {"method": method, "runs": len(avd), "avd": float(avd.mean()), "standard_error": error}
    row["seconds"] = float(np.median([one.seconds for one in found]))
    return row | {"passes": float(np.mean([one.passes for one in found]))}


def loops(rows: Sequence[Row]) -> list[Row]:
    """Return what EM costs as the document writes it, a table for every report: timed on few, scaled to all."""
    out = []
    for row in rows:
        if (row["method"], row["data"], row["reports"], row["f"]) != ("em", "adult", "rr_ldp", LOOP_F[row["who"]]):
            continue
        task = Task(**{name: row[name] for name in ("data", "k", "who", "f", "runs", "reports")})
        values = people(task)[:, :FEW]
        bits = one_hot_bits(RrLdp(sizes=task.sizes, f=Fraction(task.f)), values, rng=rng.seeded(SEED))
        each, steps = loop_seconds(bits, FEW), row["passes"] - 1
        kept = {name: row[name] for name in ("data", "k", "who", "users", "f", "cells")}
        kept |= {"steps": steps, "seconds_a_report": each, "seconds": each * steps * row["users"]}
        out.append(kept | {"ours": row["seconds"]})
    return sorted(out, key=lambda row: (row["who"], row["k"]))


LOOP_F = {ALL: "0.1", SAMPLE: "0.5"}


def sizes() -> list[Row]:
    """Return the size of a report by data set and number of attributes."""
    out = []
    for name, source in SOURCES.items():
        for k in range(2, len(source.sizes) + 1):
            own = tuple(source.sizes.values())[:k]
            oracle, filters = RrLdp(sizes=own, f=Fraction(1, 2)), [bloom_oracle(size, Fraction(1, 2)) for size in own]
            row = {"data": name, "k": k, "rr_ldp_bits": oracle.bits, "rr_ldp_bytes": oracle.width}
            row |= {"rappor_bits": BLOOM * k, "rappor_bytes": sum(one.width for one in filters)}
            out.append(row)
    return out


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(rows)


def experiments(chosen: Sequence[Task]) -> list[Row]:
    """Return the rows of all settings, from two processes."""
    rows: list[Row] = []
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1), mp_context=spawn, initializer=warm) as pool:
        waiting = {pool.submit(run, task): task for task in chosen}
        for done, future in enumerate(as_completed(waiting), start=1):
            task = waiting[future]
            _say(f"{done}/{len(chosen)}: {task.data}, {task.k} attributes, {task.who}, f = {task.f}, {task.reports}")
            rows += future.result()
    order = ("data", "reports", "who", "k", "f")
    return sorted(rows, key=lambda row: tuple(row[name] for name in order))  # stable: methods stay in their order


def warm() -> None:
    """Import what LASSO imports when it first runs, so that no time holds it."""
    evidence = [one_hot(2, q_star=0.75, p_star=0.5)]
    Lasso().estimate(evidence, [np.array([[10, 5, 20]], dtype=np.int64)])


def _say(text: str) -> None:
    print(f"{time.perf_counter() - START:6.1f} s  {text}", file=sys.stderr, flush=True)


START = time.perf_counter()


def main() -> int:
    """Run everything; return 1 if a claim of ours does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="few settings, two runs, for tests")
    parser.add_argument("--out", type=Path, default=Path("out/papers/joint"))
    chosen = parser.parse_args()
    missing = [source.path for source in SOURCES.values() if not (DATA / source.path).is_file()]
    if missing:
        print(f"no data: {', '.join(missing)} are not below {DATA}; set DPRESS_DATA", file=sys.stderr)
        return 2
    chosen.out.mkdir(parents=True, exist_ok=True)
    rows = experiments(tasks(quick=chosen.quick))
    slow, reports = loops(rows), sizes()
    claims = [*joint_claims.of_the_document(rows, slow, reports), *joint_claims.of_ours(rows)]
    write(chosen.out / "errors.csv", rows)
    write(chosen.out / "loops.csv", slow)
    write(chosen.out / "report_sizes.csv", reports)
    write(chosen.out / "claims.csv", [asdict(one) for one in claims])
    _say("figures")
    draw(chosen.out, rows, reports)
    for one in claims:
        print(f"{one.verdict}  {one.claim}: {one.found}")
    return 0 if all(one.holds for one in claims if one.source == "dpress") else 1


if __name__ == "__main__":
    sys.exit(main())
