"""The protocols that mechanisms, strategies and decoders keep, and the card that names a method's paper."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Claim, Unit
from dpress.core.basics.parameters import Parameters
from dpress.core.basics.rng import Generator
from dpress.core.maps.grid import Grid
from dpress.core.maps.linear import Array, LinearMap, Numbers, Variance
from dpress.core.maps.measurement import Measurement, SumsAndLevels
from dpress.core.maps.ranges import Ranges
from dpress.core.methods.name_counts import NameCounts, NoisyNames
from dpress.core.methods.people import Codes, People
from dpress.core.reports.oracle import Oracle

Weights = Sequence[Array]


@runtime_checkable
class Decoder(Protocol):
    """How to answer any query from what was measured, with its exact variance.

    A query is a product: one weight vector for every axis of the table (all ones where an axis does not matter).
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells along every axis."""
        ...

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The axes of every table that is published."""
        ...

    def estimate(self, measurement: Measurement) -> tuple[Array, ...]:
        """Return the unbiased estimate of every published table, each flat."""
        ...

    def cell_variances(self, variance: Variance) -> tuple[Array, ...]:
        """Return the variance of every estimated cell for answers with this variance, table by table, each flat."""
        ...

    def answer(self, measurement: Measurement, weights: Weights) -> float:
        """Return the unbiased answer to a query, in counts."""
        ...

    def query_variance(self, variance: Variance, weights: Weights) -> float:
        """Return the exact variance of that answer; with variance 1 the error coefficient of the query."""
        ...


@runtime_checkable
class BoxDecoder(Decoder, Protocol):
    """A decoder that answers many boxes at once."""

    def box_answers(self, measurement: Measurement, ranges: Sequence[Ranges]) -> Array:
        """Return the unbiased answers to m boxes, given by their ranges on every axis, in counts, shape (m,)."""
        ...


@runtime_checkable
class Strategy(Protocol):
    """Which queries to measure, and how to answer others from them: public mathematics only."""

    @property
    def map(self) -> LinearMap:
        """The queries that are measured."""
        ...

    @property
    def decoder(self) -> Decoder:
        """How other queries are answered."""
        ...

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The shares of the loss that the map's parts get; empty for equal shares, or for a map in one part."""
        ...


@runtime_checkable
class RangeStrategy(Strategy, Protocol):
    """A strategy over one ordered attribute."""

    def range_variances(self, ranges: Ranges, variances: Sequence[float]) -> Array:
        """Return the exact variance of the answer to every range, in counts squared, shape (m,).

        `variances` are those of the noise in every part of the map, in squared steps; (1.0,) gives error coefficients.
        """
        ...

    def average_variance(self, variances: Sequence[float]) -> float:
        """Return the mean of these variances over all ranges."""
        ...

    @property
    def accuracy_index(self) -> float:
        """The limit of log2(n)^3 / (average variance epsilon^2 / 2) as n grows; higher is more accurate."""
        ...


@runtime_checkable
class Mechanism(Protocol):
    """What a design describes: a curator's mechanism, or a collection."""

    @property
    def claim(self) -> Claim:
        """The promise, from the numbers that the sampler uses."""
        ...

    @property
    def tail(self) -> Literal["laplace", "gaussian"]:
        """How heavy the noise's tail is."""
        ...


@runtime_checkable
class CountingMechanism(Mechanism, Protocol):
    """A curator's mechanism over counts, before there is noise."""

    @property
    def decoder(self) -> Any:
        """How tables, or the map, are made of what was measured; its `tables` are what is counted."""
        ...

    def of_tables(self, counts: Numbers) -> Numbers:
        """Return the counts of the decoder's tables, one after the other, as `exact` takes them."""
        ...

    def exact(self, counts: Numbers) -> Numbers:
        """Return the answers without noise, private as the counts are; what may refuse a table refuses it here."""
        ...


@runtime_checkable
class CuratorMechanism(CountingMechanism, Protocol):
    """A curator's mechanism that adds noise to its answers."""

    def noisy(self, exact: Numbers, *, rng: Generator) -> Measurement:
        """Add the noise to exact answers and return them."""
        ...

    def measured(self, answers: Numbers) -> Measurement:
        """Return the measurement that has these noisy answers, as they were published."""
        ...


@runtime_checkable
class ChoosingMechanism(CountingMechanism, Protocol):
    """A curator's mechanism that adds noise to some answers, and chooses levels by the others."""

    def draw(self, exact: Numbers, *, rng: Generator) -> SumsAndLevels:
        """Add noise to the sums, choose the levels, and return both."""
        ...

    def drawn(self, answers: Numbers) -> SumsAndLevels:
        """Return what has these integers, as they were published."""
        ...


@runtime_checkable
class SumDecoder(Protocol):
    """What a curator's mechanism measures where that is not counts of tables: sums over the rows."""

    def sums(self, codes: Codes) -> Numbers:
        """Return the integer sums over some rows, whose codes have shape (axes, rows); a kernel that is added up."""
        ...

    def answers(self, sums: Numbers) -> Numbers:
        """Return the answers without noise, of the sums over all rows."""
        ...


