"""olh: hashes in exact arithmetic, the collector against plain NumPy, exact p and q, layout of the reports."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported, ReportRejected
from dpress.core.basics.losses.pure import PureDP
from dpress.mechanisms.oracle.krr import respond
from dpress.mechanisms.oracle.olh import (
    MOST_BUCKETS,
    PRIME,
    Olh,
    added,
    bucket,
    buckets,
    collision,
    differences,
    hashes,
    intervals,
    supports,
)

DEVIATIONS = 5  # of a mean over reports: a false alarm with chance below 6e-7


def olh(size: int, epsilon: float = 1) -> Olh:
    return Olh(size=size, loss=PureDP(epsilon=epsilon))


def numbers(size: int, seed: int = 1) -> np.ndarray:
    words = rng.seeded(seed).words(size) % np.uint64(PRIME)
    return np.concatenate([[0, 1, PRIME - 2, PRIME - 1], words]).astype(np.uint32)


def reference(oracle: Olh, reports: np.ndarray) -> list[int]:
    """The definition, report by report in Python integers."""
    counts = [0] * oracle.size
    for row in reports:
        a, b, c, y = (int.from_bytes(bytes(row[at : at + 4]), "little") for at in (0, 4, 8, 12))
        for v in range(oracle.size):
            counts[v] += (c * v * v + a * v + b) % PRIME * oracle.g >> 31 == y
    return counts


def seeds(reports: np.ndarray) -> list[np.ndarray]:
    """The columns a, b and c."""
    return [reports[:, at : at + 4].copy().view("<u4").reshape(-1) for at in (0, 4, 8)]


def every_seed(prime: int) -> np.ndarray:
    """The hash of every value (rows) under every seed of Z_P^3, the linear ones first."""
    c, a, b = np.indices((prime,) * 3).reshape(3, -1)
    v = np.arange(prime)[:, None]
    return (c * v * v + a * v + b) % prime


def supported(reports: np.ndarray, oracle: Olh, values: range) -> np.ndarray:
    """How many of some values each report supports."""
    return sum(oracle.supporting(reports, v).astype(np.int64) for v in values)


@pytest.mark.parametrize("v", [0, 1, 1023, 2**31 - 2])
def test_hashes_are_exact_at_every_extreme(v: int) -> None:
    a, b, c = (one.ravel() for one in np.meshgrid(*(numbers(12, seed) for seed in (1, 2, 3))))
    found = hashes(np.full(a.size, v, dtype=np.int32), a, b, c)
    assert found.tolist() == [(int(z) * v * v + int(x) * v + int(y)) % PRIME for x, y, z in zip(a, b, c, strict=True)]


def test_sums_are_exact_at_every_extreme() -> None:
    a, b = np.repeat(numbers(50), 54), np.tile(numbers(50, 2), 54)
    assert added(a, b).tolist() == [(int(x) + int(y)) % PRIME for x, y in zip(a, b, strict=True)]


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
    held = every_seed(prime) * g >> bits
    for v, w in ((0, 1), (1, 2), (2, prime - 1)):
        assert Fraction(int((held[v] == held[w]).sum()), prime**3) == collision(g, bits)


@pytest.mark.parametrize("prime", [3, 7, 31])
def test_over_a_small_prime_the_hashes_of_any_three_values_are_independent(prime: int) -> None:
    hashed = every_seed(prime)
    triples = [(0, 1, 2)] if prime == 3 else [(0, 1, 2), (1, 2, 3), (0, 3, 6), (2, 0, prime - 1)]
    for v, w, x in triples:
        code = (hashed[v] * prime + hashed[w]) * prime + hashed[x]
        assert np.unique(code).size == prime**3
        assert np.unique(code[: prime**2]).size == prime**2  # negative control: linear, two fix the third


@pytest.mark.parametrize(("bits", "g"), [(3, 3), (3, 4), (5, 4), (5, 7)])
def test_over_a_small_prime_counts_correlate_only_by_the_rounding_of_the_buckets(bits: int, g: int) -> None:
    """P(a report of v supports w and x), and v and w, over all seeds and answers, against the sizes of the buckets."""
    prime, p = 2**bits - 1, Fraction(1, 2)
    other = (1 - p) / (g - 1)
    held = every_seed(prime) * g >> bits
    s = [Fraction(int(n), prime) for n in np.bincount(np.arange(prime) * g >> bits)]
    answer = [other + (p - other) * one for one in s]
    q = other + (p - other) * collision(g, bits)
    assert q == sum(r * one for r, one in zip(answer, s, strict=True))
    rounding = sum(r * one**2 for r, one in zip(answer, s, strict=True)) - q**2
    assert 0 <= rounding <= Fraction(4, prime**2)
    own = p * (collision(g, bits) - q)
    assert own == p * other * (collision(g, bits) * g - 1)
    assert 0 <= own <= p * other * Fraction(g * (g + 3), prime**2)

    def both(v: int, w: int, x: int, seeds: int) -> Fraction:
        alike = held[w, :seeds] == held[x, :seeds]
        true = int((alike & (held[v, :seeds] == held[w, :seeds])).sum())
        return Fraction(true * p + (int(alike.sum()) - true) * other) / seeds

    for v, w, x in ((0, 1, 2), (3, 1, 5), (6, 5, 4)):
        assert both(v, w, x, prime**3) - q**2 == rounding
        assert both(v, v, w, prime**3) - p * q == own
    assert both(0, 1, 2, prime**2) - q**2 > rounding  # negative control: the linear hash


@pytest.mark.parametrize(("holder", "asked"), [(32, range(33, 65)), (32, range(65)), (900, range(868, 932))])
def test_a_range_has_the_sum_of_the_variances_of_its_cells(holder: int, asked: range) -> None:
    """Reports of one value; the linear hash, c = 0, must be rejected."""
    oracle, users = olh(1024, 2), 100_000
    reports = oracle.perturb(np.full(users, holder, dtype=np.int32), rng=rng.seeded(7))
    linear, drawn = reports.copy(), rng.seeded(8)
    linear[:, 8:12] = 0
    held = bucket(hashes(np.full(users, holder, dtype=np.int32), *seeds(linear)), oracle.g)
    linear[:, 12] = respond(held, oracle.g, oracle.p, rng=drawn)
    p = [oracle.p if v == holder else oracle.q for v in asked]
    mean, variance = float(sum(p)), float(sum(one * (1 - one) for one in p))
    squares = [(supported(one, oracle, asked) - mean) ** 2 for one in (reports, linear)]
    off = [(one.mean() - variance) / (one.std() / math.sqrt(users)) for one in squares]
    assert abs(off[0]) < DEVIATIONS < off[1]


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
    y = reports[:, 12:].copy().view(f"<u{oracle.width - 12}").reshape(-1)
    with np.errstate(over="ignore"):  # wrapping is what it relies on
        supports(plain, differences(*seeds(reports)), *intervals(y, oracle.g))
    assert plain.tolist() == expected


def test_many_blocks_are_the_vectorised_definition() -> None:
    oracle = olh(50, 2)
    reports = oracle.perturb((np.arange(40_001) % 50).astype(np.int32), rng=rng.seeded(4))
    held = [bucket(hashes(np.full(40_001, v, dtype=np.int32), *seeds(reports)), oracle.g) for v in range(50)]
    assert oracle.tally(reports).tolist() == [int((one == reports[:, 12]).sum()) for one in held]


def test_the_variance_is_close_to_the_papers() -> None:
    power = math.exp(3)
    assert math.isclose(olh(9, 3).variance(1000), 4000 * power / (power - 1) ** 2, rel_tol=0.01)


@pytest.mark.parametrize(("epsilon", "width"), [(1, 13), (5.5, 13), (6, 14), (1000, 14)])
def test_the_bucket_takes_one_byte_or_two(epsilon: float, width: int) -> None:
    oracle = olh(2**31 - 1, epsilon)
    reports = oracle.perturb(np.array([0, 2**31 - 2], dtype=np.int32), rng=rng.seeded(1))
    assert reports.shape == (2, width)
    assert not oracle.faults(reports)["out of range"].any()


@pytest.mark.parametrize("field", [0, 4, 8])
def test_a_seed_or_bucket_that_there_is_not_is_a_fault(field: int) -> None:
    oracle = olh(3)
    reports = np.zeros((3, 13), dtype=np.uint8)
    reports[1, field : field + 4] = list(PRIME.to_bytes(4, "little"))
    reports[2, 12] = oracle.g
    assert oracle.faults(reports)["out of range"].tolist() == [False, True, True]
    with pytest.raises(ReportRejected, match="out of range"):
        oracle.tally(reports)


def test_the_whole_channel_is_refused() -> None:
    with pytest.raises(NotSupported, match="given_seed"):
        olh(3).channel()
