"""The fold that reads reports anew equals the one in memory; it is chosen where they do not fit; memory is bounded."""

import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

import cloudpickle
import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.reports.pieces import THREADS, on_threads
from dpress.inference.joint.bit_evidence import one_hot
from dpress.inference.joint.likelihood import Fold, Split
from dpress.inference.joint.mixture import step, users
from dpress.mechanisms.joint import bit_fold as folds
from dpress.mechanisms.joint.bit_fold import bit_fold, streamed
from dpress.mechanisms.joint.rr_ldp import RrLdp

SIZES = (5, 3, 4, 2)
ORACLE = RrLdp(sizes=SIZES, f=Fraction(1, 2))
SPLIT = Split(SIZES)
BYTES = max(4 * sum(SPLIT.shape), folds.SEARCHED)  # of a report


def likelihoods(payloads: np.ndarray) -> list[np.ndarray]:
    strings = np.unpackbits(payloads, axis=1, count=ORACLE.bits, bitorder="little")
    high, low = float(ORACLE.responses.q_star), float(ORACLE.responses.p_star)
    own = zip(SIZES, np.split(strings, np.cumsum(SIZES)[:-1], axis=1), strict=True)
    return [one_hot(size, q_star=high, p_star=low).likelihoods(bits) for size, bits in own]


class Source:
    """Re-iterable reports in uneven batches, which counts how often it was read."""

    def __init__(self, payloads: np.ndarray, batch: int = 1234, threads: int = THREADS) -> None:
        self.payloads, self.batch, self.passes, self.threads = payloads, batch, 0, threads

    def __call__(self, kernel: Callable[[Iterable[np.ndarray]], Any]) -> Iterator[Any]:
        self.passes += 1
        return on_threads(kernel, self.pieces(), threads=self.threads)

    def pieces(self) -> Iterator[list[np.ndarray]]:
        """Three batches a piece."""
        starts = range(0, len(self.payloads), self.batch)
        for first in range(0, len(starts), 3):
            yield [self.payloads[start : start + self.batch] for start in starts[first : first + 3]]


def reports(number: int) -> np.ndarray:
    values = np.array([np.arange(number) * (axis + 1) % size for axis, size in enumerate(SIZES)], dtype=np.int32)
    return ORACLE.perturb(values, rng=rng.seeded(7))


def one_step(fold: Fold) -> np.ndarray:
    """The slope, and sums of doubles: those of products in single precision are often exact in any order."""
    slope = step(fold, SPLIT, np.full(SPLIT.cells, 1 / SPLIT.cells), users(fold)).slope
    return np.append(slope, fold(lambda halves: halves.counts @ np.log1p(halves.left, dtype=np.float64)))


@pytest.mark.parametrize("batch", [1, 700, 100_000])
def test_reading_anew_equals_memory(batch: int) -> None:
    payloads = reports(5000 if batch > 1 else 60)
    source = Source(payloads, batch)
    fold = streamed(source, likelihoods, SPLIT)
    assert users(fold) == len(payloads)
    assert np.allclose(one_step(fold), one_step(bit_fold(source, likelihoods, SPLIT)), rtol=1e-5)
    fewer = streamed(Source(payloads[1:], batch), likelihoods, SPLIT)
    assert not np.allclose(one_step(fold), one_step(fewer), rtol=1e-5)  # one report more or less is seen
    assert np.array_equal(one_step(fold), one_step(fold))  # whatever the threads do


@pytest.mark.parametrize("memory", [1 << 30, 0])
def test_the_sum_is_the_same_to_the_bit_on_any_number_of_threads(memory: int) -> None:
    payloads, found = reports(60_000), []
    for threads in (1, 2, 4):
        fold = bit_fold(Source(payloads, threads=threads), likelihoods, SPLIT, memory=memory)
        found.append([one_step(fold), one_step(fold)])
    assert all(np.array_equal(one, found[0][0]) for pair in found for one in pair)
    cut = streamed(Source(payloads, batch=10_000), likelihoods, SPLIT)
    assert not np.array_equal(one_step(cut), found[0][0])  # other pieces, other roundings: the control


def test_the_sum_of_a_piece_does_not_depend_on_its_batches() -> None:
    payloads = reports(20_000)

    def cut(*sizes: int) -> np.ndarray:
        pieces = [np.split(own, sizes) for own in (payloads[:15_000], payloads[15_000:])]
        return one_step(streamed(lambda kernel: map(kernel, pieces), likelihoods, SPLIT))

    whole = cut()
    for sizes in ((1,), (2048,), (5, 5, 4097), tuple(range(0, 5000, 37))):
        assert np.array_equal(cut(*sizes), whole)


