"""Several attributes in one report: row-major combinations, and bits counted in pairs."""

from fractions import Fraction

import numpy as np
import pytest

from dpress.core import rng
from dpress.core.claim import PureDP
from dpress.mechanisms import together
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.oracle.krr import Krr
from dpress.mechanisms.together import CoOccurrence, OverProduct


@pytest.mark.parametrize("block", [1, 7, 1 << 14])
def test_two_bits_together_are_counted_as_by_brute_force(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(together, "BLOCK", block)
    oracle = RrLdp(sizes=(2, 3, 5), f=Fraction(1, 2))
    one = CoOccurrence(oracle=oracle)
    codes = np.array([np.arange(50) % size for size in oracle.sizes], dtype=np.int32)
    payloads = one.perturb(codes, rng=rng.seeded(1))
    strings = [[int(row[b // 8]) >> b % 8 & 1 for b in range(10)] for row in payloads]
    brute = [[sum(row[a] * row[b] for row in strings) for b in range(10)] for a in range(10)]
    tally = one.tally(payloads)
    assert tally.reshape(10, 10).tolist() == brute
    assert np.array_equal(one.estimate(tally, 50).answers, oracle.estimate(oracle.tally(payloads), 50).answers)
    assert one.claim == oracle.claim


def test_no_reports_are_counted_as_none() -> None:
    oracle = RrLdp(sizes=(2, 2), f=Fraction(1, 2))
    assert not CoOccurrence(oracle=oracle).tally(np.zeros((0, 1), dtype=np.uint8)).any()


def test_combinations_are_row_major() -> None:
    one = OverProduct(sizes=(2, 3), oracle=Krr(size=6, loss=PureDP(epsilon=700)))
    codes = np.array([[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]], dtype=np.int32)
    assert one.perturb(codes, rng=rng.seeded(1)).ravel().tolist() == list(range(6))
    assert one.claim == one.oracle.claim
