"""`graphical`: noisy tables of all pairs of attributes, or of those that matter, and records of a model that fits them.

records -> noisy one-way tables -> groups of cells -> noisy tables of all pairs -> the model -> records.
Of too many pairs some are chosen: (the pair that the model gets most wrong -> its noisy table -> the model), in rounds.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta

from dpress.attributes.mixed import Column
from dpress.core.basics import check
from dpress.core.basics.claim import ROW, Claim, Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import composed, describe, part_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.parameters import Parameters
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array, Stack
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card, Synthesizer, SyntheticRecords
from dpress.core.methods.people import Codes, Counts, People
from dpress.inference.records import latent_classes
from dpress.inference.records.latent_classes import LatentClasses, Pair
from dpress.inference.records.low_rank import averaged
from dpress.inference.records.margins import pooled
from dpress.inference.records.raking import raked, redrawn
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.microdata.grouped_tables import GroupedTable, Tables, by_noise, exact
from dpress.mechanisms.microdata.one_way_tables import OneWayTables, one_way_tables
from dpress.mechanisms.microdata.record_sampling import drawn, mixture, shuffled
from dpress.noise import choose

ONE_WAY = Fraction(1, 5)
"""The one-way tables' share of the loss."""
CHOICES = Fraction(1, 50)
"""The choices' share of what the one-way tables leave."""
MOST_PAIRS = 2000
"""Of which all are measured; of more, PER_ATTRIBUTE rounds for every attribute, where they are left open."""
PER_ATTRIBUTE = 4
MODELS = 8
"""Of latent classes, at most, whose mean is taken: with that of factors, more are hardly nearer."""
STEPS = 20
"""Of the model in a round."""
SMALLEST = 1000 * check.SMALLEST_LOSS
"""Of the loss for every round, so that all its parts are losses."""
_GRAIN = 10**12


