"""`graphical`: what is drawn is what is claimed, a score changes by one row at most, and a strong pair comes back."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpress.attributes.mixed import Column
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Claim, Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.plain import plain
from dpress.core.methods.people import Codes, People, in_memory
from dpress.inference.records import latent_classes, low_rank
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.microdata import graphical as module
from dpress.mechanisms.microdata import shared_loss
from dpress.mechanisms.microdata.graphical import Graphical, graphical, offers, score
from dpress.mechanisms.microdata.grouped_tables import GroupedTable, exact, one_way_parts
from dpress.mechanisms.microdata.record_sampling import drawn
from dpress.noise import choose
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace

LOSSES = [PureDP(epsilon="0.7"), ZCDP(rho="0.3")]
UNITS = [Unit(relation=one, column=None if rows == 1 else "uid", rows=rows) for one in Relation for rows in (1, 3)]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
every_unit = pytest.mark.parametrize("unit", UNITS, ids=str)


def category(name: str, size: int) -> Column:
    return Column(name=name, size=size, units=np.zeros(0, np.int64), distance=1 - np.eye(size))


def number(name: str, size: int) -> Column:
    return Column(name=name, size=size, units=2 * np.arange(size) - (size - 1), distance=np.zeros((0, 0)))


COLUMNS = (category("a", 3), category("b", 3), number("c", 30), category("d", 2))


def people(rows: int, seed: int = 5) -> Codes:
    """b is a in nine rows of ten, d follows c, else all is even."""
    words = (rng.seeded(seed).words(6 * rows) >> np.uint64(8)).astype(np.int64).reshape(6, rows)
    first, third = words[0] % 3, words[1] % 30
    second = np.where(words[2] % 10 > 0, first, words[3] % 3)
    return np.array([first, second, third, (third + words[4] % 10) // 20], dtype=np.int32)


def total_variation(first: Codes, second: Codes, axes: tuple[int, ...]) -> float:
    shape = tuple(COLUMNS[axis].size for axis in axes)
    cells = [np.ravel_multi_index([one[axis] for axis in axes], shape) for one in (first, second)]
    shares = [np.bincount(one, minlength=math.prod(shape)) / one.size for one in cells]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """One model and few rounds of it: what is measured does not depend on them."""
    monkeypatch.setattr(latent_classes, "affordable", lambda cells: (1, min(cells, 3)))
    monkeypatch.setattr(module, "STEPS", 3)
    monkeypatch.setattr(low_rank, "BURN_IN", 1)
    monkeypatch.setattr(low_rank, "DRAWS", 2)
    monkeypatch.setattr(low_rank, "FEWEST_DRAWS", 2)


class Spent:
    """What a release draws, priced from outside: by the noise's own parameter and the worst change of a histogram."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, unit: Unit) -> None:
        self.measured, self.chosen, self.unit = list[Fraction](), list[tuple[Fraction, int]](), unit
        noisy, exponential = MatrixMechanism.noisy, choose.exponential

        def priced(mechanism: MatrixMechanism, *args: Any, **rest: Any) -> Any:
            sizes = [part.rows for part in mechanism.parts]
            self.measured += [self.price(noise, size) for noise, size in zip(mechanism.noises, sizes, strict=True)]
            return noisy(mechanism, *args, **rest)

        def chosen(scores: Any, *, epsilon: Any, sensitivity: int, rng: Any) -> int:
            self.chosen.append((epsilon, sensitivity))
            return exponential(scores, epsilon=epsilon, sensitivity=sensitivity, rng=rng)

        monkeypatch.setattr(MatrixMechanism, "noisy", priced)
        monkeypatch.setattr(choose, "exponential", chosen)

    def price(self, noise: Any, size: int) -> Fraction:
        """A row that moves changes two cells; where there is but one cell, it can only come or go."""
        moved, rows = (2 if self.unit.relation is Relation.REPLACE_ONE and size > 1 else 1), self.unit.rows
        if isinstance(noise, DiscreteLaplace):
            return rows * moved / noise.scale
        return rows**2 * moved / (2 * noise.sigma2)

    def total(self, *, pure: bool) -> Fraction:
        return sum(self.measured, Fraction(0)) + sum(
            (epsilon if pure else epsilon**2 / 8 for epsilon, _ in self.chosen), Fraction(0)
        )


