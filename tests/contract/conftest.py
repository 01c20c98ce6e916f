"""The checks that every mechanism and every planted fault goes through, and the cases they run over.

A check sees a mechanism from outside: the dense matrix of its map, its noise, its unit, its claim. Nothing is taken
from the mechanism's own arithmetic of sensitivities.
"""

import itertools
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.claim import Claim, Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.linear import Identity, LinearMap
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.tree import Tree
from dpress.core.methods.mechanism import Card
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.noise.distribution import Noise
from dpress.noise.laplace import DiscreteLaplace

LOSSES: tuple[Loss, ...] = (PureDP(epsilon="0.7"), ZCDP(rho="0.3"))
ROWS = (1, 3)
TOLERANCE = 1e-9
ORDERS = (1.5, 2, 7)
OF_COUNTS = ("approximate_quantiles",)  # chooses by counts of rows, not by scores
ON_A_LATTICE = ("dst", "p_identity")  # answers in tiny units of a count: the noise spans 2^20 of them and more


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One method under one loss, relation and number of rows per unit."""

    card: Card
    loss: Loss
    unit: Unit

    @property
    def made(self) -> Any:
        """The example, or None if the method refuses the loss."""
        try:
            return self.card.example(self.loss, self.unit)
        except NotSupported:
            return None

    def __str__(self) -> str:
        return f"{self.card.name}-{type(self.loss).__name__}-{self.unit.relation}-{self.unit.rows}"


def unit_of(relation: Relation, rows: int) -> Unit:
    return Unit(relation=relation, column=None if rows == 1 else "uid", rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """One method under every loss that it serves, under every relation and number of rows: cases and their examples."""

    card: Card

    def __iter__(self) -> Iterator[tuple[Case, Any]]:
        settings = itertools.product(LOSSES, Relation, ROWS)
        cases = [Case(card=self.card, loss=loss, unit=unit_of(relation, rows)) for loss, relation, rows in settings]
        served = [(case, made) for case in cases if (made := case.made) is not None]
        assert len(served) in (len(cases), len(cases) // 2), f"{self.card.name} serves {len(served)} cases"
        return iter(served)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    cards = catalog.cards().values()
    linear = [card for card in cards if card.family == "linear"]
    groups = {
        "linear_cases": [card for card in linear if card.name not in ON_A_LATTICE],
        "lattice_cases": [card for card in linear if card.name in ON_A_LATTICE],
        "choice_cases": [card for card in cards if card.family == "choice" and card.name not in OF_COUNTS],
    }
    for name in groups.keys() & set(metafunc.fixturenames):
        own = groups[name]
        metafunc.parametrize(name, [Cases(card=card) for card in own], ids=[card.name for card in own])
    if "card" in metafunc.fixturenames:
        metafunc.parametrize("card", cards, ids=lambda card: card.name)


@pytest.fixture(scope="session")
def checks() -> ModuleType:
    return sys.modules[__name__]


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """A linear mechanism as the checks see it; honest ones by `seen`, faulty ones built by hand."""

    map: LinearMap
    noises: tuple[Noise, ...]
    unit: Unit
    claim: Claim
    measure: Callable[..., Measurement]


def seen(mechanism: MatrixMechanism) -> Linear:
    return Linear(
        map=mechanism.strategy.map,
        noises=mechanism.noises,
        unit=mechanism.unit,
        claim=mechanism.claim,
        measure=mechanism.measure,
    )


def parts(one: Linear) -> list[tuple[LinearMap, Noise]]:
    """The parts with noise of their own: the tables of a stack, the levels of a tree with shares, or the whole map."""
    if len(one.noises) > 1 and isinstance(one.map, Tree):
        return list(zip(map(Identity, one.map.levels), one.noises, strict=True))
    return list(zip(getattr(one.map, "parts", (one.map,)), one.noises, strict=True))


def dense(implicit: LinearMap) -> np.ndarray:
    return np.stack([implicit.apply(cell) for cell in np.eye(implicit.cells, dtype=np.int64)], axis=1)


def histograms(cells: int, rows: int) -> np.ndarray:
    """Every way to put between one and `rows` rows into the cells, shape (ways, cells)."""
    ways = (way for count in range(1, rows + 1) for way in itertools.combinations_with_replacement(range(cells), count))
    return np.array([np.bincount(way, minlength=cells) for way in ways])


def changes(one: Linear) -> np.ndarray:
    """What one unit can do to the answers, shape (changes, rows), one of each pair of opposite changes.

    Add-remove: a unit comes with up to `unit.rows` rows.
    Replace-one: its rows turn into others, or fall out of the table, up to `unit.rows`.
    """
    answers = histograms(one.map.cells, one.unit.rows) @ dense(one.map).T
    if one.unit.relation is Relation.ADD_REMOVE:
        return answers
    nothing = np.zeros((1, answers.shape[1]), dtype=answers.dtype)  # the spec may drop what a row was replaced by
    answers = np.unique(np.concatenate([nothing, answers]), axis=0)
    first, second = np.triu_indices(len(answers), 1)
    return np.unique(answers[first] - answers[second], axis=0)


def split(one: Linear, values: np.ndarray) -> list[np.ndarray]:
    """The columns of each part."""
    return np.split(values, np.cumsum([part.rows for part, _ in parts(one)])[:-1], axis=1)


def promised(claim: Claim) -> Fraction:
    loss = claim.proven
    assert isinstance(loss, (PureDP, ZCDP))
    return loss.epsilon if isinstance(loss, PureDP) else loss.rho


def cost(noise: Noise, change: np.ndarray) -> Fraction:
    """The loss of a change from the definition of the noise: |d|_1 / scale, or |d|_2^2 / (2 sigma2)."""
    if isinstance(noise, DiscreteLaplace):
        return Fraction(int(np.abs(change).sum())) / noise.scale
    return Fraction(int((change.astype(np.int64) ** 2).sum())) / (2 * noise.sigma2)


def spent(one: Linear) -> Fraction:
    """The exact loss: for every part its worst change, added up by basic composition."""
    order = 1 if isinstance(one.claim.proven, PureDP) else 2
    total = Fraction(0)
    for (_, noise), change in zip(parts(one), split(one, changes(one)), strict=True):
        total += cost(noise, change[(np.abs(change) ** order).sum(axis=1).argmax()])
    return total


def claim_is_derived(one: Linear) -> bool:
    """The claimed loss is exactly the one that matrix, noise, relation and rows per unit give."""
    return spent(one) == promised(one.claim)


def divergences(noise: Noise, largest: int) -> Callable[[np.ndarray], np.ndarray]:
    """The divergence between the mass function and itself moved by d, for d = 0..largest, by summation.

    Laplace: the largest log ratio over all outputs. Gaussian: the Renyi divergence over the order, largest of ORDERS.
    """
    if isinstance(noise, DiscreteLaplace):
        x = np.arange(-2 * largest - 5, 2 * largest + 6)
        table = [np.abs(np.log(noise.pmf(x) / noise.pmf(x - shift))).max() for shift in range(largest + 1)]
    else:
        reach = 40 * math.isqrt(math.ceil(noise.sigma2)) + 40 + 10 * largest
        x = np.arange(-reach, reach + 1).astype(float)
        squares, two_sigma2 = x**2, 2 * float(noise.sigma2)
        log_mass = -squares / two_sigma2 - np.log(np.exp(-squares / two_sigma2).sum())
        table = []
        for shift in range(largest + 1):
            moved = log_mass + (squares - (x - shift) ** 2) / two_sigma2
            values = [order * log_mass + (1 - order) * moved for order in ORDERS]
            table.append(max(_renyi(value, order) for value, order in zip(values, ORDERS, strict=True)))
    return np.array(table)


def _renyi(log_terms: np.ndarray, order: float) -> float:
    top = log_terms.max()
    return float((top + np.log(np.exp(log_terms - top).sum())) / (order - 1) / order)


def largest_divergence(one: Linear) -> float:
    """The exact privacy loss on a tiny domain: coordinates are independent, so their divergences add up."""
    all_changes = np.abs(changes(one))
    added = np.zeros(len(all_changes))
    for (_, noise), change in zip(parts(one), split(one, all_changes), strict=True):
        added += divergences(noise, int(change.max()))[change].sum(axis=1)
    return float(added.max())


def pmf_keeps_promise(one: Linear) -> bool:
    """The output distributions of neighbours are as far apart as claimed: no further, and no closer."""
    return math.isclose(largest_divergence(one), float(promised(one.claim)), rel_tol=TOLERANCE)


def counts_for(one: Linear, cells: np.ndarray) -> np.ndarray:
    """What `measure` takes: cells, or the tables of a stack."""
    return one.map.apply(cells) if hasattr(one.map, "parts") else cells


def replay_keeps_promise(one: Linear, neighbours: list[tuple[np.ndarray, np.ndarray]]) -> bool:
    """With the same words, neighbours' answers differ as the noiseless ones, and that costs at most the claim."""
    for seed, (table, other) in enumerate(neighbours):
        first, second = (
            one.measure(counts_for(one, cells), rng=rng.seeded(seed)).answers.astype(np.int64)
            for cells in (table, other)
        )
        change = (second - first)[None, :]
        if not np.array_equal(change[0], one.map.apply(other) - one.map.apply(table)):
            return False
        total = sum(cost(noise, own[0]) for (_, noise), own in zip(parts(one), split(one, change), strict=True))
        if total > promised(one.claim):
            return False
    return True


