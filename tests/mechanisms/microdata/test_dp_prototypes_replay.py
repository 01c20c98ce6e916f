"""Replay: neighbours under the same noise. What is measured differs as claimed, and nothing else differs.

Every measurement of a first run is played back to both neighbours, so that all that records can still change is what
is asked of them, what is asked of them costs what the noise says, and the records that come out are the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import pytest

from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.mixed import columns
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.people import People, in_memory
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.microdata import dp_prototypes
from dpress.mechanisms.microdata import record_sampling as rows
from dpress.mechanisms.microdata.dp_prototypes import DpPrototypes
from dpress.noise.laplace import DiscreteLaplace

LOSSES: list[PureDP | ZCDP] = [PureDP(epsilon="0.7"), ZCDP(rho="0.3")]
UNITS = [ROW, Unit(relation=Relation.REPLACE_ONE), Unit(column="uid", rows=3)]
COLUMNS = columns(
    (
        Integer(name="age", bounds=(0, 20)),
        Integer(name="hours", bounds=(0, 6)),
        Categorical(name="work", values=("a", "b", "c", "d")),
        Categorical(name="sex", values=("f", "m")),
    )
)
SIZES = np.array([one.size for one in COLUMNS])
TOP, BOTTOM = (SIZES - 1).astype(np.int32)[:, None], np.zeros((4, 1), dtype=np.int32)
SIGMAS = 6.5
"""Of the order check: the chance that shuffled records are called ordered is about 1e-9 (normal approximation)."""

Runs = list[tuple[MatrixMechanism, np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Run:
    """One release: each measurement's mechanism, exact answers and noisy answers; and the records."""

    seen: Runs
    codes: np.ndarray


def release(mechanism: DpPrototypes, codes: np.ndarray, seed: int, replayed: list[np.ndarray] | None = None) -> Run:
    """Run it; with `replayed` answers every measurement says these instead of drawing noise."""
    seen: Runs = []
    honest = MatrixMechanism.noisy

    def noisy(self: MatrixMechanism, exact: np.ndarray, *, rng: Any) -> Measurement:
        before = exact.copy()
        if replayed is None:
            found = honest(self, exact, rng=rng)
        else:
            answers = replayed[len(seen)].copy()
            found = Measurement(map=self.strategy.map, answers=answers, variance=self.variance)
        seen.append((self, before, found.answers))
        return found

    with mock.patch.object(MatrixMechanism, "noisy", noisy):
        made = mechanism.release(in_memory(codes), rng=rng.seeded(seed))
    return Run(seen, made.codes)


def spent(first: Run, second: Run) -> Fraction:
    """The loss of what the neighbours' exact answers differ by, from the definition of the noise that was drawn."""
    total = Fraction(0)
    for (mechanism, before, _), (_, after, _) in zip(first.seen, second.seen, strict=True):
        ends = np.cumsum([part.rows for part in mechanism.parts])[:-1]
        for noise, change in zip(mechanism.noises, np.split(after - before, ends), strict=True):
            if isinstance(noise, DiscreteLaplace):
                total += Fraction(int(np.abs(change).sum())) / noise.scale
            else:
                total += Fraction(int((change**2).sum())) / (2 * noise.sigma2)
    return total


def asked(run: Run) -> Iterator[np.ndarray]:
    """Everything that says what was asked: prototypes, what a code contributes."""
    for mechanism, _, _ in run.seen:
        for part in mechanism.parts:
            yield part.clusters.costs
            yield part.contributions


def ordered(codes: np.ndarray) -> bool:
    """Whether equal records stand next to each other more often than in a random order."""
    _, kinds = np.unique(codes, axis=1, return_inverse=True)
    counts = np.bincount(kinds.ravel()).astype(float)
    size = counts.sum()
    if size < 3:
        return False
    expected = (counts * (counts - 1)).sum() / size
    found = int((np.diff(kinds.ravel()) == 0).sum())
    return bool(found > expected + SIGMAS * np.sqrt(expected + 1))


def problems(mechanism: DpPrototypes, table: np.ndarray, other: np.ndarray, seed: int) -> set[str]:
    """What is wrong with a mechanism, as two neighbours show it."""
    drawn = release(mechanism, table, seed)
    answers = [noisy for _, _, noisy in drawn.seen]
    first, second = (release(mechanism, codes, seed, answers) for codes in (table, other))
    found = set()
    if not all(np.array_equal(one, two) for one, two in zip(asked(first), asked(second), strict=True)):
        found.add("the records say what is asked")
    if not np.array_equal(first.codes, second.codes):
        found.add("the records are not made of the answers alone")
    claimed = mechanism.claim.proven
    if spent(first, second) > (claimed.epsilon if isinstance(claimed, PureDP) else claimed.rho):
        found.add("more is spent than claimed")
    if ordered(drawn.codes):
        found.add("the order says something")
    return found


def people(size: int, seed: int) -> np.ndarray:
    """Records without the last category of work, and of middling numbers."""
    words = rng.seeded(seed).words(4 * size).reshape(4, size) % np.array([[9], [3], [3], [2]], dtype=np.uint64)
    return (words + np.array([[6], [2], [0], [0]], dtype=np.uint64)).astype(np.int32)