def amount(claim: Claim) -> Fraction:
    assert isinstance(claim.proven, (PureDP, ZCDP))
    return claim.proven.epsilon if isinstance(claim.proven, PureDP) else claim.proven.rho


@every_loss
@every_unit
@pytest.mark.parametrize(("rounds", "choices"), [(4, 4), (6, 0)], ids=["some", "all"])
@pytest.mark.usefixtures("small")
def test_all_that_is_drawn_costs_exactly_the_claim(
    monkeypatch: pytest.MonkeyPatch, loss: Any, unit: Unit, rounds: int, choices: int
) -> None:
    mechanism = Graphical(columns=COLUMNS, loss=loss, rounds=rounds, unit=unit)
    assert mechanism.claim.proven == mechanism.claim.published == loss
    assert mechanism.claim.unit == unit
    spent = Spent(monkeypatch, unit)
    mechanism.release(in_memory(people(300)), rng=rng.seeded(1))
    assert len(spent.measured) == 4 + rounds
    assert len(spent.chosen) == choices
    assert {sensitivity for _, sensitivity in spent.chosen} <= {
        unit.rows * (2 if unit.relation is Relation.REPLACE_ONE else 1)
    }
    assert spent.total(pure=isinstance(loss, PureDP)) == amount(mechanism.claim)


@every_loss
@every_unit
@pytest.mark.parametrize("share", module.AGAIN, ids=str)
@pytest.mark.usefixtures("small")
def test_whatever_measures_one_way_tables_again_costs_the_same(
    monkeypatch: pytest.MonkeyPatch, loss: Any, unit: Unit, share: Fraction
) -> None:
    monkeypatch.setattr(shared_loss, "best_share", lambda *_: share)
    mechanism = graphical(COLUMNS, loss, unit)
    assert mechanism is not None
    spent = Spent(monkeypatch, unit)
    made = mechanism.release(in_memory(people(300)), rng=rng.seeded(1))
    assert len(spent.measured) == 4 + (4 if share else 0) + (6 if share < 1 else 0)
    assert spent.total(pure=isinstance(loss, PureDP)) == amount(mechanism.claim)
    assert made.codes.shape[0] == 4
    monkeypatch.setattr(module, "part_of", lambda part, own: part.of(own * part.amount * Fraction(105, 100)))
    spent.measured.clear()
    mechanism.release(in_memory(people(300)), rng=rng.seeded(1))
    assert spent.total(pure=isinstance(loss, PureDP)) > amount(mechanism.claim)


def test_a_design_of_yesterday_measures_one_way_tables_once() -> None:
    before = Graphical(columns=COLUMNS, loss=ZCDP(rho="0.3"), rounds=6)
    assert (before.again, "again" in plain(before, context=("columns",))) == ((), False)
    now = graphical(COLUMNS, ZCDP(rho="0.3"), ROW)
    assert now is not None
    assert plain(now, context=("columns",))["again"] == ["0/1", "1/4", "1/2", "1/1"]
    with pytest.raises(ValueError, match="again must be shares, 0 to 1, and none where pairs are chosen"):
        Graphical(columns=COLUMNS, loss=ZCDP(rho="0.3"), rounds=2, again=(Fraction(1, 2),))