@runtime_checkable
class PersonSumDecoder(SumDecoder, Protocol):
    """Sums over the rows, and over persons, whose rows are taken together."""

    @property
    def of_persons(self) -> bool:
        """Whether there are any over persons."""
        ...

    def person_sums(self, codes: Codes, persons: npt.NDArray[np.int64]) -> Numbers:
        """Return the integer sums over some persons, from the codes of all their rows and whose each row is."""
        ...


@runtime_checkable
class RecordMechanism(Mechanism, Protocol):
    """A curator's mechanism that makes records of the rows."""

    def check(self, people: People) -> None:
        """Refuse too few rows, where a method without a proof may look."""
        ...

    def release(self, people: People, *, rng: Generator) -> "SyntheticRecords":
        """Return records."""
        ...


@runtime_checkable
class NameMechanism(Mechanism, Protocol):
    """A curator's mechanism that releases names which nobody may list, with their counts."""

    @property
    def weights(self) -> tuple[int, ...] | None:
        """What a unit with 1, 2, ... names adds to the count of each; None where that is 1, however many there are."""
        ...

    @property
    def threshold(self) -> int:
        """The smallest noisy count that is released."""
        ...

    @property
    def mean(self) -> float:
        """The noise's mean, which published counts are without."""
        ...

    @property
    def variance(self) -> float:
        """The variance of the count of a name, in counts squared."""
        ...

    @property
    def total_variance(self) -> float:
        """The variance of the noisy total, in counts squared; 0 without one."""
        ...

    def chance(self, count: int) -> Fraction:
        """Return the probability that a name is released that counts so many."""
        ...

    def count_for(self, chance: Fraction) -> int:
        """Return the smallest count of a name that is released with at least this probability, from 1/2 on."""
        ...

    @property
    def least(self) -> int:
        """The least that a unit adds to the count of a name."""
        ...

    def holders_for(self, chance: Fraction) -> int:
        """Return how many units that have a name make it released with this probability, whatever else they have."""
        ...

    def select(self, names: NameCounts, *, rng: Generator) -> NoisyNames:
        """Return the names that are released, the noisy total and their noisy counts."""
        ...


class HasClaim(Protocol):
    """Anything that makes a promise."""

    @property
    def claim(self) -> Claim:
        """The promise, from the numbers that the sampler uses."""
        ...


class Linear(Protocol):
    """A central mechanism that adds noise to linear queries."""

    @property
    def claim(self) -> Claim:
        """The promise, from the numbers the sampler uses."""
        ...

    def measure(self, counts: Numbers, *, rng: Generator) -> Measurement:
        """Return noisy answers for the exact counts, shape (cells,)."""
        ...


class Choice(Protocol):
    """A central mechanism that chooses one of a public list."""

    @property
    def claim(self) -> Claim:
        """The promise, from the numbers the sampler uses."""
        ...

    def choose(self, scores: Numbers, *, rng: Generator) -> int:
        """Return the index of the chosen candidate for integer scores of shape (candidates,)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SyntheticRecords:
    """Records that a mechanism made, with what they were made of.

    Args:
        codes: of the records, shape (attributes, records); in no order unless `aligned`.
        measurement: the noisy answers behind them; None for published baselines, which have none.
        aligned: whether record i stands for row i of the table, as published baselines have it.
    """

    codes: npt.NDArray[np.int32]
    measurement: Measurement | None
    aligned: bool = False


class Synthesizer(Protocol):
    """A central mechanism that makes records."""

    @property
    def claim(self) -> Claim:
        """The promise, from the numbers the samplers use."""
        ...

    def release(self, people: People, *, rng: Generator) -> SyntheticRecords:
        """Return records; whatever reads the rows is in sums that the claim has paid for, or the claim is unproven."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What the catalogue shows of a method.

    Args:
        name: as its paper names it.
        family: the folder it lives in.
        model: "central" or "local".
        paper: the document and the theorem or algorithm.
        summary: one sentence for people who choose.
        method: the class.
        example: makes a tiny instance under a loss and a unit, for the checks that run over every method.
        strategy: where the method is a strategy, the one that serves a workload under a loss, or None if it does not.
        oracle: where the method is a frequency oracle, the one over k values under a loss, or None for other k.
        protocol: where the method is a way to ask devices of its own: the collection (`protocol.collection`) for a room
            of `kinds`, over attributes of these sizes, under epsilon, or None where it does not serve.
        spatial: where the method makes maps, the one over a grid under a loss, or None where it does not serve.
        grid: where a curator's method makes maps, the grid that suits it for so many people, a loss and a unit.
        synthesizer: where the method makes records, the one over columns of mixed records under a loss and a unit, or
            None where it does not serve.
        work: of a frequency oracle's collector over k values: "fast", "per report" where it takes k steps for each
            report, "dense" where its estimate takes k^3.
        parameters: what these take beside, by keyword; a spec sets them in [release.parameters].
    """

    name: str
    family: str
    model: str
    paper: str
    summary: str
    method: type
    example: Callable[[Any, Unit], HasClaim]
    strategy: Callable[..., Strategy | None] | None = None
    oracle: Callable[..., Oracle | None] | None = None
    protocol: Callable[..., Any] | None = None
    spatial: Callable[..., Any] | None = None
    grid: Callable[[int, Any, Unit], Grid] | None = None
    synthesizer: Callable[..., Synthesizer | None] | None = None
    work: Literal["fast", "per report", "dense"] = "fast"
    parameters: type[Parameters] = Parameters
