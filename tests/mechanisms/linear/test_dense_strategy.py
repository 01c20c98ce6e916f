"""A matrix of one's own: what it claims, errs by and is audited for is what the same strategy by rule has."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpress
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.dense_map import DenseMap
from dpress.core.maps.ranges import Ranges
from dpress.mechanisms.linear.dense_strategy import DenseStrategy, strategy
from dpress.mechanisms.linear.hierarchy import Hierarchy
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

RUNS = 4_000
LOSSES = [PureDP(epsilon=1), ZCDP(rho="0.5")]
by_loss = pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])


def tree() -> tuple[DenseStrategy, Hierarchy]:
    """Return a tree of eight cells, written out and by rule."""
    rule = Hierarchy(8, 2, root=True)
    return strategy(np.stack([rule.map.apply(cell) for cell in np.eye(8, dtype=np.int64)], axis=1)), rule


@by_loss
def test_it_errs_and_claims_as_the_strategy_by_rule(loss: PureDP | ZCDP) -> None:
    written, rule = tree()
    first, second = written.mechanism(loss), MatrixMechanism(strategy=rule, loss=loss, unit=ROW)
    assert first.claim.proven == second.claim.proven
    ends = list(itertools.combinations(range(9), 2))
    queries = np.array([[low <= cell < high for cell in range(8)] for low, high in ends], dtype=float)
    ranges = Ranges(8, np.array([low + 1 for low, _ in ends]), np.array([high for _, high in ends]))
    expected = rule.range_variances(ranges, [noise.variance for noise in second.noises])
    assert written.variances(queries, loss) == pytest.approx(expected)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("order", [1, 2])
def test_its_sensitivity_is_that_of_its_columns(order: int, relation: Relation) -> None:
    matrix = np.array([[3, -1, 0], [0, 2, 5], [1, 1, 1], [-2, 0, 4]])
    pairs = itertools.combinations(range(3), 2)
    changes = [matrix[:, first] - matrix[:, second] for first, second in pairs]
    if relation is Relation.ADD_REMOVE:
        changes = list(matrix.T)
    assert strategy(matrix).map.sensitivity(order, relation) == max(int((abs(one) ** order).sum()) for one in changes)


@by_loss
def test_its_audit_keeps_it_and_finds_too_little_noise(loss: PureDP | ZCDP, monkeypatch: pytest.MonkeyPatch) -> None:
    for unit in (ROW, Unit(relation=Relation.REPLACE_ONE)):
        (check,) = tree()[0].audit(loss, unit)
        assert check.kept
    monkeypatch.setattr(DenseMap, "sensitivity", lambda *_: 1)
    (check,) = tree()[0].audit(loss)
    assert not check.kept


def test_fractions_are_rounded_finely_and_what_is_said_is_of_the_rounded_matrix() -> None:
    matrix = np.array([[0.1, 0.7], [1 / 3, -2.0], [1.0, 1.0]])
    made = strategy(matrix)
    assert made.map.matrix * made.map.step == pytest.approx(matrix, abs=2**-20)
    assert made.map.matrix.dtype == np.int64
    exact = PureDP(epsilon=1)
    scale = float(made.mechanism(exact).noises[0].variance) * made.map.step**2
    rounded = made.map.matrix * made.map.step
    expected = np.diag(np.linalg.inv(rounded.T @ rounded)) * scale
    assert made.variances(np.eye(2), exact) == pytest.approx(expected)


def test_answers_are_right_on_average_with_the_stated_variance() -> None:
    """Of 4,000 runs the mean square is within a tenth: 4.5 standard errors of Gaussian noise, false alarms < 1e-5."""
    made, counts = strategy([[1, 1, 1], [1, 0, 0], [0, 2, 0], [0, 1, -1]]), np.array([50, 3, 20])
    mechanism, generator = made.mechanism(ZCDP(rho="0.5")), rng.seeded(1)
    off = []
    for _ in range(RUNS):
        measured = mechanism.measure(counts, rng=generator)
        off.append(mechanism.decoder.estimate(measured)[0] - counts)
    squares, stated = np.mean(np.square(off), axis=0), made.variances(np.eye(3), ZCDP(rho="0.5"))
    assert np.abs(squares / stated - 1).max() < 0.1
    assert np.abs(squares / (stated / 2) - 1).min() > 0.1


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([1, 2], "must have rows and columns"),
        ([[1, 1]], "the columns of the matrix are not independent"),
        ([[1, float("nan")], [0, 1]], "holds what is no number"),
        (np.zeros((5000, 2)), "up to 4,096 of each"),
        ("identity", "must have rows of numbers, all of one length"),
        ([[1], [1, 2]], "must have rows of numbers, all of one length"),
    ],
)
def test_what_is_no_strategy_is_refused(matrix: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dpress.strategy(matrix)
    with pytest.raises(ValueError, match=r"queries must have shape \(m, 2\), got \(3,\)"):
        dpress.strategy(np.eye(2)).variances([1, 2, 3], PureDP(epsilon=1))


def test_usual_slips_are_refused_in_a_line_that_says_what_is_right() -> None:
    slip: Any = dpress.strategy(np.eye(2))
    mechanism = slip.mechanism(PureDP(1))
    measured = mechanism.measure([3, 4], rng=rng.seeded(1))
    assert mechanism.decoder.answer(measured, [np.ones(2)]) == pytest.approx(measured.answers.sum())
    faults: dict[str, Callable[[], Any]] = {
        r"calibrated to a privacy loss, such as PureDP\(epsilon=1\), got 1.0": lambda: slip.mechanism(1.0),
        r"calibrated to a privacy loss, .*, got <class": lambda: slip.mechanism(PureDP),
        r"expected 2 counts, one a cell, got an array": lambda: mechanism.measure(None, rng=rng.seeded(1)),
        r"rng must be a generator of dpress.*, got builtins.object": lambda: mechanism.measure([3, 4], rng=object()),
        r"of the rows of a matrix ask": lambda: mechanism.decoder.answer(measured, np.ones((1 << 20, 2))),
    }
    for message, call in faults.items():
        with pytest.raises(ValueError, match=message):
            call()
    wanted = r"method's name \(a strategy of your own is measured with its `.mechanism\(loss\)`\), got DenseStrategy$"
    age = {"name": "age", "kind": "integer", "bounds": [0, 1]}
    plain = {"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram", "method": slip}}
    with pytest.raises(ValueError, match=wanted):
        dpress.load_spec(plain)
