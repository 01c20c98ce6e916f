"""The experiments of the document on joint distributions under local privacy: RR-LDP, EM, LASSO, LREMH.

make reproduce PAPER=joint        (python papers/joint.py [--quick] [--again] [--out FOLDER] [--docs FOLDER])

Tables, by default in out/papers/joint/: `errors`, of every estimator in every run; `times`, of the estimators as the
document writes them, and `times_of_dpress`, by f; `penalties`, LASSO by its penalty; `report_sizes`; `starts`, EM
from random starts; `losses`, stated against exact. Seconds are of one processor. --quick takes seconds.
"""

import functools
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import driver
import joint_claims
import numpy as np
from joint_figures import draw
from joint_loops import LOOPS, seconds_a_report
from joint_methods import (
    MEANT,
    PRINTED,
    Bits,
    Codes,
    Found,
    bloom_oracle,
    by_penalty,
    from_bits,
    from_questions,
    one_hot_bits,
    truth,
)
from quantities import Row

import data
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.inference.joint.bit_evidence import one_hot
from dpress.inference.joint.likelihood import Split, in_memory
from dpress.inference.joint.mixture import maximise
from dpress.mechanisms.joint.documents.lasso import Lasso
from dpress.mechanisms.joint.rr_ldp import RrLdp