def neighbours(unit: Unit) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Random and adversarial pairs: extremes, a category that nobody has, an empty table."""
    for seed in range(2):
        table, many = people(60, seed), unit.rows
        newcomers = [TOP, BOTTOM, people(1, 100 + seed), np.array([[0], [6], [3], [1]], dtype=np.int32)]
        for one in newcomers:
            if unit.relation is Relation.ADD_REMOVE:
                yield table, np.hstack([table, np.repeat(one, many, axis=1)])
                yield np.hstack([np.repeat(one, many, axis=1), table]), table
            else:
                yield table, np.hstack([table[:, :-1], one])
                yield np.hstack([table, TOP]), np.hstack([table, BOTTOM])
    nobody = np.zeros((4, 0), dtype=np.int32)
    yield nobody, np.repeat(TOP, unit.rows, axis=1)


def made(loss: PureDP | ZCDP, unit: Unit = ROW, **others: Any) -> DpPrototypes:
    return DpPrototypes(columns=COLUMNS, loss=loss, unit=unit, **({"clusters": 3, "rounds": 2} | others))


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("shape", ["mixture", "representative"])
def test_neighbours_differ_by_what_is_claimed_and_by_nothing_else(
    loss: PureDP | ZCDP, unit: Unit, shape: dp_prototypes.Rows
) -> None:
    for seed, (table, other) in enumerate(neighbours(unit)):
        assert problems(made(loss, unit, rows=shape), table, other, seed) == set()


@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
def test_a_record_at_the_end_of_every_scale_costs_the_whole_claim(loss: PureDP | ZCDP) -> None:
    """So that the claim is no larger than it must be, and the check above is not met by answering nothing."""
    mechanism, table = made(loss, Unit(column="uid", rows=2)), people(40, 1)
    answers = [noisy for _, _, noisy in release(mechanism, table, 1).seen]
    pair = [release(mechanism, codes, 1, answers) for codes in (table, np.hstack([table, TOP, TOP]))]
    assert spent(*pair) == (loss.epsilon if isinstance(loss, PureDP) else loss.rho)


def counts_of(who: People, mechanism: DpPrototypes) -> np.ndarray:
    return who.fold(dp_prototypes.everybody(mechanism.columns).counts)[0]


class Parallel(DpPrototypes):
    """Every attribute gets the whole loss of its measurement, as if a record had one attribute only."""

    def _level(self, number: int, what: Any) -> MatrixMechanism:
        honest = DpPrototypes._level(self, number, what)
        many = len(what.parts)
        loss = honest.loss
        louder = PureDP(epsilon=many * loss.epsilon) if isinstance(loss, PureDP) else ZCDP(rho=many * loss.rho)
        return replace(honest, loss=louder)

    @property
    def claim(self) -> Any:
        names = ("columns", "loss", "clusters", "rounds", "unit", "rows")
        return DpPrototypes(**{name: getattr(self, name) for name in names}).claim


class PresentCandidates(DpPrototypes):
    """A category that nobody has cannot be a prototype's."""

    def release(self, people: People, *, rng: Any) -> Any:
        present = counts_of(people, self) > 0
        starts = np.cumsum([0, *SIZES])
        honest = dp_prototypes.nearest

        def nearest(columns: Any, values: Any) -> Any:
            codes = honest(columns, values)
            for axis in (2, 3):
                own = np.flatnonzero(present[starts[axis] : starts[axis + 1]])
                codes[axis] = np.where(np.isin(codes[axis], own), codes[axis], own[:1].sum())
            return codes

        with mock.patch.object(dp_prototypes, "nearest", nearest):
            return DpPrototypes.release(self, people, rng=rng)


class BoundsOfTheData(DpPrototypes):
    """Numbers are centred between the least and the largest that occur."""

    def release(self, people: People, *, rng: Any) -> Any:
        age = np.flatnonzero(counts_of(people, self)[: SIZES[0]])
        units = 2 * np.arange(SIZES[0]) - (age.min() + age.max())
        first = replace(self.columns[0], units=units.clip(-np.ptp(age), np.ptp(age)))
        return DpPrototypes.release(replace(self, columns=(first, *self.columns[1:])), people, rng=rng)


class RecordsForPrototypes(DpPrototypes):
    """The first prototypes are records."""

    def release(self, people: People, *, rng: Any) -> Any:
        records = people.table()[:, -self.clusters :]

        def started(columns: Any, *_: Any, **__: Any) -> Any:
            pairs = zip(columns, records, strict=True)
            return [one.scaled[own] if one.numeric else own.astype(float) for one, own in pairs]

        with mock.patch.object(dp_prototypes, "started", started):
            return DpPrototypes.release(self, people, rng=rng)


class ExactSizes(DpPrototypes):
    """As many records come out as went in."""

    def release(self, people: People, *, rng: Any) -> Any:
        many = int(counts_of(people, self)[: SIZES[0]].sum())
        sizes = np.array([many, *[0] * (self.clusters - 1)])
        with mock.patch.object(dp_prototypes, "_whole", return_value=sizes):
            return DpPrototypes.release(self, people, rng=rng)


class Unshuffled(DpPrototypes):
    """Clusters come out one after the other."""

    def release(self, people: People, *, rng: Any) -> Any:
        with mock.patch.object(rows, "shuffled", lambda size, **_: np.arange(size)):
            return DpPrototypes.release(self, people, rng=rng)


FAULTS = {
    Parallel: "more is spent than claimed",
    PresentCandidates: "the records are not made of the answers alone",
    BoundsOfTheData: "the records say what is asked",
    RecordsForPrototypes: "the records say what is asked",
    ExactSizes: "the records are not made of the answers alone",
    Unshuffled: "the order says something",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_found(fault: type[DpPrototypes]) -> None:
    """On the pairs that its honest twin passes above."""
    mechanism = fault(columns=COLUMNS, loss=LOSSES[0], clusters=3, rounds=2, rows="representative")
    pairs = list(neighbours(ROW))[:8]
    found = [problems(mechanism, *pair, seed) for seed, pair in enumerate(pairs)]
    assert FAULTS[fault] in set.union(*found)
