"""The calibrated f is the smallest that a report's budget pays for, wherever floats look for it first."""

from fractions import Fraction

import pytest

from dpress.core.basics.losses.pure import PureDP
from dpress.mechanisms.oracle import longitudinal
from dpress.mechanisms.oracle.longitudinal import SMALLEST_F, Responses, calibrated

STEP = Fraction(1, 1 << 31)
CASES = [("1e-9", 1, "1/2", "3/4"), ("0.01", 2, "1/2", "3/4"), ("1", 1, "0.1", "0.9"), ("1", 16, "1/4", "3/4")]


def found(epsilon: str, pairs: int, low: str, high: str) -> Responses:
    longitudinal._smallest.cache_clear()
    return calibrated(PureDP(epsilon=Fraction(epsilon)), pairs, p=Fraction(low), q=Fraction(high))


@pytest.mark.parametrize("case", CASES)
def test_one_step_less_costs_more(case: tuple[str, int, str, str]) -> None:
    responses, (epsilon, pairs, _, _) = found(*case), case
    assert responses.per_report(pairs) <= Fraction(epsilon)
    below = Responses(responses.f - STEP, responses.p, responses.q)
    assert below.per_report(pairs) > Fraction(epsilon)


def test_a_large_budget_gets_the_smallest_f_of_the_document() -> None:
    assert 0 <= found("20", 1, "1/2", "3/4").f - SMALLEST_F < STEP


@pytest.mark.parametrize("wrong", [0.0, float("inf")])
@pytest.mark.parametrize("case", CASES)
def test_it_is_found_where_floats_err(case: tuple[str, int, str, str], wrong: float, monkeypatch) -> None:
    right = found(*case)
    monkeypatch.setattr(longitudinal, "_near_cost", lambda *_: wrong)
    assert found(*case) == right
