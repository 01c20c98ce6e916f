"""`pairs`: unbiased tables that agree, their variance against simulation, a fit that is a distribution."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.inference.joint.pair_error import concentration
from dpress.mechanisms.joint.pairs import Pairs, planned_variance
from dpress.mechanisms.oracle.subset_selection import CARD
from dpress.mechanisms.protocol.report_type import ReportType

SHAPE, SETS = (2, 3, 2), ((0, 1), (0, 2), (1, 2))
USERS, REPEATS = 600, 400
FALSE_ALARM = 1e-6
CELLS = 16
LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM / 2 / CELLS)


def made() -> Pairs:
    sizes = [math.prod(SHAPE[axis] for axis in axes) for axes in SETS]
    oracles = [CARD.oracle(size, PureDP(epsilon=2)) for size in sizes]  # type: ignore[misc]
    return Pairs(shape=SHAPE, sets=SETS, oracles=tuple(oracles))  # type: ignore[arg-type]


def tallies(types: Sequence[ReportType], codes: np.ndarray, seed: int) -> list[np.ndarray]:
    generator = rng.seeded(seed)
    drawn = generator.words(codes.shape[1]) % np.uint64(len(types))
    parts = [codes[:, drawn == number] for number in range(len(types))]
    return [one.tally(one.perturb(own, rng=generator)) for one, own in zip(types, parts, strict=True)]


def even() -> np.ndarray:
    """Every combination equally often: where the stated variance is exact."""
    return np.array([np.unravel_index(user % 12, SHAPE) for user in range(USERS)], dtype=np.int32).T


@pytest.fixture(scope="module")
def runs() -> tuple[np.ndarray, np.ndarray]:
    own = made()
    found = [own.measurement(tallies(own.types, even(), seed)) for seed in range(REPEATS)]
    return np.array([one.answers for one in found]), np.asarray(found[0].variance)


@pytest.mark.slow
def test_tables_are_unbiased_with_the_stated_variance(runs: tuple[np.ndarray, np.ndarray]) -> None:
    counts, variances = runs
    truth = np.repeat([USERS / 6, USERS / 4, USERS / 6], [6, 4, 6])
    z = (counts.mean(axis=0) - truth) / np.sqrt(variances / REPEATS)
    assert np.abs(z).max() < LIMIT
    wrong = (counts.mean(axis=0) - truth - 10) / np.sqrt(variances / REPEATS)
    assert np.abs(wrong).max() > LIMIT  # a bias of ten counts would be found
    ratio = counts.var(axis=0) / variances
    spread = LIMIT * math.sqrt(2 / REPEATS)  # of a variance of near-normal errors
    assert np.all(np.abs(ratio - 1) < spread)
    assert np.all(np.abs(2 * ratio - 1) > spread)  # half the variance would be found


def test_tables_agree_and_the_fit_is_a_distribution() -> None:
    estimator = made()
    own = tallies(estimator.types, even(), 1)
    measured = estimator.measurement(own)
    counts = estimator.decoder(USERS).estimate(measured)
    first, second, third = (table.reshape(shape) for table, shape in zip(counts, [(2, 3), (2, 2), (3, 2)], strict=True))
    assert np.allclose(first.sum(axis=1), second.sum(axis=1))
    assert np.allclose(first.sum(axis=0), third.sum(axis=1))
    assert np.allclose([first.sum(), second.sum(), third.sum()], USERS)
    table = estimator.fit(own, list).marginal((0, 1, 2))
    assert table.min() >= 0
    assert math.isclose(table.sum(), 1, rel_tol=1e-9)


def test_lots_that_are_all_users_together_plan_no_error_of_the_lot() -> None:
    """Without an oracle's noise, who is asked everything errs by nothing; otherwise by sampling alone."""

    def lot_only(sets: tuple[tuple[int, ...], ...]) -> float:
        return planned_variance((2, 3), sets, USERS, lambda _: (0.0, 0.0))

    for sets in (((0, 1),), ((0, 1), (0, 1)), ((0, 1),) * 3):
        assert lot_only(sets) == pytest.approx(0, abs=1e-9 * USERS)
    half = (1 - concentration((2, 3))) / 6 * USERS  # N^2 f (1 - f) (1 - 1/2) / (N / 2), averaged over the cells
    assert lot_only(((0, 1), (0,))) < half
    assert lot_only(((0, 1), (0,))) > half / 4


def test_the_squared_shares_that_are_supposed() -> None:
    assert concentration((1,)) == 1
    generator = rng.seeded(3)
    gaps = np.diff(np.sort((generator.words(2 * 20000) / 2.0**64).reshape(-1, 2), axis=1), prepend=0, append=1)
    squares = (gaps**2).sum(axis=1)  # of three shares, drawn evenly
    noise = NormalDist().inv_cdf(1 - FALSE_ALARM / 2) * squares.std() / math.sqrt(squares.size)
    assert abs(squares.mean() - concentration((3,))) < noise < abs(1 / 3 - concentration((3,)))


def test_a_report_type_that_nobody_answers() -> None:
    estimator = made()
    own = tallies(estimator.types, even(), 1)
    with pytest.raises(ValueError, match=r"about attributes \[1, 2\] together"):
        estimator.measurement([own[0], own[1], 0 * own[2]])
    with pytest.raises(ValueError, match=r"about attributes \[2\]"):
        estimator.measurement([own[0], 0 * own[1], 0 * own[2]])