@pytest.mark.parametrize("rows", [40, 200])
def test_of_few_rows_records_are_as_near_as_independent_ones(rows: int) -> None:
    """Noise hides what pairs have to do with each other, so that the loss goes to one-way tables."""
    truth, mechanism = people(rows), graphical(COLUMNS, PureDP(epsilon="0.5"), ROW)
    assert mechanism is not None
    way = mechanism.measuring(one_way_parts(mechanism.shape), mechanism.loss)
    counts = np.concatenate(exact(one_way_parts(mechanism.shape), in_memory(truth)))
    errors = np.zeros((20, 2))
    for run in range(20):
        noisy = way.noisy(counts.copy(), rng=rng.seeded(run)).parts
        product = np.stack([drawn(np.maximum(part.answers, 0.0), 2000, rng=rng.seeded(run)) for part in noisy])
        made = mechanism.release(in_memory(truth), rng=rng.seeded(run)).codes
        for place, codes in enumerate((made, product)):
            errors[run, place] = np.mean(
                [total_variation(truth, codes, pair) if codes.size else 1 for pair in mechanism.pairs]
            )
    assert errors[:, 0].mean() < 1.5 * errors[:, 1].mean()


@every_loss
@pytest.mark.usefixtures("small")
def test_five_per_cent_too_little_noise_is_found(monkeypatch: pytest.MonkeyPatch, loss: Any) -> None:
    honest = module.offers
    monkeypatch.setattr(module, "offers", lambda *args: [one * Fraction(105, 100) for one in honest(*args)])
    mechanism = Graphical(columns=COLUMNS, loss=loss, rounds=1)
    spent = Spent(monkeypatch, ROW)
    mechanism.release(in_memory(people(300)), rng=rng.seeded(1))
    assert spent.total(pure=isinstance(loss, PureDP)) > amount(mechanism.claim)


class Generous(Graphical):
    """Measures all pairs with 5 per cent more than they are claimed to cost."""

    @property
    def claim(self) -> Claim:
        return Graphical(columns=self.columns, loss=self.loss, rounds=self.rounds).claim

    @property
    def tables(self) -> Any:
        own: Any = Graphical(columns=self.columns, loss=self.loss, rounds=self.rounds).tables
        return type(own)(**{name: getattr(own, name) * Fraction(105, 100) for name in own.__slots__})


@every_loss
@pytest.mark.usefixtures("small")
def test_five_per_cent_too_little_noise_on_all_pairs_is_found(monkeypatch: pytest.MonkeyPatch, loss: Any) -> None:
    spent, mechanism = Spent(monkeypatch, ROW), Generous(columns=COLUMNS, loss=loss, rounds=6)
    mechanism.release(in_memory(people(300)), rng=rng.seeded(1))
    assert spent.total(pure=isinstance(loss, PureDP)) > amount(mechanism.claim)


def test_what_rounds_are_offered_adds_up_whatever_is_chosen() -> None:
    for picks in itertools.product(range(2), repeat=3):
        sizes, left = [1, 6, 300, 2500], Fraction(3, 7)
        for rounds, pick in zip((4, 3, 2), picks, strict=True):
            parts = offers(sizes, left, rounds)
            assert all(0 < part < left for part in parts)
            left -= parts[pick]
            del sizes[pick]
        assert offers(sizes, left, 1) == [left] * len(sizes)


def histograms(cells: int, most: int) -> list[np.ndarray]:
    ways = (way for rows in range(most + 1) for way in itertools.combinations_with_replacement(range(cells), rows))
    return [np.bincount(np.array(way, dtype=np.int64), minlength=cells) for way in ways]


@pytest.mark.parametrize(("expected", "cells"), [([0.0, 1.4, 2.6, 0.5], 4), ([1.5, 0.49], 2)])
def test_a_score_changes_by_its_sensitivity_at_most(expected: list[float], cells: int) -> None:
    """By enumeration of all tables of at most three rows; both bounds are attained."""
    part = GroupedTable(shape=(cells,), axes=(0,), groups=(np.arange(cells),))
    mechanism = Graphical(columns=COLUMNS, loss=ZCDP(rho=1), rounds=1)
    way = mechanism.measuring([part], ZCDP(rho=1))
    scores = {tuple(table): score(table, np.array(expected), way) for table in histograms(cells, 3)}
    changes: dict[Relation, set[int]] = {relation: set() for relation in Relation}
    for first, second in itertools.combinations(scores, 2):
        apart = np.abs(np.subtract(first, second)).sum()
        if apart == 1:
            changes[Relation.ADD_REMOVE].add(abs(scores[first] - scores[second]))
        if apart == 2 and sum(first) == sum(second):
            changes[Relation.REPLACE_ONE].add(abs(scores[first] - scores[second]))
    for relation, found in changes.items():
        mechanism = Graphical(columns=COLUMNS, loss=ZCDP(rho=1), rounds=1, unit=Unit(relation=relation))
        assert max(found) == mechanism.sensitivity


