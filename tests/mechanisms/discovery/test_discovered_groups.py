"""`discovered_groups`: what both steps cost together, faults that the audit finds, and which names get groups."""

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.convert import zcdp_for
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.plain import plain, read
from dpress.core.methods.name_counts import NameCounts
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups, example
from dpress.mechanisms.discovery.discovered_groups_audit import coarse_names, discovery_loss
from dpress.mechanisms.selection.best_selection import WITHOUT_COUNTS, selections
from dpress.mechanisms.selection.gaussian_threshold import calibrated
from dpress.mechanisms.selection.names_audit import alone

LOSS = ApproxDP(epsilon=1, delta="1e-5")
UNITS = [Unit(), Unit(relation=Relation.REPLACE_ONE, column="uid", rows=3)]
COUNTS = {"c": 900, "a": 500, "b": 700, "z": 1}
NAMES = NameCounts(names=tuple(COUNTS), counts=np.array([*COUNTS.values()], dtype=np.int64), unnamed=5)


def under_rho(unit: Unit, rest: Fraction = Fraction(3, 4)) -> DiscoveredGroups:
    """Names by Gaussian noise and a quarter of epsilon, groups by the rho of the rest; half of delta each."""
    half = LOSS.delta / 2
    names = calibrated(ApproxDP(epsilon=LOSS.epsilon / 4, delta=half), unit)
    own = example(LOSS, unit)
    groups = dataclasses.replace(own.groups, loss=ZCDP(rho=zcdp_for(rest, half)))
    return dataclasses.replace(own, names=names, groups=groups, delta=half)


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_both_steps_together_keep_the_claim(unit: Unit) -> None:
    for made in (example(LOSS, unit), under_rho(unit)):
        claimed: Any = made.claim.proven
        assert claimed.delta == LOSS.delta
        assert LOSS.epsilon * Fraction(999, 1000) < claimed.epsilon <= LOSS.epsilon
        found = discovery_loss(coarse_names(made), claimed)
        assert found.kept
        assert found.delta > claimed.delta / 10


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_planted_faults_are_found(unit: Unit) -> None:
    own = example(LOSS, unit)
    wide = ApproxDP(epsilon=LOSS.epsilon * Fraction(3, 10), delta=LOSS.delta)
    whole = dataclasses.replace(own.groups, loss=PureDP(epsilon=LOSS.epsilon))
    shown = dataclasses.replace(own, names=next(iter(selections(wide, unit, offered=WITHOUT_COUNTS).values())))
    for faulty in (shown, dataclasses.replace(own, groups=whole), under_rho(unit, Fraction(8, 10))):
        assert not discovery_loss(coarse_names(faulty), LOSS).kept


def test_names_get_groups_in_order_and_of_too_many_the_most_frequent() -> None:
    own = example(LOSS, Unit())
    assert own.select(NAMES, alone(own.names, NAMES), rng=rng.seeded(1)) == ("a", "b", "c")
    assert dataclasses.replace(own, most=2).select(NAMES, alone(own.names, NAMES), rng=rng.seeded(1)) == ("b", "c")
    nothing = NameCounts(names=(), counts=np.zeros(0, dtype=np.int64), unnamed=3)
    assert own.select(nothing, alone(own.names, nothing), rng=rng.seeded(1)) == ()
    assert own.listing(3).claim == own.claim
    assert own.listing(3).groups.strategy.parts[0].groups == 4


def test_it_is_read_back_and_what_does_not_fit_is_refused() -> None:
    own = example(LOSS, UNITS[1])
    assert read(object, plain(own), find=catalog.find) == own
    with pytest.raises(ValueError, match="must protect the same unit"):
        dataclasses.replace(own, names=example(LOSS, Unit()).names)
    with pytest.raises(ValueError, match="axis must be one of the groups' axes, got 1"):
        dataclasses.replace(own, axis=1)
    for changed in ({"most": 0}, {"delta": Fraction(1, 10)}):
        with pytest.raises(ValueError, match="most must be at least 1, and delta > 0 where"):
            dataclasses.replace(own, **changed)
