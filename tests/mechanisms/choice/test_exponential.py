"""`exponential`: the distribution, its error bound, the unit's rows, and what it refuses."""

import math

import numpy as np
import pytest
from scipy import stats

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.mechanisms.choice.exponential import Exponential

FALSE_ALARM = 1e-6
DRAWS = 5_000
SCORES = np.array([4, 0, 3, -2])


def fits(picks: np.ndarray, expected: np.ndarray) -> bool:
    observed = np.bincount(picks, minlength=len(expected))
    statistic = float(((observed - DRAWS * expected) ** 2 / (DRAWS * expected)).sum())
    return stats.chi2.sf(statistic, len(expected) - 1) > FALSE_ALARM


@pytest.mark.parametrize(("rows", "sensitivity"), [(1, 1), (2, 3)])
def test_choices_fit_the_stated_probabilities(rows: int, sensitivity: int) -> None:
    unit = Unit(column=None if rows == 1 else "uid", rows=rows)
    mechanism = Exponential(loss=PureDP(epsilon=1), unit=unit, sensitivity=sensitivity)
    scores, generator = SCORES * sensitivity * rows, rng.seeded(1)
    picks = np.array([mechanism.choose(scores, rng=generator) for _ in range(DRAWS)])
    assert fits(picks, mechanism.probabilities(scores))
    wrong = Exponential(loss=PureDP(epsilon=1.5), unit=unit, sensitivity=sensitivity)
    assert not fits(picks, wrong.probabilities(scores))  # the control


def test_rows_per_unit_and_sensitivity_divide_the_exponent() -> None:
    unit = Unit(relation=Relation.REPLACE_ONE, column="uid", rows=4)
    person = Exponential(loss=PureDP(epsilon=1), unit=unit, sensitivity=3)
    row = Exponential(loss=PureDP(epsilon="1/12"))
    assert person.unit_sensitivity == 12
    assert np.allclose(person.probabilities(SCORES), row.probabilities(SCORES), rtol=1e-12)
    assert person.claim.proven == PureDP(epsilon=1)
    assert "score sensitivity 12" in person.claim.basis


@pytest.mark.parametrize("beta", [0.5, 0.1, 1e-3])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_the_chosen_score_is_within_the_stated_bound(epsilon: str, beta: float) -> None:
    mechanism = Exponential(loss=PureDP(epsilon=epsilon), sensitivity=2)
    for scores in (np.arange(0, 200, 7), np.array([0, *[-300] * 99]), np.array([50, *range(50)])):
        bound = 2 * 2 * math.log(len(scores) / beta) / float(epsilon)
        beyond = scores < scores.max() - bound
        assert mechanism.probabilities(scores)[beyond].sum() <= beta
        halved = scores < scores.max() - bound / 40
        assert mechanism.probabilities(scores)[halved].sum() >= mechanism.probabilities(scores)[beyond].sum()


def test_one_candidate_is_chosen_and_equal_ones_are_equally_likely() -> None:
    mechanism = Exponential(loss=PureDP(epsilon=1))
    assert mechanism.choose(np.array([-5]), rng=rng.seeded(1)) == 0
    assert mechanism.probabilities(np.zeros(4, dtype=np.int64)).tolist() == [0.25] * 4


def test_adding_a_constant_to_all_scores_changes_nothing() -> None:
    mechanism = Exponential(loss=PureDP(epsilon=1))
    assert np.allclose(mechanism.probabilities(SCORES), mechanism.probabilities(SCORES + 10**12), rtol=1e-15)


@pytest.mark.parametrize("loss", [ZCDP(rho=1), ApproxDP(epsilon=1, delta=1e-6)])
def test_other_losses_are_refused(loss: Loss) -> None:
    with pytest.raises(NotSupported, match="the exponential mechanism is calibrated to epsilon, got"):
        Exponential(loss=loss)


@pytest.mark.parametrize("sensitivity", [0, -1, 1.5, True])
def test_a_sensitivity_that_is_no_count_is_refused(sensitivity: int) -> None:
    with pytest.raises(ValueError, match="sensitivity must be an integer >= 1"):
        Exponential(loss=PureDP(epsilon=1), sensitivity=sensitivity)


@pytest.mark.parametrize(
    "scores", [np.array([0.5, 1.0]), np.array([], dtype=np.int64), np.zeros((2, 2), dtype=np.int64)]
)
def test_scores_that_are_no_integer_vector_are_refused(scores: np.ndarray) -> None:
    with pytest.raises(ValueError, match="scores must be a non-empty int64 vector"):
        Exponential(loss=PureDP(epsilon=1)).choose(scores, rng=rng.seeded(1))