def renyi(first: np.ndarray, second: np.ndarray, order: float) -> float:
    return float(np.log((first**order * second ** (1 - order)).sum()) / (order - 1))


def test_a_choice_costs_what_is_claimed_in_zcdp_and_not_five_per_cent_less() -> None:
    mechanism = Graphical(columns=COLUMNS, loss=ZCDP(rho=1), rounds=4)
    epsilon, cost = mechanism.choice.epsilon, mechanism.choice_cost
    assert isinstance(cost, ZCDP)
    worst = 0.0
    for scores in ([0, 0], [0, 3], [0, 0, 5], [0, 1, 2, 60]):
        base = np.array(scores)
        for change in itertools.product((-1, 0, 1), repeat=base.size):
            pair = [
                choose.exponential_probabilities(one, epsilon=epsilon, sensitivity=mechanism.sensitivity)
                for one in (base, base + np.array(change))
            ]
            worst = max(worst, *(renyi(*pair, order) / order for order in (1.01, 2, 5, 30)))
    assert 0.95 * float(cost.rho) < worst <= float(cost.rho) * (1 + 1e-9)


def test_a_choice_spends_its_share_rounded_down() -> None:
    mechanism = Graphical(columns=COLUMNS, loss=ZCDP(rho="0.3"), rounds=5)
    share = Fraction(3, 10) * (1 - module.ONE_WAY) * module.CHOICES / 5
    assert isinstance(mechanism.choice_cost, ZCDP)
    assert 0 <= share - mechanism.choice_cost.rho < Fraction(1, 10**11)


@every_loss
@pytest.mark.usefixtures("small")
def test_neighbours_answers_differ_by_the_row_alone(loss: Any) -> None:
    """With one pair the words that are drawn do not depend on the rows, so that noise cancels."""
    columns = COLUMNS[:2]
    mechanism = Graphical(columns=columns, loss=loss, rounds=1)
    table = people(4000)[:2]
    for gone in range(3):
        first, second = (
            mechanism.release(in_memory(rows), rng=rng.seeded(3)).measurement
            for rows in (table, np.delete(table, gone, axis=1))
        )
        assert first is not None
        assert second is not None
        row = np.zeros(9, dtype=np.int64)
        row[np.ravel_multi_index(tuple(table[:, gone]), (3, 3))] = 1
        assert np.array_equal(first.answers - second.answers, first.map.apply(row))
        assert [part.map.rows for part in first.parts] == [3, 3, 9]


@pytest.mark.parametrize("loss", [ZCDP(rho="0.1"), PureDP(epsilon=1)], ids=["rho", "epsilon"])
@pytest.mark.slow
def test_a_strong_pair_comes_back_and_is_chosen_first(loss: Any) -> None:
    truth = people(20_000)
    mechanism = graphical(COLUMNS, loss, ROW, rounds=4)
    assert mechanism is not None
    made = mechanism.release(in_memory(truth), rng=rng.seeded(11))
    assert made.measurement is not None
    pairs = [part.map.axes for part in made.measurement.parts if isinstance(part.map, GroupedTable)][4:]
    assert set(pairs[:2]) == {(0, 1), (2, 3)}
    apart = rng.seeded(1).words(truth.size).reshape(truth.shape).argsort(axis=1)
    independent = np.take_along_axis(truth, apart, axis=1)
    for pair in ((0, 1), (2, 3)):
        assert total_variation(truth, independent, pair) > 0.2
        assert total_variation(truth, made.codes, pair) < 0.04
    assert abs(made.codes.shape[1] - 20_000) < 300
    assert not made.aligned


