"""Scores of bits: one-hot strings as a design, by enumeration; what may not be summed without inflation."""

import itertools

import numpy as np
import pytest

from dpress.inference.joint.bit_evidence import BitEvidence, one_hot
from dpress.mechanisms.joint.bit_tables import DesignScores, OneHotScores, Scores, designed, unbiased, variances

Q_STAR, P_STAR = 0.7, 0.4
BLOOM = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 0, 1], [1, 0, 0, 0]], dtype=bool)


def bloom(q_star: float = Q_STAR, p_star: float = P_STAR) -> DesignScores:
    return designed(BitEvidence(design=BLOOM[None], q_star=q_star, p_star=p_star))


def of_all_strings(own: Scores, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Every string, and its scores."""
    strings = np.array(list(itertools.product((0, 1), repeat=bits)), dtype=np.int64)
    blocks = np.concatenate([np.ones((len(strings), 1), dtype=np.int64), strings], axis=1)
    return strings, np.array([unbiased(block, [own]) for block in blocks])


def chances(strings: np.ndarray, true: np.ndarray, rates: tuple[float, float]) -> np.ndarray:
    rate = np.where(true, *rates)
    return np.asarray(np.where(strings == 1, rate, 1 - rate).prod(axis=1))


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_one_hot_is_a_design(size: int) -> None:
    own = OneHotScores(size=size, q_star=Q_STAR, p_star=P_STAR)
    design = designed(one_hot(size, q_star=Q_STAR, p_star=P_STAR))
    table = np.arange(4.0 * size).reshape(4, size)
    block = np.arange(4 * (size + 1)).reshape(4, size + 1) + 0.0
    assert own.centred
    assert np.allclose(own.counts(block, 1), design.counts(block, 1))
    assert np.allclose(own.squares(table, 1), design.squares(table, 1))
    assert np.allclose(own.squares(table.T, 0), design.squares(table.T, 0))
    assert own.mean_square == pytest.approx(design.mean_square)
    assert design.inflation == pytest.approx(1)
    shares = np.arange(1.0, size + 1) / (size * (size + 1) / 2)
    centre = np.eye(size) - 1 / size
    assert np.allclose(centre @ own.covariance(shares) @ centre, centre @ design.covariance(shares) @ centre)


@pytest.mark.parametrize(
    ("own", "design", "rates"),
    [
        (OneHotScores(size=3, q_star=Q_STAR, p_star=P_STAR), np.eye(3, dtype=bool), (Q_STAR, P_STAR)),
        (OneHotScores(size=3, q_star=0.5, p_star=0.02), np.eye(3, dtype=bool), (0.5, 0.02)),
        (bloom(), BLOOM, (Q_STAR, P_STAR)),
    ],
    ids=["one-hot", "plain", "bloom"],
)
def test_scores_by_enumeration(own: Scores, design: np.ndarray, rates: tuple[float, float]) -> None:
    strings, scores = of_all_strings(own, len(design))
    shares = np.arange(1.0, own.size + 1) / (own.size * (own.size + 1) / 2)
    moments, total = np.zeros((own.size, own.size)), np.zeros((own.size, own.size))
    for value in range(own.size):
        weights = chances(strings, design[:, value], rates)
        assert np.allclose(weights @ scores, np.eye(own.size)[value])
        moments[:, value] = weights @ scores**2
        total += shares[value] * (scores * weights[:, None]).T @ scores
    assert np.allclose(own.squares(np.eye(own.size), 0), moments)
    assert own.mean_square == pytest.approx(moments.mean())
    centre = np.eye(own.size) - 1 / own.size
    exact = total - np.multiply.outer(shares, shares)
    assert np.allclose(centre @ own.covariance(shares) @ centre, centre @ exact @ centre)


def worst(own: Scores, design: np.ndarray, rates: tuple[float, float]) -> float:
    """The largest variance of a set of values over the sum of theirs."""
    strings, scores = of_all_strings(own, len(design))
    ratios = []
    for value in range(own.size):
        weights = chances(strings, design[:, value], rates)
        covariance = (scores * weights[:, None]).T @ scores - np.outer(np.eye(own.size)[value], np.eye(own.size)[value])
        for chosen in itertools.product((0.0, 1.0), repeat=own.size):
            query = np.array(chosen)
            if query.any():
                ratios.append(query @ covariance @ query / (query**2 @ np.diag(covariance)))
    return max(ratios)


def test_no_set_of_values_varies_more_than_inflated() -> None:
    skewed = 0.5, 0.02
    assert worst(OneHotScores(size=3, q_star=0.5, p_star=0.02), np.eye(3, dtype=bool), skewed) <= 1 + 1e-9
    centred = designed(one_hot(3, q_star=0.5, p_star=0.02))  # what the rule h <= (n + 1) o keeps away
    assert 1 + 1e-9 < worst(centred, np.eye(3, dtype=bool), skewed) <= centred.inflation * (1 + 1e-9)
    assert 1 + 1e-9 < worst(bloom(), BLOOM, (Q_STAR, P_STAR)) <= bloom().inflation * (1 + 1e-9)
    assert bloom().inflation < 1.5


@pytest.mark.parametrize("size", [2, 3, 10])
def test_a_known_sum_lowers_the_variance(size: int) -> None:
    own = OneHotScores(size=size, q_star=Q_STAR, p_star=P_STAR)
    (one, zero), (held, free) = own.noise, own.variances
    assert held < one
    assert free < zero * (1 - 1 / size) + one / size**2
    if size == 2:
        assert held == pytest.approx(free)
        assert held == pytest.approx((one + zero) / 4)


def test_values_that_look_alike_are_refused() -> None:
    same = np.array([[1, 1, 0], [0, 0, 1]], dtype=bool)
    for design in (same[None], np.stack([np.eye(3, dtype=bool)] * 2)):
        with pytest.raises(ValueError, match="tell all values apart"):
            designed(BitEvidence(design=design, q_star=Q_STAR, p_star=P_STAR))


def test_variances_without_any_count_are_those_of_equal_shares() -> None:
    own = OneHotScores(size=2, q_star=Q_STAR, p_star=P_STAR)
    even = variances(np.full((2, 2), 25.0), [own, own], 100)
    assert np.allclose(variances(np.full((2, 2), -1.0), [own, own], 100), even)
    assert (variances(np.array([[-50.0, 100], [0, 0]]), [own, own], 100) > 0).all()
