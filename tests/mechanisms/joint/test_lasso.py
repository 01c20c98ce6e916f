"""`lasso` as published: its design, its penalty, one-way tables recovered, correlation not."""

import math
import sys

import numpy as np
import pytest

from dpress.core.basics.errors import NotSupported
from dpress.inference.joint.bit_evidence import BitEvidence, one_hot
from dpress.mechanisms.joint.documents.lasso import Lasso, design

pytest.importorskip("sklearn")
Q_STAR, P_STAR, USERS = 0.75, 0.5, 1_000_000


def exact_tally(evidence: BitEvidence, table: np.ndarray) -> np.ndarray:
    """The tally that reports have on average."""
    ones = evidence.design @ table
    rows = np.rint(USERS * (P_STAR + (Q_STAR - P_STAR) * ones)).astype(np.int64)
    return np.concatenate([rows, np.full((len(rows), 1), USERS)], axis=1)


def test_the_columns_are_the_codes_of_the_cells() -> None:
    evidence = [one_hot(size, q_star=Q_STAR, p_star=P_STAR) for size in (2, 3)]
    matrix = design(evidence).toarray()
    for column, (first, second) in enumerate(np.ndindex(2, 3)):
        assert matrix[:, column].tolist() == [*np.eye(2)[first], *np.eye(3)[second]]


def test_bloom_filters_in_cohorts_are_columns_too() -> None:
    bloom = BitEvidence(design=np.arange(24).reshape(2, 4, 3) % 5 == 0, q_star=Q_STAR, p_star=P_STAR)
    matrix = design([bloom, one_hot(2, q_star=Q_STAR, p_star=P_STAR)]).toarray()
    assert matrix.shape == (10, 6)
    assert np.array_equal(matrix[:8, 2], bloom.rows[:, 1])
    assert np.array_equal(matrix[8:, 3], [0, 1])


def test_one_way_tables_come_back_and_correlation_does_not() -> None:
    evidence = [one_hot(2, q_star=Q_STAR, p_star=P_STAR), one_hot(3, q_star=Q_STAR, p_star=P_STAR)]
    table = np.array([[0.5, 0.0, 0.1], [0.0, 0.3, 0.1]])  # strongly correlated
    tallies = [exact_tally(own, margin) for own, margin in zip(evidence, (table.sum(1), table.sum(0)), strict=True)]
    found = Lasso().estimate(evidence, tallies).reshape(2, 3)
    assert found.min() >= 0
    assert np.allclose(found.sum(axis=1), table.sum(axis=1), atol=0.01)
    assert np.allclose(found.sum(axis=0), table.sum(axis=0), atol=0.01)
    assert np.abs(found - table).sum() / 2 > 0.1


def test_the_penalty_is_the_noise_of_a_column() -> None:
    evidence = [one_hot(2, q_star=Q_STAR, p_star=P_STAR), one_hot(3, q_star=Q_STAR, p_star=P_STAR)]
    tallies = [exact_tally(own, np.full(own.size, 1 / own.size)) for own in evidence]
    sigma = math.sqrt(P_STAR * (1 - P_STAR) / (Q_STAR - P_STAR) ** 2 / USERS)
    assert Lasso().penalty(evidence, tallies) == pytest.approx(sigma * math.sqrt(2) / 5)
    assert Lasso(scale=2).penalty(evidence, tallies) == pytest.approx(2 * sigma * math.sqrt(2) / 5)
    with pytest.raises(ValueError, match="scale must be > 0"):
        Lasso(scale=0)


def test_a_larger_penalty_takes_more_off_the_shares() -> None:
    evidence = [one_hot(2, q_star=Q_STAR, p_star=P_STAR), one_hot(3, q_star=Q_STAR, p_star=P_STAR)]
    tallies = [exact_tally(own, np.array([0.7, 0.2, 0.1])[: own.size]) for own in evidence]
    found = [Lasso.penalised(scale).estimate(evidence, tallies) for scale in (1, 30, 100, 1000)]
    sums = [float(one.sum()) for one in found]
    assert Lasso.penalised(30) == Lasso(scale=30)
    assert np.array_equal(found[0], Lasso().estimate(evidence, tallies))
    assert sums[0] > sums[1] > sums[2] > sums[3] == 0
    nonzero = [int((one > 0).sum()) for one in found]
    assert nonzero[0] > nonzero[2] >= nonzero[3]


def test_without_scikit_learn_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    own = one_hot(2, q_star=Q_STAR, p_star=P_STAR)
    with pytest.raises(NotSupported, match="lasso"):
        Lasso().estimate([own], [exact_tally(own, np.array([0.5, 0.5]))])