ALL, SAMPLE = "all", "sample"
BOTH, PERMANENT = "p = 1/2, q = 3/4", "permanent only"
DEVICES = {BOTH: (Fraction(1, 2), Fraction(3, 4)), PERMANENT: (Fraction(0), Fraction(1))}
EVERY_F = tuple(f"0.{tenth}" for tenth in range(1, 10))
FEW_F = ("0.1", "0.5", "0.9")
SCALES = (0.25, 0.5, 1, 2, 4, 8, 16, 32)  # of LASSO's penalty
FILTERS = (8, 32, 128)  # bits of a filter of `rappor`; 128 in its paper
RUNS, MANY_RUNS, QUICK_RUNS = 10, 40, 3  # many where they take no time and LASSO varies much
EARLY_RUNS, EARLY_WORK = (
    3,
    20_000,
)  # of the likelihood stopped early, where it takes most of the time, and varies little
STARTS, GAP = 20, 1e-4
ORDER = ("who", "device", "data", "k", "f", "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A data set of the document.

    Args:
        name: of the data set.
        sizes: of the attributes in the order in which they are taken: the first k are used.
        part: one in so many rows is the document's sample.
    """

    name: str
    sizes: dict[str, int]
    part: int


SOURCES = {
    "nltcs": Source(name="nltcs", sizes={f"x{place:02d}": 2 for place in range(16)}, part=5),
    "adult": Source(
        name="adult_codes",
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
        device: the name of the instantaneous response's p and q.
        runs: how many.
        early: whether the likelihood, stopped early, is tried.
    """

    data: str
    k: int
    who: str
    f: str
    device: str = BOTH
    runs: int = RUNS
    early: bool = True

    def __str__(self) -> str:
        """The setting in a few words."""
        return f"{self.data}, k = {self.k}, {self.who}, f = {self.f}, {self.device}"

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of every attribute."""
        return tuple(SOURCES[self.data].sizes.values())[: self.k]

    @property
    def oracle(self) -> RrLdp:
        """What a device runs."""
        p, q = DEVICES[self.device]
        return RrLdp(sizes=self.sizes, f=Fraction(self.f), p=p, q=q)

    @property
    def columns(self) -> Row:
        """The setting as the tables have it."""
        row: Row = {"data": self.data, "k": self.k, "cells": math.prod(self.sizes), "who": self.who, "f": self.f}
        row |= {"device": self.device, "device and k": f"{self.device}, {self.k} attributes"}
        return row | {"data and f": f"{self.data}, {self.f}", "epsilon": f"{float(loss_of(self.oracle).epsilon):.4g}"}

    @property
    def work(self) -> int:
        """About how long it takes, for the order."""
        return math.prod(self.sizes) * (20 if self.who == ALL else 1)

    @property
    def early_runs(self) -> int:
        """In how many runs the likelihood, stopped early, is tried."""
        return (EARLY_RUNS if self.work > EARLY_WORK else self.runs) if self.early else 0


def tasks(*, quick: bool) -> list[Task]:
    """Return every setting, the longest first; the quick ones are some of the others, with the same reports."""
    if quick:
        few = QUICK_RUNS
        out = [Task(data="adult", k=k, who=SAMPLE, f="0.5", runs=few, early=k == 2) for k in (2, 5)]
        out += [Task(data="nltcs", k=k, who=SAMPLE, f=f, device=device, runs=few)
                for device in DEVICES for k in (2, 4) for f in FEW_F]  # fmt: skip
        out += [Task(data="adult", k=3, who=SAMPLE, f=f, runs=few, early=False) for f in FEW_F]
        out += [Task(data="adult", k=3, who=SAMPLE, f="0.5", device=PERMANENT, runs=few, early=False)]
        out += [Task(data="nltcs", k=k, who=ALL, f=f, runs=few) for k in (2, 4, 6) for f in FEW_F]
        out += [Task(data="adult", k=k, who=ALL, f="0.1", runs=few, early=k == 3) for k in (3, 5)]
    else:
        out = [Task(data=name, k=k, who=SAMPLE, f=f, device=device)
               for name in SOURCES for device in DEVICES for k in range(2, 6) for f in EVERY_F]  # fmt: skip
        out += [Task(data="adult", k=6, who=SAMPLE, f=f) for f in FEW_F]
        out += [Task(data="nltcs", k=k, who=ALL, f=f, runs=MANY_RUNS) for k in (2, 4, 6) for f in FEW_F]
        out += [Task(data="adult", k=k, who=ALL, f=f) for k in (3, 5) for f in FEW_F]
    return sorted(out, key=lambda task: -task.work)


def people(task: Task) -> Codes:
    """Return the codes of everybody, shape (k, users)."""
    source = SOURCES[task.data]
    table = data.table(source.name, list(source.sizes)[: task.k])
    return np.stack([np.asarray(column).astype(np.int32) for column in table.columns])


def reporting(task: Task, everybody: Codes, source: rng.Generator) -> Codes:
    """Return the codes of those who report: all, or the part with the smallest random words."""
    if task.who == ALL:
        return everybody
    users = everybody.shape[1]
    chosen = np.argsort(source.words(users), kind="stable")[: users // SOURCES[task.data].part]
    return everybody[:, np.sort(chosen)]


def loss_of(oracle: RrLdp) -> PureDP:
    """Return the proven loss of one report."""
    assert isinstance(oracle.claim.proven, PureDP)  # noqa: S101  # it has a proof
    return oracle.claim.proven


def run(task: Task) -> dict[str, list[Row]]:
    """Return the rows of all runs of a setting."""
    warm()
    source = rng.seeded(driver.seed(task.data, task.k, task.who, task.f, task.device))
    everybody, tables = people(task), dict[str, list[Row]]()
    for number in range(task.runs):
        values = reporting(task, everybody, source)
        columns = task.columns | {"users": values.shape[1], "run": number}
        for name, rows in one_run(task, values, source, early=number < task.early_runs):
            tables.setdefault(name, []).extend(columns | row for row in rows)
    return tables


def one_run(task: Task, values: Codes, source: rng.Generator, *, early: bool) -> Iterator[tuple[str, list[Row]]]:
    """Yield the rows of one run by table."""
    true = truth(values, task.sizes)
    bits = one_hot_bits(task.oracle, values, rng=source)
    found = list(from_bits(bits, true, early=early))
    asked = list(from_questions(task.sizes, loss_of(task.oracle), values, true, rng=source))
    yield "errors", [_error(one) for one in (*found, *asked)]
    if task.who == SAMPLE:
        yield "times", list(published_times(bits, found))
        yield "times_of_dpress", [_error(one) | {"form": "dpress"} for one in (*found, *asked) if one.rule != PRINTED]
    if (task.data, task.k) in {("nltcs", 4), ("adult", 3)} and task.f in FEW_F and task.who == SAMPLE:
        controls = [one for one in found if one.method in {"uniform", "product"}]
        swept = [*by_penalty(bits, true, SCALES), *((scale, one) for one in controls for scale in SCALES)]
        yield "penalties", [{"scale": scale} | _error(one) for scale, one in swept]


def _error(one: Found) -> Row:
    return {"method": one.method, "rule": one.rule, "avd": one.avd, "seconds": one.seconds, "steps": one.steps}


def published_times(bits: Bits, found: Sequence[Found]) -> Iterator[Row]:
    """Yield the seconds of the three published estimators in every reading of them."""
    by = {(one.method, one.rule): one for one in found}
    lasso, users = by["lasso", "none"].seconds, len(bits.strings[0])
    kept = Lasso().estimate(bits.evidence, bits.tallies()) > 0
    candidates = {"em": np.ones(bits.split.cells, dtype=np.bool_), "lremh": kept}
    each = {name: seconds_a_report(bits, own) if own.any() else dict.fromkeys(LOOPS, 0.0)
            for name, own in candidates.items()}  # fmt: skip
    for loop in LOOPS:
        for rule in (PRINTED, MEANT):
            form = f"{loop}, rule {rule}"
            yield {"method": "lasso", "form": form, "seconds": lasso}
            for name, own in each.items():
                steps, before = by[name, rule].steps, lasso if name == "lremh" else 0.0
                yield {"method": name, "form": form, "seconds": before + own[loop] * users * steps, "steps": steps}


def sizes() -> list[Row]:
    """Return the bits of a report by data set, number of attributes and length of `rappor`'s filters."""
    out = []
    for name, source in SOURCES.items():
        for k in range(2, len(source.sizes) + 1):
            own = tuple(source.sizes.values())[:k]
            for bits in FILTERS:
                row = {"data": name, "k": k, "filter": f"{bits} bits"}
                filters = sum(bloom_oracle(size, Fraction(1, 2), bits).bits for size in own)
                out += [row | {"method": "rr_ldp", "bits": RrLdp(sizes=own, f=Fraction(1, 2)).bits}]
                out += [row | {"method": "rappor", "bits": filters}]
    return out


def starts(runs: int) -> list[Row]:
    """Return how far apart the mean log-likelihoods end that the search finds from random starts, for every run."""
    out, split = [], Split((2, 2, 2, 2))
    for number in range(runs):
        source = rng.seeded(driver.seed("starts", number))
        values = (source.words(4 * 4000) >> np.uint64(63)).astype(np.int32).reshape(4, -1)
        values[1:] &= values[:1]
        oracle = RrLdp(sizes=split.sizes, f=Fraction(1, 2))
        strings = np.unpackbits(oracle.perturb(values, rng=source), axis=1, count=8, bitorder="little")
        evidence = one_hot(2, q_star=float(oracle.responses.q_star), p_star=float(oracle.responses.p_star))
        halves = split.halves([evidence.likelihoods(own) for own in np.split(strings, 4, axis=1)])
        tables = [-(np.log((source.words(split.cells) + 0.5) / 2.0**64) ** 3) for _ in range(STARTS)]
        ends = [maximise(in_memory(halves, threads=1), split, own, gap=GAP).log_likelihood for own in tables]
        out.append({"starts": STARTS, "run": number, "spread": max(ends) - min(ends)})
    return out


def losses() -> list[Row]:
    """Return exact losses over the ones that the document states, on a domain small enough for the whole channel."""
    own = RrLdp(sizes=(2, 3), f=Fraction(1, 2))
    ever = RrLdp(sizes=(2, 3), f=Fraction(1, 2), p=Fraction(0), q=Fraction(1))
    permanent, report = float(own.responses.lifetime(2)), float(own.responses.per_report(1))
    exact = {name: joint_claims.exact_loss(one) for name, one in {"one": own, "any": ever}.items()}
    return [
        {"reports": "one", "stated": report, "exact": exact["one"], "ratio": exact["one"] / report},
        {"reports": "any", "stated": permanent + report, "exact": exact["any"],
         "ratio": exact["any"] / (permanent + report)},
    ]  # fmt: skip


@functools.cache
def warm() -> None:
    """Import what LASSO imports when it first runs, so that no time holds it."""
    Lasso().estimate([one_hot(2, q_star=0.75, p_star=0.5)], [np.array([[10, 5, 20]], dtype=np.int64)])


def tables(quick: bool) -> Mapping[str, list[Row]]:  # noqa: FBT001  # as the driver calls it
    """Return the tables of all experiments."""
    found = driver.parallel(run, tasks(quick=quick))
    found = {name: sorted(rows, key=lambda row: tuple(row[one] for one in ORDER)) for name, rows in found.items()}
    runs = QUICK_RUNS if quick else RUNS
    return found | {"report_sizes": sizes(), "starts": starts(runs), "losses": losses()}


PAPER = driver.Paper(name="joint", data=("nltcs", "adult_codes"), tables=tables, claims=joint_claims.claims, draw=draw)

if __name__ == "__main__":
    sys.exit(driver.main(PAPER, __doc__))