Grouped = Mapping[Pair, GroupedTable]
Secret = Mapping[Pair, Counts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Graphical(Synthesizer):
    """A latent class model of noisy tables of pairs, and records of it.

    Promise: pure epsilon or zCDP. All one-way tables are histograms with one_way of the loss. With as many rounds as
    there are pairs, all pairs' histograms share the rest by their sizes, which the noisy one-way tables decide. With
    fewer, each round chooses a pair by the exponential mechanism, and measures its histogram. Scores are whole:
    |exact table - the model's, rounded to whole counts|_1 less the noise expected in it, so that one row changes a
    score by 1 (2 where it is replaced) and the sensitivity is that times the unit's rows. A choice with parameter
    epsilon_s costs epsilon_s, or rho = epsilon_s^2 / 8 (its log ratios span a range of epsilon_s: Cesar and Rogers
    2021, Lemma 3.2). Rounds share what is left by their tables' sizes, chosen as they go, and in all spend exactly it:
    adaptive composition of losses whose sum is fixed beforehand (Feldman and Zrnic 2021; for epsilon Rogers et al.
    2016). Proven.
    Error: no formula: what noise leaves of a pair is shrunk toward the model (`latent_classes.fit`), what one table
    says helps the others, and the records have the mean of two models' tables (`low_rank.averaged`).
    Paper: McKenna, Mullins, Sheldon and Miklau 2022 (AIM) for choices, with pairs only, each once, and shares by size
    in place of annealing; the groups and shares of Zhang et al. 2021 (PrivSyn); a mixture of products fitted to noisy
    marginals as Liu, Vietri and Wu 2021, by EM (`inference.records.latent_classes`).

    Args:
        columns: of the records, two or more.
        loss: pure epsilon or zCDP.
        rounds: pairs to measure, at most; all pairs are enough, and need no choice.
        unit: whom the promise protects.
        one_way: the share of the loss that measures the one-way tables.
        choosing: the share of the rest that choices get.
    """

    columns: tuple[Column, ...]
    loss: Loss
    rounds: int
    unit: Unit = ROW
    one_way: Fraction = ONE_WAY
    choosing: Fraction = CHOICES
    constants: ClassVar[tuple[str, ...]] = ("one_way", "choosing")
    scipy: ClassVar[bool] = True
    """What follows the noise needs SciPy, so that it is asked for before."""

    def __post_init__(self) -> None:
        if len(self.columns) < 2:
            raise ValueError(f"graphical needs two attributes or more, got {len(self.columns)}")
        for name in ("one_way", "choosing"):
            check.probability(name, getattr(self, name))
        if check.count("rounds", self.rounds) > len(self.pairs):
            raise ValueError(f"rounds must be at most the number of pairs, {len(self.pairs)}, got rounds={self.rounds}")
        _ = self.first  # refuses a loss
        if self.loss.amount / self.rounds < SMALLEST:
            raise NotSupported(f"{describe(self.loss)} is too little for {self.rounds} rounds")

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairs of attributes."""
        return tuple(itertools.combinations(range(len(self.columns)), 2))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells of every attribute."""
        return tuple(column.size for column in self.columns)

    @property
    def first(self) -> MatrixMechanism:
        """What measures the one-way tables."""
        return self.measuring(_one_way(self.shape), self._part(self.one_way))

    @property
    def row_variances(self) -> tuple[float, ...]:
        """Of every one-way table, the variance of its sum as the number of rows; those of pairs are not used for it."""
        first = self.first
        return tuple(part.rows * noise.variance for part, noise in zip(first.parts, first.noises, strict=True))

    @property
    def choices(self) -> int:
        """How many choices are made: none where all pairs are measured."""
        return self.rounds if self.rounds < len(self.pairs) else 0

    @property
    def choice(self) -> PureDP:
        """The parameter of one choice's exponential mechanism; see the promise for what it costs."""
        part = self._part((1 - self.one_way) * self.choosing / self.rounds)
        return PureDP(epsilon=part.choice_range(1, _GRAIN))

    @property
    def choice_cost(self) -> Loss:
        """What one choice costs, from the parameter that is used: it, or its square over 8."""
        return self.loss.of(self.loss.choice_cost(self.choice.epsilon))

    @property
    def tables(self) -> Loss:
        """The loss of all pairs' tables together: what one-way tables and choices leave."""
        choices = self.choices * self.choice_cost.amount
        return self.loss.of((1 - self.one_way) * self.loss.amount - choices)

    @property
    def sensitivity(self) -> int:
        """The most that a score changes for one unit."""
        return self.unit.rows * (2 if self.unit.relation is Relation.REPLACE_ONE else 1)

    @property
    def claim(self) -> Claim:
        """The promise: one-way tables, choices, and tables of pairs, whose shares of a fixed loss rounds decide on."""
        one_way = self.first.claim
        assert one_way.proven is not None  # noqa: S101 - additive noise is proven
        loss = composed([one_way.proven, *[self.choice_cost] * self.choices, self.tables])
        chosen = (
            f"{self.choices} choices: exponential mechanism with epsilon = {self.choice.epsilon} against score "
            f"sensitivity {self.sensitivity}. "
        )
        basis = (
            f"one-way tables: {one_way.basis}. {chosen if self.choices else ''}{self.rounds} tables of pairs: "
            f"noise that spends {describe(self.tables)} in all"
        )
        return Claim(published=loss, proven=loss, unit=self.unit, basis=basis)

    def release(self, people: People, *, rng: Generator) -> SyntheticRecords:
        """Return records; all rows are read twice, for the exact one-way tables and for those of all pairs.

        Args:
            people: the rows, by sums.
            rng: a secure generator.
        """
        parts = _one_way(self.shape)
        noisy = self.first.noisy(np.concatenate(exact(parts, people)), rng=rng)
        one_way = one_way_tables(self.columns, noisy, self.deviation, rows=people.rows)
        tables = {pair: one_way.table(pair) for pair in self.pairs}
        secret = dict(zip(self.pairs, exact(list(tables.values()), people), strict=True))
        measured = self._rounds(one_way, tables, secret, rng) if self.choices else self._all(tables, secret, rng)
        evidence = _evidence(one_way, measured)
        model = latent_classes.fitted(one_way.shares, evidence, rng=rng, most=MODELS)
        records = _records(model, averaged(model, evidence, rng=rng), one_way.size, rng)
        codes = one_way.spread(records, rng=rng)[:, shuffled(one_way.size, rng=rng)]
        return SyntheticRecords(codes=codes, measurement=_together([noisy, *measured.values()]))

    def measuring(self, parts: Sequence[GroupedTable], loss: Loss) -> MatrixMechanism:
        """Return what measures tables with a loss, shared by their sizes."""
        strategy = Tables(parts=tuple(parts), shares=by_noise([part.rows for part in parts]))
        return MatrixMechanism(strategy=strategy, loss=loss, unit=self.unit)

    def choose(self, scores: Counts, *, rng: Generator) -> int:
        """Return the place of one pair by its score.

        Args:
            scores: exact integers, shape (pairs,).
            rng: a secure generator.
        """
        return choose.exponential(scores, epsilon=self.choice.epsilon, sensitivity=self.sensitivity, rng=rng)

    @property
    def deviation(self) -> float:
        """The standard deviation of a pair's noise, if all that are measured had the same share."""
        smallest = GroupedTable(shape=(2, 2), axes=(0, 1), groups=(np.arange(2), np.arange(2)))
        return math.sqrt(self.measuring([smallest], self.loss.of(self.tables.amount / self.rounds)).noises[0].variance)

    def _all(self, tables: Grouped, secret: Secret, rng: Generator) -> dict[Pair, Measurement]:
        """Measure all pairs at once."""
        noisy = self.measuring(list(tables.values()), self.tables).noisy(np.concatenate(list(secret.values())), rng=rng)
        return {
            pair: Measurement(map=Stack((part.map,)), answers=part.answers, variance=part.variance)
            for pair, part in zip(self.pairs, noisy.parts, strict=True)
        }

    def _rounds(
        self, one_way: OneWayTables, tables: Grouped, secret: Secret, rng: Generator
    ) -> dict[Pair, Measurement]:
        """Choose, measure and fit, round by round."""
        measured, left = dict[Pair, Measurement](), self.tables.amount
        model = latent_classes.initial(one_way.shares, rng=rng)
        for rounds in range(self.rounds, 0, -1):
            options = [pair for pair in self.pairs if pair not in measured]
            parts = offers([tables[pair].rows for pair in options], left, rounds)
            ways = [
                self.measuring([tables[pair]], self.loss.of(part)) for pair, part in zip(options, parts, strict=True)
            ]
            scores = [
                score(secret[pair], one_way.size * model.table(pair).ravel(), way)
                for pair, way in zip(options, ways, strict=True)
            ]
            best = self.choose(np.array(scores), rng=rng)
            measured[options[best]] = ways[best].noisy(secret[options[best]].copy(), rng=rng)
            left -= parts[best]
            model = latent_classes.fit(model, _evidence(one_way, measured), STEPS)
        return measured

    def _part(self, share: Fraction) -> Loss:
        return part_of(self.loss, share)


def score(counts: Counts, expected: Array, way: MatrixMechanism) -> int:
    """Return how much of a pair the model gets wrong, in whole counts, less the noise that measuring it would add.

    |counts - rint(expected)|_1 - rint(rows sqrt(2 variance / pi)); one row more or less changes it by exactly 1.

    Args:
        counts: the exact table, shape (rows,).
        expected: the model's, in counts, shape (rows,); public.
        way: what would measure it; public.
    """
    noise = counts.size * math.sqrt(2 / math.pi * way.noises[0].variance)
    return int(np.abs(counts - np.rint(expected).astype(np.int64)).sum()) - round(noise)


def offers(sizes: Sequence[int], left: Fraction, rounds: int) -> list[Fraction]:
    """Return what each pair would get of what is left: in the last round all of it, before by size (`by_noise`).

    Args:
        sizes: of the pairs' tables, in cells.
        left: epsilon or rho.
        rounds: that are left, this one among them.

    >>> offers([8, 8], Fraction(1), 2)
    [Fraction(1, 2), Fraction(1, 2)]
    """
    weights = by_noise(sizes)
    others = (rounds - 1) * Fraction(1, len(sizes))
    return [left * weight / (weight + others) for weight in weights]


def _evidence(one_way: OneWayTables, measured: Mapping[Pair, Measurement]) -> latent_classes.Evidence:
    """Return what noisy tables say of the groups' shares; those of one attribute, from all tables, count as exact."""
    scale = max(one_way.size, 1)
    pairs = {
        pair: (noisy.answers.reshape(one_way.table(pair).kept) / scale, float(np.mean(noisy.variance)) / scale**2)
        for pair, noisy in measured.items()
    }
    return latent_classes.evidence(pooled(one_way.shares, one_way.spreads, pairs), pairs)


def _records(model: LatentClasses, tables: Array, size: int, rng: Generator) -> Codes:
    """Return sorted records over groups: of a model's classes, and drawn anew to have tables of pairs."""
    of_class = np.bincount(drawn(model.weights, size, rng=rng), minlength=model.weights.size)
    codes = mixture([model.of(axis) for axis in range(len(model.sizes))], of_class, rng=rng)
    return redrawn(codes, raked(codes, model.sizes, tables), rng=rng)


def _one_way(shape: Sequence[int]) -> list[GroupedTable]:
    return [
        GroupedTable(shape=tuple(shape), axes=(axis,), groups=(np.arange(size, dtype=np.int64),))
        for axis, size in enumerate(shape)
    ]


def _together(measured: Sequence[Measurement]) -> Measurement:
    """Return all measurements as one."""
    parts = tuple(part for measurement in measured for part in measurement.parts)
    spread = np.concatenate([np.broadcast_to(part.variance, (part.map.rows,)) for part in parts])
    answers = np.concatenate([part.answers for part in parts])
    return Measurement(map=Stack(tuple(part.map for part in parts)), answers=answers, variance=spread)


def graphical(columns: Sequence[Column], loss: Loss, unit: Unit, *, rounds: int | None = None) -> Graphical | None:
    """Return the method over columns; None for other losses, too small ones, or fewer than two columns.

    Args:
        columns: of the records.
        loss: pure epsilon or zCDP.
        unit: whom the promise protects.
        rounds: pairs to measure; left open, all of them, or of more than MOST_PAIRS four for every attribute.
    """
    if not loss.additive or len(columns) < 2:
        return None
    pairs = math.comb(len(columns), 2)
    open_rounds = pairs if pairs <= MOST_PAIRS else PER_ATTRIBUTE * len(columns)
    number = open_rounds if rounds is None else rounds
    if rounds is None and loss.amount / number < SMALLEST:
        return None
    return Graphical(columns=tuple(columns), loss=loss, unit=unit, rounds=number)


def _example(loss: Loss, unit: Unit) -> Graphical:
    columns = [
        Column(name=name, size=size, units=np.zeros(0, np.int64), distance=1 - np.eye(size))
        for name, size in (("x", 2), ("y", 2), ("z", 3))
    ]
    method = graphical(columns, loss, unit, rounds=2)
    if method is None:
        raise NotSupported("graphical is calibrated to epsilon or rho")
    return method


class Settings(Parameters, frozen=True):
    """The pairs."""

    rounds: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="the number of pairs that are measured; left out, all, or of over 2,000 four an attribute",
            ),
        ]
        | None
    ) = None


CARD = Card(
    name="graphical",
    family="microdata",
    model="central",
    paper="microdata: What dpress adds (AIM of McKenna, Mullins, Sheldon, Miklau 2022)",
    summary="Noisy tables of all pairs, and records of a model that fits them: nearest for any two, the default.",
    method=Graphical,
    example=_example,
    synthesizer=graphical,
    parameters=Settings,
)
