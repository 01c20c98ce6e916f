"""Strategies with real-valued rows: what a unit can change, rounding included, costs the claim and no more."""

from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation
from dpress.noise.laplace import DiscreteLaplace

SLACK = 1.01  # of the squared sensitivity: what rounding and its bound may add


def changes(mechanism: Any, rows: int, *, replace: bool) -> list[np.ndarray]:
    """The answers' changes, with the same noise, when a unit's rows come to or move within several tables."""
    cells = mechanism.strategy.map.cells
    found = []
    for seed, start in enumerate((np.zeros(cells), np.arange(cells) * 1000, np.full(cells, 2**20))):
        table = start.astype(np.int64)
        table[0] += rows
        for cell in range(cells):
            other = table.copy()
            other[0] -= rows if replace else 0
            other[cell] += rows
            first, second = (mechanism.measure(one, rng=rng.seeded(seed)).answers for one in (table, other))
            found.append(second - first)
    return found


def cost(mechanism: Any, change: np.ndarray) -> Fraction:
    noise = mechanism.noises[0]
    if isinstance(noise, DiscreteLaplace):
        return Fraction(sum(abs(int(one)) for one in change)) / noise.scale
    return Fraction(sum(int(one) ** 2 for one in change)) / (2 * noise.sigma2)


def test_every_change_with_replayed_noise_is_worth_at_most_the_claim(checks: ModuleType, lattice_cases: Any) -> None:
    for case, mechanism in lattice_cases:
        replace = case.unit.relation is Relation.REPLACE_ONE
        costs = [cost(mechanism, change) for change in changes(mechanism, case.unit.rows, replace=replace)]
        claimed = checks.promised(mechanism.claim)
        assert max(costs) <= claimed, case
        assert max(costs) * Fraction(SLACK) >= claimed * (Fraction(1, 2) if replace else 1), case


def test_noise_for_half_the_rows_would_be_found(checks: ModuleType, lattice_cases: Any) -> None:
    for case, mechanism in lattice_cases:
        replace = case.unit.relation is Relation.REPLACE_ONE
        costs = [cost(mechanism, change) for change in changes(mechanism, 2 * case.unit.rows, replace=replace)]
        assert max(costs) > checks.promised(mechanism.claim), case
