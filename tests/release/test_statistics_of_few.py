"""Intervals of statistics of few rows under large budgets, where noise is a few whole steps: exact chances to hold."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from dpress.core.maps.linear import Array
from dpress.inference.interval import critical
from dpress.inference.ratio import Pair
from dpress.query import statistics
from dpress.query.linear_forms import Compared, Group
from dpress.query.query_tree import Query

LEVEL, FAR = 0.95, 7  # noise beyond is counted as a miss
EPSILONS = (1.5, 2.5, 3.0, 5.0)  # at 2.5 a whole step is just beyond the critical value
GROUPS = ((4, 3, 2), (1, 0, 0), (0, 9, 1), (40, 3, 0))
NUMBERS = np.array([2.0, 3.0, 9.0])
Found = tuple[float, float, tuple[float, float], tuple[float, float] | None]


def laplace(epsilon: float) -> tuple[Array, float]:
    """The masses of discrete Laplace noise at -FAR..FAR, and its variance."""
    p = math.exp(-epsilon)
    return (1 - p) / (1 + p) * p ** np.abs(np.arange(-FAR, FAR + 1)), 2 * p / (1 - p) ** 2


def group(counts: Array, variance: float) -> Group:
    return Group(
        low=NUMBERS,
        high=NUMBERS,
        form=lambda weights: (float(weights @ counts), float(weights @ weights) * variance),
        critical=lambda confidence: critical(confidence, "laplace"),
    )


def compared(counts: Array, variance: float, *, share: bool) -> Compared:
    """The first cell beside all of them, or beside the second."""
    second = float(counts.sum() if share else counts[1])
    pair = Pair(
        first=float(counts[0]),
        second=second,
        variances=(variance, 3 * variance if share else variance),
        covariance=variance if share else 0.0,
    )
    return Compared(pair=pair, critical=lambda confidence: critical(confidence, "laplace"))


SHARE, RATIO = (Query(of=of) for of in ("share", "ratio"))  # type: ignore[arg-type]
ASKED: dict[str, tuple[Callable[[Array, float], Found], Callable[[Array], float]]] = {
    "mean": (lambda c, v: statistics.mean(group(c, v), LEVEL), lambda c: float(c @ NUMBERS / c.sum())),
    "sum": (lambda c, v: statistics.total(group(c, v), LEVEL), lambda c: float(c @ NUMBERS)),
    "median": (
        lambda c, v: statistics.quantile(group(c, v), 0.5, LEVEL),
        lambda c: float(NUMBERS[np.argmax(c.cumsum() >= c.sum() / 2)]),
    ),
    "upper decile": (
        lambda c, v: statistics.quantile(group(c, v), 0.9, LEVEL),
        lambda c: float(NUMBERS[np.argmax(c.cumsum() >= 0.9 * c.sum())]),
    ),
    "share": (
        lambda c, v: statistics.ratio(SHARE, compared(c, v, share=True), LEVEL),
        lambda c: float(c[0] / c.sum()),
    ),
    "ratio": (
        lambda c, v: statistics.ratio(RATIO, compared(c, v, share=False), LEVEL),
        lambda c: float(c[0] / c[1]) if c[1] else math.inf,
    ),
}


def chance(asked: str, counts: tuple[int, ...], epsilon: float) -> float:
    """The chance that the interval holds the truth, over all noise of the three cells within FAR."""
    answer, known = ASKED[asked]
    masses, variance = laplace(epsilon)
    true, held = known(np.array(counts)), 0.0
    for steps in itertools.product(range(-FAR, FAR + 1), repeat=3):
        weight = float(np.prod(masses[np.array(steps) + FAR]))
        if weight < 1e-7:  # together less than 3,375 times that
            continue
        low, high = answer(np.array(counts) + np.array(steps, dtype=float), variance)[2]
        held += weight * (low - 1e-9 <= true <= high + 1e-9)
    return held


@pytest.mark.parametrize("asked", ASKED)
def test_they_hold_at_least_as_often_as_they_say(asked: str) -> None:
    for counts, epsilon in itertools.product(GROUPS, EPSILONS):
        assert chance(asked, counts, epsilon) >= LEVEL, (counts, epsilon)


@pytest.mark.parametrize("asked", ["mean", "sum", "share", "ratio", "upper decile"])
def test_without_steps_they_hold_too_seldom(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, own = statistics.fieller, statistics.margin
    monkeypatch.setattr(statistics, "fieller", lambda pair, z, _: whole(pair, z, (0.0, 0.0)))
    monkeypatch.setattr(statistics, "margin", lambda variance, z, _: own(variance, z, 0.0))
    assert min(chance(asked, *case) for case in itertools.product(GROUPS, EPSILONS)) < LEVEL - 0.01
