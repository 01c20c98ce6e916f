"""`private_bounds`: what both steps cost together, faults that the audit finds, and where bounds come to lie."""

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpress import catalog
from dpress.audit.exact import promised
from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.plain import plain, read
from dpress.core.basics.round_numbers import MOST, round_numbers
from dpress.mechanisms.discovery.bounds_first_audit import bounds_loss
from dpress.mechanisms.discovery.private_bounds import PrivateBounds, example

UNITS = [Unit(), Unit(relation=Relation.REPLACE_ONE, column="uid", rows=3)]
EDGES = np.array(round_numbers(0.0, 1e9))


def kept(made: PrivateBounds, loss: Any) -> bool:
    return bounds_loss(made, promised(loss)).kept


@pytest.mark.parametrize("loss", [PureDP(epsilon=1), ZCDP(rho=2)], ids=str)
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_both_steps_together_keep_the_claim_and_planted_faults_are_found(unit: Unit, loss: Any) -> None:
    own = example(loss, unit)
    assert promised(own.claim.proven) == pytest.approx(promised(loss), rel=1e-9)
    assert promised(own.claim.proven) <= promised(loss)
    assert kept(own, loss)
    assert not kept(own, own.choice)
    assert not kept(dataclasses.replace(own, choice=part_of(own.choice, Fraction(2))), loss)
    assert not kept(dataclasses.replace(own, groups=dataclasses.replace(own.groups, loss=loss)), loss)


class PaidByWidth(PrivateBounds):
    """Rows inside, which move against those outside: a fault, as a replaced row then counts twice."""

    def upper_scores(self, counts: Any, edges: Any) -> Any:
        own = super().upper_scores(counts, edges)
        return own + counts.cumsum()


def test_a_score_that_moves_both_ways_is_found() -> None:
    own = example(PureDP(epsilon=1), UNITS[1])
    values = {field.name: getattr(own, field.name) for field in dataclasses.fields(own)}
    assert not kept(PaidByWidth(**values), PureDP(epsilon=1))


def test_bounds_leave_few_rows_outside_and_reach_no_further_than_that() -> None:
    values = np.exp(10.5 + 0.8 * np.random.default_rng(1).standard_normal(30_000))  # noqa: TID251  # made-up rows
    counts = np.histogram(values, EDGES)[0].astype(np.int64)
    own = example(PureDP(epsilon=1), Unit())
    for seed in range(20):  # a step further is e^-0.5 as likely: eight times as far has a chance of 1e-5
        low, high = own.bounds(counts, EDGES, rng=rng.seeded(seed)).ends
        assert ((values < low) | (values > high)).sum() < 200
        assert high < 8 * values.max()
    nobody = own.bounds(np.zeros_like(counts), EDGES, rng=rng.seeded(1)).ends
    assert 0 <= nobody[0] < nobody[1] <= EDGES[-1]


@pytest.mark.parametrize(("low", "high"), [(0, 1e9), (-1e6, 1e6), (-5, 1e9), (1900, 2100), (-3, -1), (1e-9, 2e-9)])
def test_round_numbers_are_few_increasing_and_near_every_value(low: float, high: float) -> None:
    found = np.array(round_numbers(float(low), float(high)))
    assert (found[0], found[-1]) == (low, high)
    assert (np.diff(found) > 0).all()
    assert len(found) <= MOST
    assert (np.diff(found) <= (high - low) / 32 * (1 + 1e-9)).all()
    inside = found[np.abs(found) > max(abs(low), abs(high)) / 2**10]
    near = np.diff(inside) / np.minimum(np.abs(inside[1:]), np.abs(inside[:-1]))
    assert (near[np.sign(inside[1:]) == np.sign(inside[:-1])] <= 1 / 8 + 1e-9).all()


def test_it_is_read_back_and_what_does_not_fit_is_refused() -> None:
    own = example(PureDP(epsilon=1), UNITS[1])
    assert read(object, plain(own), find=catalog.find) == own
    with pytest.raises(ValueError, match="must both have epsilon, or both rho"):
        dataclasses.replace(own, choice=ZCDP(rho=Fraction(1)))
    with pytest.raises(ValueError, match=r"of attributes that make no groups, got \(0,\)"):
        dataclasses.replace(own, axes=(0,))
    with pytest.raises(NotSupported, match="sums and choices are calibrated to epsilon or rho, got epsilon = 1, delta"):
        example(ApproxDP(epsilon=1, delta="1e-6"), Unit())  # type: ignore[arg-type]
