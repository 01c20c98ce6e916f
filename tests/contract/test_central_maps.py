"""Maps of a curator: what they claim is what their noise gives, for every way that the tiles may have been cut."""

import dataclasses
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.grid import Grid
from dpress.core.maps.linear import Stack
from dpress.mechanisms.spatial.adaptive_grid import AdaptiveGrid, adaptive_grid
from dpress.mechanisms.spatial.central_map import CentralMap
from dpress.mechanisms.spatial.quadtree import quadtree
from dpress.mechanisms.spatial.uniform_grid import uniform_grid
from dpress.noise.laplace import DiscreteLaplace

pytestmark = pytest.mark.slow

LOSSES: tuple[Loss, ...] = (PureDP(epsilon="0.7"), ZCDP(rho="0.3"))
UNITS = [ROW, Unit(relation=Relation.REPLACE_ONE)]
PEOPLE = [Unit(relation=relation, column="uid", rows=3) for relation in Relation]
FIRST = [[0, 0, 0, 0], [-9, 200, 0, 3], [5000, 5000, 20, 5000]]

every_loss = pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
every_unit = pytest.mark.parametrize("unit", UNITS + PEOPLE, ids=str)


def matrices(loss: Any, unit: Unit) -> list[CentralMap]:
    tree = Grid(4) if unit.rows == 1 else Grid(2)  # all pairs of three rows in sixteen cells are too many
    found = [uniform_grid(Grid(3), loss, unit=unit), quadtree(tree, loss, unit=unit)]
    return [one for one in found if one is not None]


def cuts(checks: ModuleType, one: AdaptiveGrid) -> list[Any]:
    """The mechanism as the checks see it, for each of several noisy counts of the blocks."""
    seen = []
    for first in FIRST:
        both = Stack((one.map, one.map.split(one.parts(np.array(first)))))
        seen.append(checks.Linear(map=both, noises=one.noises, unit=one.unit, claim=one.claim, measure=one.noisy))
    return seen


def stretched(noise: Any, factor: Fraction) -> Any:
    if isinstance(noise, DiscreteLaplace):
        return dataclasses.replace(noise, scale=noise.scale * factor)
    return dataclasses.replace(noise, sigma2=noise.sigma2 * factor**2)


def adaptive(loss: Any, unit: Unit) -> AdaptiveGrid:
    return AdaptiveGrid(grid=Grid(4 if unit.rows == 1 else 2), blocks=2, loss=loss, unit=unit)


@every_loss
@every_unit
def test_claims_are_what_noise_and_sensitivity_give_and_too_little_noise_is_found(
    checks: ModuleType, loss: Loss, unit: Unit
) -> None:
    seen = [checks.seen(one.matrix) for one in matrices(loss, unit)] + cuts(checks, adaptive(loss, unit))
    assert len(seen) == 5
    for one in seen:
        assert one.claim.proven == one.claim.published == loss
        assert one.claim.unit == unit
        faulty = dataclasses.replace(one, noises=(*one.noises[:-1], stretched(one.noises[-1], Fraction(95, 100))))
        for found, expected in ((one, True), (faulty, False)):
            assert checks.claim_is_derived(found) is expected
            assert checks.pmf_keeps_promise(found) is expected


@every_loss
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_neighbours_of_matrices_differ_by_no_more_than_claimed(checks: ModuleType, loss: Loss, unit: Unit) -> None:
    for mechanism in matrices(loss, unit):
        one = dataclasses.replace(checks.seen(mechanism.matrix), measure=measuring(mechanism))
        assert checks.replay_keeps_promise(one, checks.neighbours_of(one, 5))


def measuring(mechanism: Any) -> Any:
    return lambda counts, *, rng: mechanism.noisy(mechanism.exact(counts), rng=rng)


@every_loss
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_neighbours_with_the_same_tiles_differ_by_no_more_than_claimed(
    checks: ModuleType, loss: Loss, unit: Unit
) -> None:
    mechanism = adaptive(loss, unit)
    cells = dataclasses.replace(cuts(checks, mechanism)[0], map=mechanism.levels[0].strategy.map)
    same = 0
    for seed, (table, other) in enumerate(checks.neighbours_of(cells, 20)):
        one, two = (measuring(mechanism)(counts, rng=rng.seeded(seed)) for counts in (table, other))
        if one.answers.shape != two.answers.shape:
            continue
        change = two.answers - one.answers
        if not np.array_equal(change, two.map.apply(other) - two.map.apply(table)):
            continue  # as many tiles, cut elsewhere
        same += 1
        parts = np.split(change, [mechanism.map.rows])
        total = sum(checks.cost(noise, own) for noise, own in zip(mechanism.noises, parts, strict=True))
        assert total <= checks.promised(mechanism.claim)
    assert same > 20


def test_other_losses_are_not_served_and_the_basis_names_the_noise() -> None:
    approximate = ApproxDP(epsilon=1, delta=1e-6)
    assert uniform_grid(Grid(4), approximate, unit=ROW) is None
    assert quadtree(Grid(4), approximate, unit=ROW) is None
    assert adaptive_grid(Grid(4), approximate, unit=ROW, users=10) is None
    one = AdaptiveGrid(grid=Grid(4), blocks=2, loss=PureDP(epsilon=1))
    assert one.claim.basis.count("discrete Laplace noise of scale 2 against L1 sensitivity 1") == 2
