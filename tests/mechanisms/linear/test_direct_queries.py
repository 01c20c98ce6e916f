"""`direct_queries`: the noise is that of the exact sensitivity, and least squares makes the answers agree."""

from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.set_sums import SetSums
from dpress.core.maps.workload import Predicates
from dpress.mechanisms.linear.direct_queries import CARD, DirectQueries
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release.plan.linear_error import mean_variance, variances_of

EPSILON = PureDP(epsilon="0.5")
PARTS = ((0, 1), (2, 3), (0, 1, 2, 3))  # the last is the sum of the first two
MOVED = Unit(relation=Relation.REPLACE_ONE)


def asked(cells: int, sets: tuple[tuple[int, ...], ...]) -> Predicates:
    return Predicates(tuple(f"query {place}" for place in range(len(sets))), SetSums(cells, sets))


def made(sets: tuple[tuple[int, ...], ...], cells: int = 4, unit: Unit | None = None) -> MatrixMechanism:
    return MatrixMechanism(strategy=DirectQueries(cells, sets), loss=EPSILON, unit=unit or Unit())


@pytest.mark.parametrize(
    ("sets", "unit", "sensitivity"),
    [
        (((0,), (1,), (2,)), Unit(), 1),  # they exclude each other: not the textbook's 3
        (((0,), (1,), (2,)), MOVED, 2),
        (PARTS, Unit(), 2),
        (PARTS, MOVED, 2),  # the total does not change, and two parts do
        (((0, 1, 2, 3),), MOVED, 1),  # a replaced row may fall out of the table
        (PARTS, Unit(column="uid", rows=3), 6),
    ],
)
def test_the_scale_is_the_exact_sensitivity_over_epsilon(sets, unit: Unit, sensitivity: int) -> None:
    mechanism = made(sets, unit=unit)
    assert mechanism.noises[0].scale == sensitivity / EPSILON.epsilon
    assert mechanism.claim.proven == EPSILON
    rho = MatrixMechanism(strategy=DirectQueries(4, sets), loss=ZCDP(rho=1), unit=unit)
    squared = Fraction(sensitivity * unit.rows)  # the squared L2 sensitivity grows with the square of the rows
    assert rho.noises[0].sigma2 == squared / 2


def test_the_mean_variance_is_rank_over_queries() -> None:
    workload, mechanism = asked(4, PARTS), made(PARTS)
    noise = mechanism.noises[0].variance
    assert mean_variance(mechanism, workload) == pytest.approx(noise * 2 / 3)
    assert variances_of(mechanism, workload) == pytest.approx(noise * 2 / 3)
    free = ((0, 1), (1, 2))
    assert variances_of(made(free), asked(4, free)) == pytest.approx(noise)


def test_answers_agree_and_err_as_stated() -> None:
    """4,000 means of squares of 3 answers: the standard deviation of their mean is below 0.03, six of them 0.18."""
    mechanism, counts, generator = made(PARTS), np.array([5, 1, 7, 3]), rng.seeded(4)
    matrix = mechanism.strategy.map.matrix
    errors = []
    for _ in range(4000):
        cells = mechanism.decoder.estimate(mechanism.measure(counts, rng=generator))[0]
        first, second, whole = matrix @ cells
        assert whole == pytest.approx(first + second)
        errors.append(matrix @ (cells - counts))
    squares = (np.array(errors) ** 2).mean(axis=0) / variances_of(mechanism, asked(4, PARTS))
    assert squares == pytest.approx(1, abs=0.18)
    assert squares * 1.5 != pytest.approx(1, abs=0.18)  # the control: without least squares it is 3/2
    assert np.array(errors).mean(axis=0) == pytest.approx(0, abs=6 * 4 / np.sqrt(4000))


def test_it_serves_predicates_and_nothing_else() -> None:
    assert CARD.strategy is not None
    assert CARD.strategy(asked(4, PARTS), EPSILON) == DirectQueries(4, PARTS)
    with pytest.raises(ValueError, match=r"sets\[#1\]"):
        DirectQueries(2, ((0, 5),))
    with pytest.raises(NotSupported):
        MatrixMechanism(
            strategy=DirectQueries(4, PARTS), loss=PureDP(epsilon="1e-9"), unit=Unit(column="u", rows=10**9)
        )
