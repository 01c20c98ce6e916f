"""olh: hashes in exact arithmetic, the collector against plain NumPy, exact p and q, layout of the reports."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpress.core import rng
from dpress.core.claim import PureDP
from dpress.core.errors import NotSupported, ReportRejected
from dpress.mechanisms.oracle.olh import (
    MOST_BUCKETS,
    PRIME,
    Olh,
    bucket,
    buckets,
    collision,
    hashes,
    intervals,
    supports,
)


def olh(size: int, epsilon: float = 1) -> Olh:
    return Olh(size=size, loss=PureDP(epsilon=epsilon))


def numbers(size: int, seed: int = 1) -> np.ndarray:
    words = rng.seeded(seed).words(size) % np.uint64(PRIME)
    return np.concatenate([[0, 1, PRIME - 2, PRIME - 1], words]).astype(np.uint32)


def reference(oracle: Olh, reports: np.ndarray) -> list[int]:
    """The definition, report by report in Python integers."""
    counts = [0] * oracle.size
    for row in reports:
        a, b, y = (int.from_bytes(bytes(part), "little") for part in (row[:4], row[4:8], row[8:]))
        for v in range(oracle.size):
            counts[v] += (a * v + b) % PRIME * oracle.g >> 31 == y
    return counts


@pytest.mark.parametrize("v", [0, 1, 1023, 2**31 - 2])
def test_hashes_are_exact_at_every_extreme(v: int) -> None:
    a, b = np.repeat(numbers(50), 54), np.tile(numbers(50, 2), 54)
    found = hashes(a, b, np.full(a.size, v, dtype=np.int32))
    assert found.tolist() == [(int(x) * v + int(y)) % PRIME for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize("g", [2, 3, 4, 21, 256, 1000, MOST_BUCKETS])
def test_intervals_hold_exactly_the_hashes_of_their_bucket(g: int) -> None:
    low, width = intervals(np.arange(g), g)
    end = low.astype(np.int64) + width
    assert low[0] == 0
    assert end[-1] == 2**31
    assert np.array_equal(end[:-1], low[1:])
    assert np.array_equal(bucket(low, g), np.arange(g))
    assert np.array_equal(bucket((end - 1).astype(np.uint32), g), np.arange(g))
    sizes = np.minimum(end, PRIME) - low
    assert collision(g) == Fraction(sum(int(one) ** 2 for one in sizes), PRIME**2)


@pytest.mark.parametrize(("bits", "g"), [(3, 2), (3, 3), (5, 4), (5, 7)])
def test_over_a_small_prime_two_values_fall_together_as_often_as_stated(bits: int, g: int) -> None:
    prime = 2**bits - 1
    for v, w in ((0, 1), (1, 2), (2, prime - 1)):
        pairs = [((a * v + b) % prime, (a * w + b) % prime) for a in range(prime) for b in range(prime)]
        assert len(set(pairs)) == prime**2  # pairwise independent, exactly
        together = sum(x * g >> bits == y * g >> bits for x, y in pairs)
        assert Fraction(together, prime**2) == collision(g, bits)


def test_the_number_of_buckets() -> None:
    found = {epsilon: buckets(Fraction(epsilon)) for epsilon in (1, 3, 5, 11)}
    assert found == {epsilon: round(math.exp(epsilon) + 1) for epsilon in found}
    assert buckets(Fraction(1, 10**9)) == 2
    assert buckets(Fraction(12)) == buckets(Fraction(1000)) == MOST_BUCKETS


@pytest.mark.parametrize("epsilon", [0.5, 1, 3, 7])
def test_the_compiled_the_plain_and_the_defined_collector_agree(epsilon: float) -> None:
    oracle = olh(37, epsilon)
    reports = oracle.perturb((np.arange(90) % 37).astype(np.int32), rng=rng.seeded(3))
    expected = reference(oracle, reports)
    assert oracle.tally(reports).tolist() == expected
    plain = np.zeros(37, dtype=np.int64)
    a, b = (reports[:, at : at + 4].copy().view("<u4").reshape(-1) for at in (0, 4))
    y = reports[:, 8:].copy().view(f"<u{oracle.width - 8}").reshape(-1)
    with np.errstate(over="ignore"):  # wrapping is what it relies on
        supports(plain, b, a, *intervals(y, oracle.g))
    assert plain.tolist() == expected


def test_many_blocks_are_the_vectorised_definition() -> None:
    oracle = olh(50, 2)
    reports = oracle.perturb((np.arange(40_001) % 50).astype(np.int32), rng=rng.seeded(4))
    a, b = (reports[:, at : at + 4].copy().view("<u4").reshape(-1) for at in (0, 4))
    held = [bucket(hashes(a, b, np.full(a.size, v, dtype=np.int32)), oracle.g) for v in range(50)]
    assert oracle.tally(reports).tolist() == [int((one == reports[:, 8]).sum()) for one in held]


def test_the_variance_is_close_to_the_papers() -> None:
    power = math.exp(3)
    assert math.isclose(olh(9, 3).variance(1000), 4000 * power / (power - 1) ** 2, rel_tol=0.01)


@pytest.mark.parametrize(("epsilon", "width"), [(1, 9), (5.5, 9), (6, 10), (1000, 10)])
def test_the_bucket_takes_one_byte_or_two(epsilon: float, width: int) -> None:
    oracle = olh(2**31 - 1, epsilon)
    reports = oracle.perturb(np.array([0, 2**31 - 2], dtype=np.int32), rng=rng.seeded(1))
    assert reports.shape == (2, width)
    assert not oracle.faults(reports)["out of range"].any()


@pytest.mark.parametrize("field", [0, 4])
def test_a_seed_or_bucket_that_there_is_not_is_a_fault(field: int) -> None:
    oracle = olh(3)
    reports = np.zeros((3, 9), dtype=np.uint8)
    reports[1, field : field + 4] = list(PRIME.to_bytes(4, "little"))
    reports[2, 8] = oracle.g
    assert oracle.faults(reports)["out of range"].tolist() == [False, True, True]
    with pytest.raises(ReportRejected, match="out of range"):
        oracle.tally(reports)


def test_the_whole_channel_is_refused() -> None:
    with pytest.raises(NotSupported, match="given_seed"):
        olh(3).channel()
