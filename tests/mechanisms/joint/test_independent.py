"""`independent`: unbiased one-way tables, the product's variance against simulation, and nothing said of pairs."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.mechanisms.joint.independent import Independent, product_variance
from dpress.mechanisms.oracle.subset_selection import CARD
from dpress.mechanisms.protocol.report_type import Part, ReportType

SHAPE, USERS, REPEATS = (2, 3), 1200, 1500
FALSE_ALARM = 1e-6
SIZES = sum(SHAPE)
LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM / 2 / (2 * SIZES + 1))  # means, variances and the product together


def made() -> Independent:
    oracles = [CARD.oracle(size, PureDP(epsilon=2)) for size in SHAPE]  # type: ignore[misc]
    types = [ReportType(parts=(Part(axes=(axis,), oracle=oracle),)) for axis, oracle in enumerate(oracles)]  # type: ignore[arg-type]
    return Independent(shape=SHAPE, types=tuple(types))


def tallies(own: Independent, codes: np.ndarray, seed: int) -> list[np.ndarray]:
    generator = rng.seeded(seed)
    drawn = generator.words(codes.shape[1]) % np.uint64(len(SHAPE))
    parts = [codes[:, drawn == number] for number in range(len(SHAPE))]
    return [one.tally(one.perturb(part, rng=generator)) for one, part in zip(own.types, parts, strict=True)]


def people() -> np.ndarray:
    """Independent attributes with the sum of squared shares that is planned for: 2/3 and 1/2."""
    rare = (1 - math.sqrt(1 / 3)) / 2
    first = np.arange(USERS) < round(rare * USERS)
    second = np.searchsorted([0.1755, 0.3510], np.arange(USERS) * 0.618034 % 1, side="right")
    return np.array([first, second], dtype=np.int32)


def truth(codes: np.ndarray) -> list[np.ndarray]:
    return [np.bincount(own, minlength=size) for own, size in zip(codes, SHAPE, strict=True)]


@pytest.fixture(scope="module")
def runs() -> tuple[np.ndarray, np.ndarray]:
    own, codes = made(), people()
    found = [own.measurement(tallies(own, codes, seed)) for seed in range(REPEATS)]
    return np.array([one.answers for one in found]), np.array([one.variance for one in found])


@pytest.mark.slow
def test_one_way_tables_are_unbiased_with_the_stated_variance(runs: tuple[np.ndarray, np.ndarray]) -> None:
    counts, variances = runs
    exact, stated = np.concatenate(truth(people())), variances.mean(axis=0)
    z = (counts.mean(axis=0) - exact) / np.sqrt(stated / REPEATS)
    assert np.abs(z).max() < LIMIT
    assert np.abs(z + 10 / np.sqrt(stated / REPEATS)).max() > LIMIT  # a bias of ten counts would be found
    ratio, spread = counts.var(axis=0) / stated, LIMIT * math.sqrt(2 / REPEATS)
    assert np.abs(ratio - 1).max() < spread
    assert np.abs(1.5 * ratio - 1).max() > spread


@pytest.mark.slow
def test_the_product_errs_as_planned_where_the_attributes_are_independent(runs: tuple[np.ndarray, np.ndarray]) -> None:
    counts, own = runs[0], made()
    one, other = truth(people())
    errors = counts[:, :2, None] * counts[:, None, 2:] / USERS - np.multiply.outer(one, other) / USERS
    squares = (errors**2).mean(axis=(1, 2))
    planned = own.mean_variance(USERS)
    noise = LIMIT * squares.std() / math.sqrt(REPEATS) + 0.03 * planned  # shares are as planned but for rounding
    assert abs(squares.mean() - planned) < noise
    assert abs(squares.mean() - 1.4 * planned) > noise


def test_the_plan_is_the_formula() -> None:
    shares, spreads, users, asked = (2 / 3, 1 / 2), (3.0, 4.0), 100, 40.0
    sampling = 60 / 99
    first, second = (2 * 3 + sampling / 3) / asked, (3 * 4 + sampling / 2) / asked
    exact = users**2 * (shares[0] * second + shares[1] * first + first * second) / 6
    assert product_variance(SHAPE, spreads, users, asked) == pytest.approx(exact)
    assert product_variance((1, 1), (0.0, 0.0), users, users) == 0


def test_the_fit_is_the_product_without_negative_shares() -> None:
    own, codes = made(), people()
    few = codes[:, :: USERS // 24]  # so few that counts below zero occur
    found = [own.fit(tallies(own, few, seed), list) for seed in range(20)]
    assert min(own.measurement(tallies(own, few, seed)).answers.min() for seed in range(20)) < 0
    for fit in found:
        table = fit.marginal((0, 1))
        assert table.min() >= 0
        assert table.sum() == pytest.approx(1)
        assert table == pytest.approx(np.multiply.outer(fit.marginal((0,)), fit.marginal((1,))))


def test_it_says_nothing_of_pairs_and_says_so() -> None:
    own = made()
    assert own.tables == ((0,), (1,))
    assert own.contrasts(tallies(own, people(), 1)) == ()
    assert own.assumes == "independent attributes"
    assert own.claim.proven == PureDP(epsilon=2) or own.claim.proven.epsilon <= 2  # type: ignore[union-attr]


def test_a_report_type_that_nobody_answers() -> None:
    own = made()
    found = tallies(own, people(), 1)
    with pytest.raises(ValueError, match=r"about attributes \[1\]"):
        own.measurement([found[0], 0 * found[1]])
