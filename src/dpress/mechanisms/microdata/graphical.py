"""`graphical`: noisy tables of all pairs of attributes, or of those that matter, and records of a model that fits them.

records -> noisy one-way tables -> groups of cells -> noisy tables of all pairs -> the model -> records.
Of too many pairs some are chosen: (the pair that the model gets most wrong -> its noisy table -> the model), in rounds.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

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
from dpress.core.methods.people import Counts, People
from dpress.core.methods.possible import Possible
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.microdata.grouped_tables import (
    GroupedTable,
    by_noise,
    exact,
    measuring,
    most_groups,
    one_way_parts,
)
from dpress.noise import choose

if TYPE_CHECKING:  # what only a release needs: most plans offer records beside something else
    from dpress.inference.records.latent_classes import Pair
    from dpress.mechanisms.microdata.one_way_tables import OneWayTables

    Grouped = Mapping[Pair, GroupedTable]
    Secret = Mapping[Pair, Counts]

ONE_WAY = Fraction(1, 5)
"""The one-way tables' share of the loss, at first."""
AGAIN = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1))
"""Shares of what they leave that may measure them again; with all of it no pair is measured."""
CHOICES = Fraction(1, 50)
"""The choices' share of what the one-way tables leave."""
STEPS = 20
"""Of the model in a round."""
SMALLEST = 1000 * check.SMALLEST_LOSS
"""Of the loss for every round that is chosen, so that all its parts are losses."""
_GRAIN = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class Graphical(Synthesizer):
    """A latent class model of noisy tables of pairs, and records of it.

    Promise: pure epsilon or zCDP. All one-way tables are histograms with one_way of the loss. With as many rounds as
    there are pairs, all pairs' histograms share the rest by their sizes, which the noisy one-way tables decide; so they
    do which of the shares `again` of the rest measures them once more, and all pairs get what remains. With fewer, each
    round chooses a pair by the exponential mechanism, and measures its histogram. Scores are whole: |exact table - the
    model's, rounded to whole counts|_1 less the noise expected in it, so that one row changes a score by 1 (2 where it
    is replaced) and the sensitivity is that times the unit's rows. A choice with parameter epsilon_s costs epsilon_s,
    or rho = epsilon_s^2 / 8 (its log ratios span a range of epsilon_s: Cesar and Rogers 2021, Lemma 3.2). Rounds share
    what is left by their tables' sizes, chosen as they go, and in all spend exactly it: adaptive composition of losses
    whose sum is fixed beforehand (Feldman and Zrnic 2021; for epsilon Rogers et al. 2016). Proven.
    Error: no formula: what noise leaves of a pair is shrunk toward the model (`latent_classes.fit`), what one table
    says helps the others, and the records have the mean of two models' tables (`pair_model`).
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
        again: shares of the rest, one of which measures the one-way tables again: that with the least predicted error
            (`shared_loss`), by their first answers. None: they are measured once.
    """

    columns: tuple[Column, ...]
    loss: Loss
    rounds: int
    unit: Unit = ROW
    one_way: Fraction = ONE_WAY
    choosing: Fraction = CHOICES
    again: tuple[Fraction, ...] = ()
    constants: ClassVar[tuple[str, ...]] = ("one_way", "choosing", "again")
    added_later: ClassVar[tuple[str, ...]] = ("again",)
    scipy: ClassVar[bool] = True
    """What follows the noise needs SciPy, so that it is asked for before."""

    def __post_init__(self) -> None:
        if len(self.columns) < 2:
            raise ValueError(f"graphical needs two attributes or more, got {len(self.columns)}")
        for name in ("one_way", "choosing"):
            check.probability(name, getattr(self, name))
        if any(not 0 <= share <= 1 for share in self.again) or (self.again and self.choices):
            raise ValueError(f"again must be shares, 0 to 1, and none where pairs are chosen, got {self.again}")
        if check.count("rounds", self.rounds) > len(self.pairs):
            raise ValueError(f"rounds must be at most the number of pairs, {len(self.pairs)}, got rounds={self.rounds}")
        _ = self.first  # refuses a loss
        if not affordable(self.columns, self.loss, self.rounds):
            raise NotSupported(f"{describe(self.loss)} is too little for {self.rounds} rounds")

    @property
    def conditional(self) -> bool:
        """It makes possible records alone."""
        return True

    @property
    def pairs(self) -> "tuple[Pair, ...]":
        """All pairs of attributes."""
        return tuple(itertools.combinations(range(len(self.columns)), 2))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells of every attribute."""
        return tuple(column.size for column in self.columns)

    @property
    def first(self) -> MatrixMechanism:
        """What measures the one-way tables."""
        return self.measuring(one_way_parts(self.shape), self._part(self.one_way))

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
        """Return records; rows are read for exact one-way tables, and again for those of all pairs if any is measured.

        Args:
            people: the rows, by sums.
            rng: a secure generator.
        """
        from dpress.mechanisms.microdata.one_way_tables import one_way_tables  # noqa: PLC0415  # a plan needs none
        from dpress.mechanisms.microdata.pair_records import records  # noqa: PLC0415  # the same
        from dpress.mechanisms.microdata.shared_loss import best_share  # noqa: PLC0415  # the same

        counts = np.concatenate(exact(one_way_parts(self.shape), people))
        first = self.first.noisy(counts.copy(), rng=rng)
        one_way = one_way_tables(self.columns, first, self.deviation, rows=people.rows)
        share = best_share(one_way, self.tables, self.again, self.unit)
        again = self._again(counts, share, rng)
        one_way = one_way.again(again) if again else one_way
        measured = self._pairs(one_way, people, share, rng) if share < 1 else {}
        together = _together([first, *measured.values(), *([again] if again else [])])
        return SyntheticRecords(
            codes=records(one_way, measured, rng=rng, possible=people.possible), measurement=together
        )

    def measuring(self, parts: Sequence[GroupedTable], loss: Loss) -> MatrixMechanism:
        """Return what measures tables with a loss, shared by their sizes."""
        return measuring(parts, loss, self.unit)

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

    def _again(self, counts: Counts, share: Fraction, rng: Generator) -> Measurement | None:
        """Measure the one-way tables again with a share of what they left; None of it, and nothing is measured."""
        if not share:
            return None
        return self.measuring(one_way_parts(self.shape), part_of(self.tables, share)).noisy(counts, rng=rng)

    def _pairs(
        self, one_way: "OneWayTables", people: People, share: Fraction, rng: Generator
    ) -> "dict[Pair, Measurement]":
        """Measure pairs with what one-way tables leave, all at once or by choices."""
        tables = {pair: one_way.table(pair) for pair in self.pairs}
        secret = dict(zip(self.pairs, exact(list(tables.values()), people), strict=True))
        if self.choices:
            return self._rounds(one_way, tables, secret, people.possible.grouped(one_way.groups), rng)
        left = self.measuring(list(tables.values()), part_of(self.tables, 1 - share))
        noisy = left.noisy(np.concatenate(list(secret.values())), rng=rng)
        return {
            pair: Measurement(map=Stack((part.map,)), answers=part.answers, variance=part.variance)
            for pair, part in zip(self.pairs, noisy.parts, strict=True)
        }

    def _rounds(
        self, one_way: "OneWayTables", tables: "Grouped", secret: "Secret", possible: Possible, rng: Generator
    ) -> "dict[Pair, Measurement]":
        """Choose, measure and fit, round by round."""
        from dpress.inference.records import latent_classes  # noqa: PLC0415  # a plan fits no model
        from dpress.mechanisms.microdata.pair_records import evidence  # noqa: PLC0415  # the same

        measured: dict[Pair, Measurement] = {}
        left = self.tables.amount
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
            model = latent_classes.fit(model, evidence(one_way, measured, possible), STEPS)
        return measured

    def _part(self, share: Fraction) -> Loss:
        return part_of(self.loss, share)


def affordable(columns: Sequence[Column], loss: Loss, rounds: int) -> bool:
    """Return whether every part of a loss is one that noise is drawn for.

    Of all pairs at once a table gets no less than 2/5 of the loss, by its cells to the power 2/3: of one cell, beside
    others that are as large as can be.

    Args:
        columns: of the records.
        loss: of the method.
        rounds: pairs that are measured.
    """
    if rounds < math.comb(len(columns), 2):
        return loss.amount / rounds >= SMALLEST
    largest = math.ceil(math.pow(most_groups(len(columns)) + 1, 4 / 3))
    return loss.amount / rounds >= min(SMALLEST, 4 * largest * check.SMALLEST_LOSS)


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
        rounds: pairs to measure; left open, all of them.
    """
    if not loss.additive or len(columns) < 2:
        return None
    pairs = math.comb(len(columns), 2)
    number = pairs if rounds is None else rounds
    if rounds is None and not affordable(columns, loss, number):
        return None
    again = AGAIN if number == pairs else ()
    return Graphical(columns=tuple(columns), loss=loss, unit=unit, rounds=number, again=again)


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
                description="the number of pairs that are measured; left out, all of them",
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
