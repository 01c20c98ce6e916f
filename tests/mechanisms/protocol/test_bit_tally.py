"""Several attributes in one report: row-major combinations, and bits counted together."""

import itertools

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.reports.encoders import Combination
from dpress.mechanisms.oracle.krr import Krr
from dpress.mechanisms.protocol import bit_tally as together
from dpress.mechanisms.protocol.bit_tally import BitTally
from dpress.mechanisms.protocol.report_type import Part, ReportType


def reports(sizes: tuple[int, ...]) -> tuple[BitTally, np.ndarray, list[np.ndarray]]:
    """A tally, 50 payloads with a byte before each string, and their strings."""
    source = rng.seeded(1)
    strings = [(source.words(50 * size).reshape(50, size) & np.uint64(1)).astype(np.uint8) for size in sizes]
    packed = [np.packbits(own, axis=1, bitorder="little") for own in strings]
    parts = [part for own in packed for part in (np.full((50, 1), 255, dtype=np.uint8), own)]
    starts = tuple(8 * (1 + sum(own.shape[1] + 1 for own in packed[:place])) for place in range(len(sizes)))
    return BitTally(starts=starts, sizes=sizes), np.concatenate(parts, axis=1), strings


def brute(strings: list[np.ndarray], axes: tuple[int, ...]) -> np.ndarray:
    """How many reports have the bits, by a loop over reports."""
    total = np.zeros([strings[axis].shape[1] + 1 for axis in axes], dtype=np.int64)
    for row in range(50):
        own = np.ones(1, dtype=np.int64)
        for axis in axes:
            own = np.multiply.outer(own, np.append(1, strings[axis][row]))
        total += own[0]
    return total


@pytest.mark.parametrize("block", [1, 7, 1 << 14])
@pytest.mark.parametrize("sizes", [(2, 3), (2, 9, 5), (1, 2, 3, 2, 2), (2,) * 6])
def test_bits_together_are_counted_as_by_brute_force(
    monkeypatch: pytest.MonkeyPatch, block: int, sizes: tuple[int, ...]
) -> None:
    monkeypatch.setattr(together, "BLOCK", block)
    one, payloads, strings = reports(sizes)
    assert one.crossed == (len(sizes) <= 5)
    assert all(np.array_equal(a, b) for a, b in zip(one.strings(payloads), strings, strict=True))
    tally = one.tally(payloads)
    assert tally.dtype == np.int64
    assert tally[0] == 50
    for k in range(1, len(sizes) + 1 if one.crossed else 3):
        for axes in itertools.combinations(range(len(sizes)), k):
            assert np.array_equal(one.block(tally, axes), brute(strings, axes))
    assert np.array_equal(one.tally(payloads[:9]) + one.tally(payloads[9:]), tally)


def test_no_reports_are_counted_as_none() -> None:
    for sizes in ((2, 3), (2,) * 6):
        one, payloads, _ = reports(sizes)
        assert not one.tally(payloads[:0]).any()
        assert one.tally(payloads[:0]).shape == one.tally(payloads).shape


def test_wide_strings_are_counted_in_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    one, payloads, _ = reports((300, 200))
    whole = one.tally(payloads)
    monkeypatch.setattr(together, "LARGEST_BLOCK", 1000)
    assert np.array_equal(one.tally(payloads), whole)


def test_combinations_are_row_major() -> None:
    oracle = Krr(size=6, loss=PureDP(epsilon=700))
    own = ReportType(parts=(Part(axes=(0, 1), oracle=oracle, encoder=Combination(sizes=(2, 3))),))
    codes = np.array([[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]], dtype=np.int32)
    assert own.perturb(codes, rng=rng.seeded(1)).ravel().tolist() == list(range(6))
    assert own.claim == oracle.claim