def neighbours_of(one: Linear, amount: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Random neighbours, and for each part the one that moves it furthest, in both directions."""
    cells, ways = one.map.cells, histograms(one.map.cells, one.unit.rows)
    words = rng.seeded(99).words(amount * (cells + 2)).reshape(amount, -1)
    pairs = []
    for word in words:
        base = (word[:cells] % 50).astype(np.int64)
        picked = [ways[int(index) % len(ways)] for index in word[cells:]]
        before = picked[1] if one.unit.relation is Relation.REPLACE_ONE else 0 * picked[1]
        pairs.append((base + before, base + picked[0]))
    base = np.full(cells, 10)
    extremes = [one.unit.rows * np.eye(cells, dtype=np.int64)[cell] for cell in range(cells)]
    for first, second in itertools.combinations(extremes, 2):
        gone = first if one.unit.relation is Relation.REPLACE_ONE else 0 * first
        pairs += [(base + gone, base + second), (base + second, base + gone)]
    return pairs


Probabilities = Callable[[np.ndarray], np.ndarray]


def choice_losses(probabilities: Probabilities, sensitivity: int, far: int) -> np.ndarray:
    """The largest log ratio for every neighbour of several lists of four scores, by enumeration.

    Args:
        probabilities: scores -> the exact distribution of the choice.
        sensitivity: the most that any score changes for one unit.
        far: a gap at which a candidate is all but never chosen; there the bound is attained.
    """
    found = []
    for scores in ([0, 0, 0, 0], [5, 0, 2, 2], [-far, 0, 0, 0], [far, 0, 0, -far]):
        base = np.array(scores)
        for change in itertools.product(range(-sensitivity, sensitivity + 1), repeat=4):
            pair = probabilities(base), probabilities(base + np.array(change))
            found.append(np.abs(np.log(pair[0]) - np.log(pair[1])).max())
    return np.array(found)


def choice_keeps_promise(probabilities: Probabilities, sensitivity: int, claim: Claim) -> bool:
    """No neighbour exceeds the claim, and one attains it."""
    epsilon = float(promised(claim))
    worst = choice_losses(probabilities, sensitivity, math.ceil(60 * sensitivity / epsilon)).max()
    return math.isclose(worst, epsilon, rel_tol=TOLERANCE)
