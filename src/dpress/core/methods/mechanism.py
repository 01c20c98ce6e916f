"""The protocols that mechanisms, strategies and decoders keep, and the card that names a method's paper."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Claim, Unit
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.parameters import Parameters
from dpress.core.basics.rng import Generator
from dpress.core.maps.grid import Grid
from dpress.core.maps.linear import Array, LinearMap, Numbers, Variance
from dpress.core.maps.measurement import Measurement, SumsAndLevels
from dpress.core.maps.ranges import Ranges
from dpress.core.methods.name_counts import CountNames, NameCounts, NoisyNames
from dpress.core.methods.people import People
from dpress.core.methods.table_sums import Found, Rows
from dpress.core.reports.oracle import Oracle

if TYPE_CHECKING:
    from dpress.core.maps.region_table import NoisyRegions

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

    @property
    def symmetric(self) -> bool:
        """Whether `inference.covariance.product_covariance` holds for queries that differ along several axes."""
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

    def form_covariance(self, variance: Variance, axes: tuple[int, ...]) -> Callable[[Array], Array] | None:
        """Return what gives the exact covariance of sums of a table's cells; None where it is not known.

        From the weight of every cell in every sum, shape (forms, *cells of the axes), to shape (forms, forms).

        Args:
            variance: of the answers.
            axes: of the table, rising; some published table holds them together.
        """
        ...


@runtime_checkable
class BoxDecoder(Decoder, Protocol):
    """A decoder that answers many boxes at once."""

    def box_answers(self, measurement: Measurement, ranges: Sequence[Ranges]) -> Array:
        """Return the unbiased answers to m boxes, given by their ranges on every axis, in counts, shape (m,)."""
        ...


@runtime_checkable
class Strategy(Protocol):
    """Which queries to measure, and how to answer others from them: public mathematics; a base of every strategy."""

    __slots__ = ()

    @property
    def map(self) -> LinearMap:
        """The queries that are measured."""
        ...

    @property
    def decoder(self) -> Decoder:
        """How other queries are answered."""
        ...

    if TYPE_CHECKING:  # a field of some, whose default a property would be

        @property
        def shares(self) -> tuple[Fraction, ...]:
            """The shares of the loss that the map's parts get; empty for equal shares, or for a map in one part."""
            return ()

    else:
        shares = ()


@runtime_checkable
class RangeStrategy(Strategy, Protocol):
    """A strategy over one ordered attribute."""

    __slots__ = ()

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
        """The limit of log2(n)^3 / (average variance epsilon^2 / 2) as n grows, nan where unknown; higher is better."""
        return math.nan


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
class CuratorMechanism(Mechanism, Protocol):
    """What a curator runs: whatever may refuse the rows sees them in `prepare`; what that returns draws the noise.

    Between the two stands the charge, so that `prepare` draws nothing, and nothing is charged where it refuses.
    """

    def prepare(self, rows: Rows) -> "Draw":
        """Return what draws, once everything that may refuse the rows has seen them.

        Raises:
            NotSupported: the mechanism refuses the rows.
            OSError, SchemaMismatch: see `Rows`.
        """
        ...

    def numbers_held(self, rows: int) -> int:
        """Return how many numbers, of 8 bytes, are in memory at once at most until the release is written.

        Without what is the same for all releases, and without names that nobody lists: how many there are is known
        once they are counted, and `prepare` refuses too many.

        Args:
            rows: about how many the table has.
        """
        ...


@runtime_checkable
class MeasuringMechanism(CuratorMechanism, Protocol):
    """A curator's mechanism whose answers are integers that a release keeps."""

    @property
    def decoder(self) -> Any:
        """How tables, the map or statistics are made of what was measured."""
        ...

    def counted(self, rows: Rows) -> Numbers:
        """Return the answers without noise, private as the rows are; what may refuse rows refuses them here."""
        ...

    def measured(self, answers: Numbers) -> Any:
        """Return what was drawn: a `Measurement`, or `SumsAndLevels`, that has these answers as they were published.

        Raises:
            ValueError, SchemaMismatch: they are others than this mechanism's.
        """
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

    def not_below(self, minimum: int) -> "NameMechanism":
        """Return the mechanism that releases only those of its names whose published counts are at least so large."""
        ...

    @property
    def least(self) -> int:
        """The least that a unit adds to the count of a name."""
        ...

    def holders_for(self, chance: Fraction) -> int:
        """Return how many units that have a name make it released with this probability, whatever else they have."""
        ...

    def find(self, names: NameCounts, again: CountNames, *, rng: Generator) -> NoisyNames:
        """Return the names that are released, the noisy total and their noisy counts.

        Args:
            names: exact counts, or sums of weights.
            again: counts the same rows once more.
            rng: a secure generator.
        """
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """What a curator's mechanism drew.

    Args:
        output: what is released.
        found: what was found first of attributes.
        mechanism: that is known from then on, where something was; None where it is the one that was prepared.
    """

    output: "Measurement | SyntheticRecords | NoisyNames | SumsAndLevels | NoisyRegions"
    found: Found = Found()  # noqa: RUF009  # frozen
    mechanism: Mechanism | None = None


Draw = Callable[[Generator], Drawn]


class Synthesizer(Protocol):
    """A central mechanism that makes records: a base of every such method."""

    __slots__ = ()
    constants: ClassVar[tuple[str, ...]] = ()
    """Its fields that no parameter sets."""
    scipy: ClassVar[bool] = False
    """Whether it needs SciPy after it has drawn noise."""

    @property
    def conditional(self) -> bool:
        """Whether it makes possible records alone (`People.possible`); what others make may be impossible."""
        return False

    if TYPE_CHECKING:  # a field of all, whose default a property would be

        @property
        def loss(self) -> Loss:
            """What it was made for."""

    @property
    def claim(self) -> Claim:
        """The promise, from the numbers the samplers use."""
        ...

    def release(self, people: People, *, rng: Generator) -> SyntheticRecords:
        """Return records; whatever reads the rows is in sums that the claim has paid for, or the claim is unproven."""
        ...

    def noise_sse(self, users: float) -> float:
        """Return the squared error that noise adds to the numbers of so many records, on the scale of the bounds.

        Infinite without a formula.
        """
        del users
        return math.inf


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
        grids: where a curator's method makes maps, those that a plan compares for so many people, a loss and a unit.
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
    example: Callable[[Any, Unit], Any]
    strategy: Callable[..., Strategy | None] | None = None
    oracle: Callable[..., Oracle | None] | None = None
    protocol: Callable[..., Any] | None = None
    spatial: Callable[..., Any] | None = None
    grids: Callable[[int, Any, Unit], tuple[Grid, ...]] | None = None
    synthesizer: Callable[..., Synthesizer | None] | None = None
    work: Literal["fast", "per report", "dense"] = "fast"
    parameters: type[Parameters] = Parameters
