"""`bounds_from_outside`: what it costs, faults that the audit finds, and bounds of values of every shape."""

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
from dpress.core.basics.round_numbers import MOST, halvings, origin_of, round_distances
from dpress.mechanisms.discovery import bounds_from_outside, private_bounds
from dpress.mechanisms.discovery.bounds_first import BoundsFirst
from dpress.mechanisms.discovery.bounds_first_audit import bounds_loss
from dpress.mechanisms.discovery.bounds_from_outside import BoundsFromOutside, example

UNITS = [Unit(), Unit(relation=Relation.REPLACE_ONE), Unit(relation=Relation.REPLACE_ONE, column="uid", rows=3)]
RUNS = 40
MISSED = 6
"""Runs of 40 whose chance each is below 2 % (a quarter of all rows outside, or bounds 100 times too wide): more than 6
of them come with a chance below 1e-6."""


def kept(made: BoundsFromOutside, loss: Any) -> bool:
    return bounds_loss(made, promised(loss)).kept


@pytest.mark.slow
@pytest.mark.parametrize("loss", [PureDP(epsilon=1), ZCDP(rho=2)], ids=str)
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_all_steps_together_keep_the_claim_and_planted_faults_are_found(unit: Unit, loss: Any) -> None:
    own = example(loss, unit)
    assert promised(own.claim.proven) == pytest.approx(promised(loss), rel=1e-9)
    assert promised(own.claim.proven) <= promised(loss)
    assert kept(own, loss)
    for name in ("scale", "choice", "count"):
        assert not kept(dataclasses.replace(own, **{name: part_of(getattr(own, name), Fraction(2))}), loss), name
    assert not kept(dataclasses.replace(own, groups=dataclasses.replace(own.groups, loss=loss)), loss)


def test_an_interval_of_replaced_rows_that_counts_once_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    own = example(PureDP(epsilon=1), UNITS[1])
    assert kept(own, PureDP(epsilon=1))
    monkeypatch.setattr(bounds_from_outside, "moved", lambda unit: unit.rows)
    assert not kept(own, PureDP(epsilon=1))


def test_a_scale_whose_score_moves_further_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    own = example(PureDP(epsilon=1), UNITS[0])
    scored = BoundsFromOutside.scale_choice

    def further(self: Any, counts: Any, edges: Any) -> Any:
        found = scored(self, counts, edges)
        return dataclasses.replace(found, scores=found.scores + counts.sum() * (np.arange(found.scores.size) == 0))

    monkeypatch.setattr(BoundsFromOutside, "scale_choice", further)
    assert not kept(own, PureDP(epsilon=1))


def draw() -> Any:
    return np.random.default_rng(7)  # noqa: TID251  # made-up rows


SHAPES: dict[str, tuple[Any, tuple[float, float], float, int]] = {
    "both signs": (lambda n: draw().laplace(0, 10, n), (-1e6, 1e6), 1.0, 1000),
    "delays": (lambda n: np.where(draw().random(n) < 0.65, draw().normal(-4, 4, n), draw().lognormal(3.2, 1, n)),
        (-60.0, 1440.0), 0.5, 2000),
    "heavy tail": (lambda n: draw().pareto(2, n) * 100, (0.0, 1e9), 1.0, 3000),
    "log-normal": (lambda n: draw().lognormal(8, 0.7, n), (0.0, 1e6), 1.0, 500),
    "below zero": (lambda n: -draw().lognormal(8, 0.7, n), (-1e6, 0.0), 1.0, 1000),
    "a spike and a tail": (lambda n: np.where(draw().random(n) < 0.9, 0.0, draw().lognormal(8, 1, n)),
        (0.0, 1e7), 1.0, 10_000),
    "two spikes": (lambda n: np.where(draw().random(n) < 0.5, -7.0, 500.0), (-1e5, 1e5), 1.0, 1000),
    "constant": (lambda n: np.full(n, 42.0), (-1e6, 1e6), 1.0, 1000),
    "far from zero": (lambda n: draw().uniform(1990, 2020, n), (1900.0, 1e6), 1.0, 1000),
    "few rows": (lambda n: draw().lognormal(8, 0.7, n), (0.0, 1e6), 1.0, 40),
}  # fmt: skip


def drawn(made: BoundsFirst, values: Any, bounds: tuple[float, float]) -> list[tuple[float, float]]:
    """Bounds of some runs."""
    edges = np.array(made.edges(*bounds))
    counts = np.histogram(values, edges)[0].astype(np.int64)
    return [made.bounds(counts, edges, rng=rng.seeded(seed)).ends for seed in range(RUNS)]


