"""Every estimator of a joint table on simulated reports, all at the same epsilon a report, with its time and error.

people's codes -> reports (the library's own devices) -> estimator -> table -> half the L1 distance to the true table.
"""

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.reports.encoders import Combination
from dpress.core.reports.pieces import no_payloads
from dpress.inference.joint.bit_evidence import BitEvidence, one_hot
from dpress.inference.joint.likelihood import Fold, Split, in_memory
from dpress.inference.joint.mixture import step, users
from dpress.inference.postprocess import norm_sub
from dpress.mechanisms.joint.documents.em import DELTA
from dpress.mechanisms.joint.documents.lasso import Lasso
from dpress.mechanisms.joint.early_stop import independent, regularised
from dpress.mechanisms.joint.pairs import Pairs
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.oracle.rappor import Rappor
from dpress.mechanisms.oracle.subset_selection import SubsetSelection
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.report_type import Part, ReportType

ONE_LARGEST = 1 << 13  # cells that one oracle is asked about: beyond, a simulated report is kilobytes
EARLY_LARGEST = 1 << 14  # cells of the likelihood stopped early: beyond, it takes most of the time
COHORTS = 64  # of `rappor`, as its paper has them
STEPS = 1000  # of EM, the most
MEANT, PRINTED, NO_RULE = "as meant", "as printed", "none"  # of EM's stopping rule
Codes = npt.NDArray[np.int32]  # shape (attributes, users)
Counts = npt.NDArray[np.int64]
T = TypeVar("T")
Candidates = npt.NDArray[np.bool_]  # which cells may hold somebody


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one estimator made of one simulation.

    Args:
        method: by name.
        avd: half the L1 distance to the table of those who reported.
        seconds: of the processor, from reports to table.
        rule: the reading of EM's stopping rule; "none" for methods without.
        steps: of EM, until the rule stopped it.
    """

    method: str
    avd: float
    seconds: float
    rule: str = NO_RULE
    steps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bits:
    """One-hot strings, all attributes of a person together, as the collector reads them.

    Args:
        split: of the attributes.
        evidence: of every attribute.
        strings: of every attribute, shape (reports, bits).
    """

    split: Split
    evidence: list[BitEvidence]
    strings: list[npt.NDArray[np.uint8]]

    def tallies(self) -> list[Counts]:
        """Return how many reports have each bit set."""
        return [own.tally(bits) for own, bits in zip(self.evidence, self.strings, strict=True)]

    def likelihoods(self, reports: slice | Counts) -> list[npt.NDArray[np.float32]]:
        """Return the likelihoods of some reports, a matrix for every attribute."""
        return [own.likelihoods(bits[reports]) for own, bits in zip(self.evidence, self.strings, strict=True)]

    def fold(self) -> Fold:
        """Return the reports' likelihoods on one thread; equal reports are counted once where there are few kinds."""
        width = sum(own.bits for own in self.evidence)
        if width < 60 and 1 << width < len(self.strings[0]):
            whole = np.concatenate(self.strings, axis=1).astype(np.int64)
            _, first, counts = np.unique(whole @ (1 << np.arange(width)), return_index=True, return_counts=True)
            return in_memory(self.split.halves(self.likelihoods(first), counts.astype(np.float64)), threads=1)
        return in_memory(self.split.halves(self.likelihoods(slice(None))), threads=1)


def one_hot_bits(oracle: RrLdp, values: Codes, *, rng: Generator) -> Bits:
    """Return simulated reports of `rr_ldp`."""
    sizes = oracle.sizes
    strings = np.unpackbits(oracle.perturb(values, rng=rng), axis=1, count=oracle.bits, bitorder="little")
    high, low = float(oracle.responses.q_star), float(oracle.responses.p_star)
    evidence = [one_hot(size, q_star=high, p_star=low) for size in sizes]
    return Bits(split=Split(sizes), evidence=evidence, strings=np.split(strings, np.cumsum(sizes)[:-1], axis=1))


def bloom_oracle(size: int, f: Fraction, bits: int) -> Rappor:
    """Return `rappor` with one hash a filter, so that an attribute costs what its one-hot string costs."""
    return Rappor(candidates=tuple(map(str, range(size))), f=f, bits=bits, hashes=1, cohorts=COHORTS)


def truth(values: Codes, sizes: tuple[int, ...]) -> Array:
    """Return the true table of those who report, shares, flat."""
    flat = np.ravel_multi_index(tuple(values), sizes)
    return np.asarray(np.bincount(flat, minlength=math.prod(sizes)) / values.shape[1])


