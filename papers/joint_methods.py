"""Every estimator of a joint table on simulated reports, all at the same epsilon a report, with its time and error.

people's codes -> reports (the library's own devices) -> estimator -> table -> half the L1 distance to the true table.
"""

import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.claim import PureDP
from dpress.core.encoders import Combination
from dpress.core.linear import Array
from dpress.core.rng import Generator
from dpress.inference.joint.bit_evidence import BitEvidence, one_hot
from dpress.inference.joint.likelihood import Fold, Split, in_memory
from dpress.inference.postprocess import norm_sub
from dpress.mechanisms.joint.early_stop import independent, regularised
from dpress.mechanisms.joint.em import Em
from dpress.mechanisms.joint.lasso import Lasso
from dpress.mechanisms.joint.lremh import Lremh
from dpress.mechanisms.joint.pairs import Pairs
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.oracle.rappor import COHORT_BYTES, Rappor
from dpress.mechanisms.oracle.subset_selection import SubsetSelection
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.report_type import Part, ReportType

ONE_LARGEST = 1 << 13  # cells that one oracle is asked about: beyond, a simulated report is kilobytes
BLOOM, COHORTS = 128, 64  # of `rappor`, as its paper has them
Codes = npt.NDArray[np.int32]  # shape (attributes, users)
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one estimator made of one simulation.

    Args:
        method: by name.
        avd: half the L1 distance to the table of those who reported.
        seconds: from reports to table, on one core.
        passes: over all reports, where the method counts them.
    """

    method: str
    avd: float
    seconds: float
    passes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bits:
    """Reports of bits, all attributes of a person together, as the collector reads them.

    Args:
        split: of the attributes.
        evidence: of every attribute.
        strings: of every attribute, shape (reports, bits).
        cohorts: of every attribute; None for one-hot strings.
    """

    split: Split
    evidence: list[BitEvidence]
    strings: list[npt.NDArray[np.uint8]]
    cohorts: list[npt.NDArray[np.int64]] | None = None

    def tallies(self) -> list[Counts]:
        """Return how many reports have each bit set."""
        return [own.tally(bits, self._cohorts(axis)) for axis, (own, bits) in enumerate(self._pairs())]

    def fold(self) -> Fold:
        """Return the reports' likelihoods on one thread; equal reports are counted once where there are few kinds."""
        width = sum(own.bits for own in self.evidence)
        if self.cohorts is None and width < 60 and 1 << width < len(self.strings[0]):
            whole = np.concatenate(self.strings, axis=1).astype(np.int64)
            _, first, counts = np.unique(whole @ (1 << np.arange(width)), return_index=True, return_counts=True)
            parts = [own.likelihoods(bits[first]) for own, bits in self._pairs()]
            return in_memory(self.split.halves(parts, counts.astype(np.float64)), threads=1)
        parts = [own.likelihoods(bits, self._cohorts(axis)) for axis, (own, bits) in enumerate(self._pairs())]
        return in_memory(self.split.halves(parts), threads=1)

    def _pairs(self) -> Iterator[tuple[BitEvidence, npt.NDArray[np.uint8]]]:
        return zip(self.evidence, self.strings, strict=True)

    def _cohorts(self, axis: int) -> npt.NDArray[np.int64] | None:
        return None if self.cohorts is None else self.cohorts[axis]


def one_hot_bits(oracle: RrLdp, values: Codes, *, rng: Generator) -> Bits:
    """Return simulated reports of `rr_ldp`."""
    sizes = oracle.sizes
    strings = np.unpackbits(oracle.perturb(values, rng=rng), axis=1, count=oracle.bits, bitorder="little")
    high, low = float(oracle.responses.q_star), float(oracle.responses.p_star)
    evidence = [one_hot(size, q_star=high, p_star=low) for size in sizes]
    return Bits(split=Split(sizes), evidence=evidence, strings=np.split(strings, np.cumsum(sizes)[:-1], axis=1))


def bloom_oracle(size: int, f: Fraction) -> Rappor:
    """Return `rappor` with one hash a filter, so that an attribute costs what its one-hot string costs."""
    return Rappor(candidates=tuple(map(str, range(size))), f=f, bits=BLOOM, hashes=1, cohorts=COHORTS)