def missed(made: BoundsFirst, values: Any, bounds: tuple[float, float]) -> int:
    """Runs whose bounds are of no use: too many rows outside, or much wider than the values without need."""
    spread = np.abs(values - origin_of(*bounds)).max()
    fails = 0
    for low, high in drawn(made, values, bounds):
        outside = ((values < low) | (values > high)).mean()
        needless = high - low > 100 * spread and (low, high) != bounds
        fails += bool(outside > 0.25 or needless)
    return fails


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_bounds_hold_the_rows_of_every_shape(shape: str) -> None:
    values, bounds, epsilon, rows = SHAPES[shape]
    made = example(PureDP(epsilon=Fraction(epsilon)), Unit())
    assert missed(made, values(rows).clip(*bounds), bounds) <= MISSED


@pytest.mark.parametrize("shape", ["delays", "log-normal", "few rows"])
def test_the_price_of_steps_from_zero_is_missed_by_the_same_test(shape: str) -> None:
    values, bounds, epsilon, rows = SHAPES[shape]
    made = private_bounds.example(PureDP(epsilon=Fraction(epsilon)), Unit())
    assert missed(made, values(rows).clip(*bounds), bounds) > MISSED


def test_wider_stated_bounds_make_little_difference() -> None:
    values, made = SHAPES["delays"][0](2000), example(PureDP(epsilon=Fraction(1, 2)), Unit())
    widths = [
        np.median([high - low for low, high in drawn(made, values, bounds)])
        for bounds in ((-60.0, 1440.0), (-6e4, 1.44e6), (-6e7, 1.44e9))
    ]
    assert max(widths) < 4 * min(widths)


def test_too_few_rows_inside_keep_the_stated_bounds_and_say_so() -> None:
    made, edges = example(PureDP(epsilon=1), Unit()), np.array(round_distances(0.0, 1e6))
    counts = np.zeros(len(edges) - 1, dtype=np.int64)
    counts[100] = 10
    found = [made.bounds(counts, edges, rng=rng.seeded(seed)) for seed in range(RUNS)]
    wide = [own for own in found if own.ends == (0.0, 1e6)]
    assert len(wide) >= RUNS - MISSED
    assert made.completed((wide[0].rows or (0, 0),)).outside[0].stated
    assert not made.completed(((900, 3),)).outside[0].stated
    assert made.completed(((900, -30),)).outside[0].most == made.noise.quantile(Fraction(9, 10))


@pytest.mark.parametrize(("low", "high"), [(0, 1e9), (-1e6, 1e6), (-60, 1440), (1900, 2100), (-3, -1), (1e9, 1e9 + 1)])
def test_round_distances_are_few_increasing_and_near_every_value(low: float, high: float) -> None:
    found, origin = np.array(round_distances(float(low), float(high))), origin_of(float(low), float(high))
    assert (found[0], found[-1]) == (low, high)
    assert (np.diff(found) > 0).all()
    assert len(found) <= MOST
    assert set(halvings(float(low), float(high))[1:4]) & {*np.abs(found - origin)}
    far = found[np.abs(found - origin) > max(high - origin, origin - low) / 2**10] - origin
    near = np.diff(far) / np.minimum(np.abs(far[1:]), np.abs(far[:-1]))
    assert (near[np.sign(far[1:]) == np.sign(far[:-1])] <= 1 / 4 + 1e-6).all()


def test_it_is_read_back_and_what_does_not_fit_is_refused() -> None:
    own = example(PureDP(epsilon=1), UNITS[2])
    for made in (own, own.completed(((12, -3),))):
        assert read(object, plain(made), find=catalog.find) == made
    assert own.completed(((12, -3),)).done
    with pytest.raises(ValueError, match="must all have epsilon, or all rho"):
        dataclasses.replace(own, choice=ZCDP(rho=Fraction(1)))
    with pytest.raises(ValueError, match=r"of attributes that make no groups, got \(0,\)"):
        dataclasses.replace(own, axes=(0,))
    with pytest.raises(ValueError, match="rows must have numbers for each of 1 axes, got 2"):
        own.completed(((1, 1), (2, 2)))
    with pytest.raises(NotSupported, match="sums and choices are calibrated to epsilon or rho, got epsilon = 1, delta"):
        example(ApproxDP(epsilon=1, delta="1e-6"), Unit())  # type: ignore[arg-type]