def test_another_engine_adds_up_the_same_by_piece() -> None:
    """Kernels travel by cloudpickle and are run in any order; the results are added in the pieces' order."""
    source = Source(reports(30_000))

    def elsewhere(kernel: Callable[[Iterable[np.ndarray]], Any]) -> Iterator[Any]:
        pieces = [cloudpickle.dumps(piece) for piece in source.pieces()]
        shipped = cloudpickle.dumps(kernel)
        results = {at: cloudpickle.loads(shipped)(cloudpickle.loads(pieces[at])) for at in reversed(range(len(pieces)))}
        return iter([results[at] for at in range(len(pieces))])

    for memory in (1 << 30, 0):
        folds_ = [bit_fold(engine, likelihoods, SPLIT, memory=memory) for engine in (source, elsewhere)]
        assert np.array_equal(*map(one_step, folds_))


def test_forty_steps_end_at_the_same_table() -> None:
    source, found = Source(reports(6000)), []
    for memory in (1 << 30, 0):
        fold, table = bit_fold(source, likelihoods, SPLIT, memory=memory), np.full(SPLIT.cells, 1 / SPLIT.cells)
        for _ in range(40):
            table = step(fold, SPLIT, table, 6000).table
        found.append(table)
    assert np.abs(found[0] - found[1]).sum() < 1e-5
    assert np.abs(found[0] - step(fold, SPLIT, found[0], 6000).table).sum() > 1e-4  # one step more or less is seen


def test_equal_reports_are_counted_once_where_they_then_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folds, "WAITING", 2000)
    payloads = reports(300)[np.arange(9000) % 300]
    distinct = len(np.unique(payloads, axis=0))
    for memory, passes, kept in ((distinct * BYTES, 1, distinct), (distinct * BYTES - 1, 3, 9000)):
        source = Source(payloads)
        fold = bit_fold(source, likelihoods, SPLIT, memory=memory)
        assert users(fold) == 9000
        assert rows_of(fold) == kept
        assert source.passes == passes


def rows_of(fold: Fold) -> int:
    return int(fold(lambda halves: np.array([len(halves)]))[0])


def test_wide_reports_are_told_apart_by_every_byte() -> None:
    one = np.zeros((3, 19), dtype=np.uint8)
    one[1, 0], one[2, 18] = 1, 1
    found = folds._distinct(lambda kernel: map(kernel, [[one, one[:2]], [], [one[:1]]]), most=3)
    assert found is not None
    assert sorted(found.counts.tolist()) == [1, 2, 3]
    assert found.counts[found.payloads.sum(axis=1) == 0].tolist() == [3]
    assert folds._distinct(lambda kernel: map(kernel, [[one]]), most=2) is None
    assert folds._distinct(lambda kernel: map(kernel, [[one[:2]], [one[1:]]]), most=2) is None


def test_no_report_is_refused() -> None:
    for batches in ([], [np.zeros((0, ORACLE.width), dtype=np.uint8)]):
        with pytest.raises(ValueError, match="no report"):
            bit_fold(lambda kernel: map(kernel, [batches]), likelihoods, SPLIT)  # noqa: B023
        with pytest.raises(ValueError, match="no report"):
            streamed(lambda kernel: map(kernel, [batches]), likelihoods, SPLIT)(lambda halves: halves.counts)  # noqa: B023


NUMBER, BATCH, WIDE = 2_000_000, 50_000, Split((4, 4, 4, 4))


def many(kernel: Callable[[Iterable[np.ndarray]], Any]) -> Iterator[Any]:
    source = rng.seeded(1)
    drawn = (source.words(BATCH).view(np.uint8).reshape(BATCH, 8)[:, :4] for _ in range(NUMBER // BATCH))
    return on_threads(kernel, ([batch] for batch in drawn))


def of_many(own: np.ndarray) -> list[np.ndarray]:
    return [0.5 + (own[:, [axis]] >> np.arange(4, dtype=np.uint8) & 1).astype(np.float32) for axis in range(4)]


@pytest.mark.slow
def test_memory_is_bounded() -> None:
    """The halves of 2 million different reports take 244 MiB; what reads them anew stays far below."""
    taken = {}
    for memory in (1 << 24, 1 << 30):
        tracemalloc.start()
        try:
            step(bit_fold(many, of_many, WIDE, memory=memory), WIDE, np.full(256, 1 / 256), NUMBER)
            taken[memory] = tracemalloc.get_traced_memory()[1] / 2**20
        finally:
            tracemalloc.stop()
    assert taken[1 << 24] < 60
    assert taken[1 << 30] > 240  # the control
