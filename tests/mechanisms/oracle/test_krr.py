"""krr: the paper's probabilities and variance, one value, byte widths."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported, ReportRejected
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.mechanisms.oracle.krr import BLOCK, Krr


def krr(size: int, epsilon: float = 1) -> Krr:
    return Krr(size=size, loss=PureDP(epsilon=epsilon))


@pytest.mark.parametrize(("size", "epsilon"), [(2, 1), (16, 0.5), (1024, 3)])
def test_probabilities_and_variance_are_the_papers(size: int, epsilon: float) -> None:
    oracle, power = krr(size, epsilon), math.exp(epsilon)
    assert math.isclose(oracle.p, power / (power + size - 1), rel_tol=1e-12)
    assert math.isclose(oracle.q, 1 / (power + size - 1), rel_tol=1e-12)
    assert oracle.p + (size - 1) * oracle.q == 1
    assert math.isclose(oracle.variance(1000), 1000 * (power + size - 2) / (power - 1) ** 2, rel_tol=1e-9)


def test_one_value_says_nothing_and_costs_nothing() -> None:
    oracle = krr(1)
    reports = oracle.perturb(np.zeros(7, dtype=np.int32), rng=rng.seeded(1))
    assert not reports.any()
    measured = oracle.estimate(oracle.tally(reports), 7)
    assert measured.answers.tolist() == [7]
    assert oracle.variance(7) == oracle.variance(7, 1.0) == 0
    assert oracle.channel().probabilities == ((Fraction(1),),)


@pytest.mark.parametrize(
    ("size", "width"), [(2, 1), (256, 1), (257, 2), (2**16 + 1, 3), (2**24, 3), (2**24 + 1, 4), (2**31 - 1, 4)]
)
def test_reports_are_little_endian_in_the_fewest_bytes(size: int, width: int) -> None:
    oracle = krr(size, 1000)  # always the truth
    values = np.array([0, 1, size // 2, size - 1], dtype=np.int32)
    reports = oracle.perturb(values, rng=rng.seeded(1))
    assert oracle.width == reports.shape[1] == width
    assert [int.from_bytes(bytes(row), "little") for row in reports] == values.tolist()
    assert not oracle.faults(reports)["out of range"].any()


def test_lies_reach_every_other_value_and_blocks_join() -> None:
    oracle = krr(300, 0.01)
    values = np.full(3 * BLOCK + 5, 299, dtype=np.int32)
    tally = oracle.tally(oracle.perturb(values, rng=rng.seeded(2)))
    assert tally.shape == (300,)
    assert tally.min() > 0
    assert tally.sum() == values.size


def test_a_report_out_of_range_is_a_fault_and_is_never_counted() -> None:
    reports = np.array([[4], [5], [255]], dtype=np.uint8)
    assert krr(5).faults(reports)["out of range"].tolist() == [False, True, True]
    with pytest.raises(ReportRejected, match="out of range"):
        krr(5).tally(reports)


def test_what_it_does_not_serve_is_refused() -> None:
    with pytest.raises(NotSupported, match="is calibrated to epsilon, got rho = 1"):
        Krr(size=3, loss=ZCDP(rho=1))  # type: ignore[arg-type]
    with pytest.raises(NotSupported, match="size must be at most"):
        krr(2**31)
    with pytest.raises(NotSupported, match="too large to write down"):
        krr(2**16).channel()
    with pytest.raises(ValueError, match="values must be integers"):
        krr(3).perturb(np.array([0.5]), rng=rng.seeded(1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="values must lie between 0 and 299"):
        krr(300).perturb(np.array([-1], dtype=np.int8), rng=rng.seeded(1))  # type: ignore[arg-type]