@pytest.mark.parametrize("rounds", [2, 6])
@pytest.mark.usefixtures("small")
def test_rows_are_read_by_sums_twice_and_never_as_a_table(rounds: int) -> None:
    inner, folds = in_memory(people(200), batch=64), []

    def fold(kernel: Callable[[Codes], Any]) -> Any:
        folds.append(kernel)
        return inner.fold(kernel)

    def table() -> Codes:
        raise AssertionError("the rows were asked for")

    made = Graphical(columns=COLUMNS, loss=ZCDP(rho=1), rounds=rounds).release(
        People(fold=fold, table=table), rng=rng.seeded(1)
    )
    assert len(folds) == 2
    assert made.codes.dtype == np.int32
    assert all(own.min() >= 0 and own.max() < column.size for own, column in zip(made.codes, COLUMNS, strict=True))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("rounds", [3, 6])
def test_a_table_of_hardly_anybody_is_released_as_any_other(rows: int, rounds: int) -> None:
    mechanism = Graphical(columns=COLUMNS, loss=ZCDP(rho="0.5"), rounds=rounds)
    found = {mechanism.release(in_memory(people(9)[:, :rows]), rng=rng.seeded(seed)).codes.shape for seed in range(3)}
    assert {shape[0] for shape in found} == {4}
    assert max(shape[1] for shape in found) < 60


def test_what_cannot_be_served_is_refused_before_anything_is_read() -> None:
    with pytest.raises(ValueError, match="two attributes or more"):
        Graphical(columns=COLUMNS[:1], loss=ZCDP(rho=1), rounds=1)
    with pytest.raises(ValueError, match=r"at most the number of pairs, 6, got rounds=7"):
        Graphical(columns=COLUMNS, loss=ZCDP(rho=1), rounds=7)
    with pytest.raises(NotSupported, match="too little for 6 rounds"):
        Graphical(columns=COLUMNS, loss=ZCDP(rho="1e-6"), rounds=6)
    assert graphical(COLUMNS, ZCDP(rho="1e-6"), ROW) is None
    assert graphical(COLUMNS[:1], ZCDP(rho=1), ROW) is None
    many = graphical(COLUMNS * 4, ZCDP(rho=1), ROW)
    assert many is not None
    assert many.rounds == len(many.pairs) == 120


def derived(rows: int) -> Codes:
    """A number of 48 cells, its tens, whether it is even, and one that has nothing to do with them."""
    words = (rng.seeded(8).words(2 * rows) >> np.uint64(8)).astype(np.int64).reshape(2, rows)
    cells = words[0] % 48
    return np.array([cells, cells // 12, cells % 2, words[1] % 5], dtype=np.int32)


@pytest.mark.slow
def test_attributes_that_follow_from_each_other_come_back() -> None:
    """Particles raked from independent ones lost such tables: most of their combinations are impossible."""
    columns = (category("cell", 48), category("tens", 4), category("even", 2), category("other", 5))
    truth = derived(40_000)
    mechanism = graphical(columns, ZCDP(rho="0.025"), ROW)
    assert mechanism is not None
    made = mechanism.release(in_memory(truth), rng=rng.seeded(2)).codes
    for pair, independent in (((0, 1), 0.7), ((0, 2), 0.45)):
        shape = tuple(columns[axis].size for axis in pair)
        apart = [
            np.bincount(np.ravel_multi_index([one[axis] for axis in pair], shape), minlength=math.prod(shape))
            / one.shape[1]
            for one in (truth, made)
        ]
        table = apart[0].reshape(shape)
        product = np.outer(table.sum(axis=1), table.sum(axis=0))
        assert np.abs(table - product).sum() / 2 > independent
        assert np.abs(apart[0] - apart[1]).sum() / 2 < 0.08


def test_noise_of_the_tables_fits_its_loss() -> None:
    mechanism = Graphical(columns=COLUMNS, loss=ZCDP(rho="0.3"), rounds=1)
    assert mechanism.choices == 1
    noises = mechanism.first.noises
    assert all(isinstance(noise, DiscreteGaussian) for noise in noises)
    assert noises[2].variance < noises[3].variance  # thirty cells get a larger share than two