def bloom_bits(sizes: tuple[int, ...], f: Fraction, values: Codes, *, rng: Generator) -> Bits:
    """Return simulated reports of `rappor`, a Bloom filter for every attribute."""
    evidence, strings, cohorts = [], [], []
    for size, own in zip(sizes, values, strict=True):
        oracle = bloom_oracle(size, f)
        high, low = float(oracle.responses.q_star), float(oracle.responses.p_star)
        payloads = oracle.perturb(own, rng=rng)
        evidence.append(BitEvidence(design=oracle.blooms, q_star=high, p_star=low))
        strings.append(np.unpackbits(payloads[:, COHORT_BYTES:], axis=1, count=BLOOM, bitorder="little"))
        cohorts.append(payloads[:, 0].astype(np.int64) + 256 * payloads[:, 1].astype(np.int64))
    return Bits(split=Split(sizes), evidence=evidence, strings=strings, cohorts=cohorts)


def truth(values: Codes, sizes: tuple[int, ...]) -> Array:
    """Return the true table of those who report, shares, flat."""
    flat = np.ravel_multi_index(tuple(values), sizes)
    return np.asarray(np.bincount(flat, minlength=math.prod(sizes)) / values.shape[1])


def apart(first: Array, second: Array) -> float:
    """Return half the L1 distance."""
    return float(np.abs(first - second).sum() / 2)


def from_bits(bits: Bits, true: Array, *, early: bool = True) -> Iterator[Found]:
    """Yield what the document's estimators, the product of one-way tables and the likelihood, stopped early, find."""
    methods: dict[str, Callable[[], tuple[Array, int]]] = {
        "product": lambda: (_product(bits), 0),
        "em": lambda: _em(bits),
        "lasso": lambda: (Lasso().estimate(bits.evidence, bits.tallies()), 0),
        "lremh": lambda: _lremh(bits),
    }
    if early:
        methods["early"] = lambda: _early(bits)
    for name, run in methods.items():
        start = time.perf_counter()
        table, passes = run()
        taken = time.perf_counter() - start
        yield Found(method=name, avd=apart(table, true), seconds=taken, passes=passes)


def _product(bits: Bits) -> Array:
    pairs = zip(bits.evidence, bits.tallies(), strict=True)
    return independent([_shares(own, tally) for own, tally in pairs])


def _shares(own: BitEvidence, tally: Counts) -> Array:
    """Return the shares of an attribute's values; for Bloom filters by least squares."""
    found = own.bit_shares(tally)
    if len(own.design) == 1:
        return found
    return np.asarray(np.linalg.lstsq(own.rows.astype(np.float64), found, rcond=None)[0])


def _em(bits: Bits) -> tuple[Array, int]:
    fit = Em().estimate(bits.fold(), bits.split)
    return fit.table, fit.passes


def _lremh(bits: Bits) -> tuple[Array, int]:
    try:
        fit = Lremh().estimate(bits.fold(), bits.split, bits.evidence, bits.tallies())
    except ValueError:  # LASSO dropped every candidate
        return np.zeros(bits.split.cells), 0
    return fit.table, fit.passes


def _early(bits: Bits) -> tuple[Array, int]:
    found = regularised(bits.fold(), bits.split, _product(bits))
    return found.fit.table, found.fit.passes + found.maximum.passes


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
    start = time.perf_counter()
    tallies = [collection.tally(number, own) for number, own in enumerate(reports)]
    assert isinstance(collection.estimator, Pairs)  # noqa: S101  # as it was made
    fit = collection.estimator.fit(tallies, list)
    table = fit.marginal(tuple(range(len(collection.shape)))).ravel()
    return Found(method=name, avd=apart(table, true), seconds=time.perf_counter() - start)


def _one(oracle: SubsetSelection, sizes: tuple[int, ...], values: Codes, true: Array, rng: Generator) -> Found:
    cells = np.ravel_multi_index(tuple(values), sizes).astype(np.int32)
    reports = oracle.perturb(cells, rng=rng)
    start = time.perf_counter()
    found = oracle.estimate(oracle.tally(reports), cells.size).answers
    table = norm_sub(found, users=cells.size) / cells.size
    return Found(method="one", avd=apart(table, true), seconds=time.perf_counter() - start)


def loop_seconds(bits: Bits, reports: int) -> float:
    """Return the seconds that one EM step takes a report as the document writes it: a table for every report."""
    split = bits.split
    parts = [own.likelihoods(strings[:reports]) for own, strings in zip(bits.evidence, bits.strings, strict=True)]
    table, total = np.full(split.cells, 1 / split.cells), np.zeros(split.cells)
    start = time.perf_counter()
    for number in range(reports):
        own = np.ones(1)
        for part in parts:
            own = np.multiply.outer(own, part[number].astype(np.float64)).ravel()
        posterior = own * table
        total += posterior / posterior.sum()
    return (time.perf_counter() - start) / reports