def apart(first: Array, second: Array) -> float:
    """Return half the L1 distance."""
    return float(np.abs(first - second).sum() / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """EM where one reading of its rule stops it.

    Args:
        table: the estimate.
        steps: so many.
        seconds: of the processor, until then.
    """

    table: Array
    steps: int
    seconds: float


def by_rule(fold: Fold, split: Split, start: Array) -> dict[str, Stopped]:
    """Return where either reading of EM's rule stops it; both follow the same steps, the printed one no longer.

    As printed: |max P_t - max P_(t-1)| < delta. As meant: max |P_t - P_(t-1)| < delta.
    """
    begin, reports = time.process_time(), users(fold)
    table, found = start / start.sum(), dict[str, Stopped]()
    for number in range(1, STEPS + 1):
        before, table = table, step(fold, split, table, reports).table
        changes = {PRINTED: abs(float(table.max() - before.max())), MEANT: float(np.abs(table - before).max())}
        now = Stopped(table=table, steps=number, seconds=time.process_time() - begin)
        found |= {rule: now for rule, own in changes.items() if rule not in found and (own < DELTA or number == STEPS)}
        if MEANT in found:
            break
    return found


def from_bits(bits: Bits, true: Array, *, early: bool = True) -> Iterator[Found]:
    """Yield what the document's estimators, the controls and the likelihood, stopped early, find.

    The controls are the uniform table, which looks at nothing, and the product of the one-way tables.
    """
    yield Found(method="uniform", avd=apart(np.full(true.size, 1 / true.size), true), seconds=0.0)
    yield _timed("product", lambda: product(bits), true)
    lasso = timed(lambda: Lasso().estimate(bits.evidence, bits.tallies()))
    yield Found(method="lasso", avd=apart(lasso[0], true), seconds=lasso[1])
    yield from _em("em", bits, np.ones(true.size), 0.0, true)
    yield from _em("lremh", bits, lasso[0], lasso[1], true)
    if early and true.size <= EARLY_LARGEST:
        yield _timed("early", lambda: regularised(bits.fold(), bits.split, product(bits)).fit.table, true)


def _em(name: str, bits: Bits, start: Array, spent: float, true: Array) -> Iterator[Found]:
    if not start.any():  # LASSO dropped every candidate
        yield from (Found(method=name, avd=apart(start, true), seconds=spent, rule=rule) for rule in (PRINTED, MEANT))
        return
    fold, seconds = timed(bits.fold)
    for rule, own in by_rule(fold, bits.split, start).items():
        whole = spent + seconds + own.seconds
        yield Found(method=name, avd=apart(own.table, true), seconds=whole, rule=rule, steps=own.steps)


def by_penalty(bits: Bits, true: Array, scales: Sequence[float]) -> Iterator[tuple[float, Found]]:
    """Yield what LASSO finds under multiples of its penalty, and LREMH after it."""
    for scale in scales:
        table = Lasso(scale=scale).estimate(bits.evidence, bits.tallies())
        yield scale, Found(method="lasso", avd=apart(table, true), seconds=0.0)
        for one in _em("lremh", bits, table, 0.0, true):
            if one.rule == MEANT:
                yield scale, one


def product(bits: Bits) -> Array:
    """Return the product of the one-way tables that the single bits give."""
    pairs = zip(bits.evidence, bits.tallies(), strict=True)
    return independent([own.bit_shares(tally) for own, tally in pairs])


def timed(run: Callable[[], T]) -> tuple[T, float]:
    """Return what a function returns, and the seconds of the processor that it took."""
    start = time.process_time()
    return run(), time.process_time() - start


def _timed(name: str, run: Callable[[], Array], true: Array) -> Found:
    table, seconds = timed(run)
    return Found(method=name, avd=apart(table, true), seconds=seconds)


def from_questions(
    sizes: tuple[int, ...], loss: PureDP, values: Codes, true: Array, *, rng: Generator
) -> Iterator[Found]:
    """Yield what devices give that answer one question each with the whole epsilon."""
    for name, ways in (("pairs", 2), ("triples", 3)):
        if ways <= len(sizes):
            yield _asked(name, _collection(sizes, ways, loss), values, true, rng)
    if math.prod(sizes) <= ONE_LARGEST:
        yield _one(SubsetSelection(size=math.prod(sizes), loss=loss), sizes, values, true, rng)


def _collection(sizes: tuple[int, ...], ways: int, loss: PureDP) -> Collection:
    sets = tuple(itertools.combinations(range(len(sizes)), ways))
    kept = [tuple(sizes[axis] for axis in axes) for axes in sets]
    oracles = tuple(SubsetSelection(size=math.prod(shape), loss=loss) for shape in kept)
    types = tuple(
        ReportType(parts=(Part(axes=axes, oracle=oracle, encoder=Combination(sizes=shape)),))
        for axes, shape, oracle in zip(sets, kept, oracles, strict=True)
    )
    estimator = Pairs(shape=sizes, sets=sets, oracles=oracles)
    return Collection(shape=sizes, types=types, split="users", estimator=estimator)


def _asked(name: str, collection: Collection, values: Codes, true: Array, rng: Generator) -> Found:
    drawn = collection.drawn(values.shape[1], rng=rng)
    reports = [own.perturb(values[:, drawn == number], rng=rng) for number, own in enumerate(collection.types)]
    start = time.process_time()
    tallies = [collection.tally(number, own) for number, own in enumerate(reports)]
    assert isinstance(collection.estimator, Pairs)  # noqa: S101  # as it was made
    fit = collection.estimator.fit(tallies, no_payloads)
    table = fit.marginal(tuple(range(len(collection.shape)))).ravel()
    return Found(method=name, avd=apart(table, true), seconds=time.process_time() - start)


def _one(oracle: SubsetSelection, sizes: tuple[int, ...], values: Codes, true: Array, rng: Generator) -> Found:
    cells = np.ravel_multi_index(tuple(values), sizes).astype(np.int32)
    reports = oracle.perturb(cells, rng=rng)
    start = time.process_time()
    found = oracle.estimate(oracle.tally(reports), cells.size).answers
    table = norm_sub(found, users=cells.size) / cells.size
    return Found(method="one", avd=apart(table, true), seconds=time.process_time() - start)
