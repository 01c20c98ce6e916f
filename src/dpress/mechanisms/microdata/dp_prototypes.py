"""`dp_prototypes`: noisy clusters of mixed records, and made-up records from what was measured in them.

records -> noisy one-way histograms -> prototypes -> (records to their nearest public prototype -> noisy sizes, sums and
histograms of every cluster -> prototypes), round by round -> a last measurement -> records, shuffled.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np
from msgspec import Meta

from dpress.attributes.mixed import Column, example
from dpress.core.basics import check
from dpress.core.basics.claim import ROW, Claim, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.kind import Participants
from dpress.core.basics.losses.any_loss import additive, composed, describe, part_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.parameters import PLACE
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array, Stack
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card, Synthesizer, SyntheticRecords
from dpress.core.methods.people import Codes, Counts, People
from dpress.core.methods.possible import Possible
from dpress.inference.maps.top_down import on_simplex
from dpress.inference.postprocess import integer
from dpress.inference.row_count import by_precision
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.microdata.cluster_queries import Round, binned, centres, everybody, histograms, one_way
from dpress.mechanisms.microdata.cluster_tables import agreed, one_way_totals, refined
from dpress.mechanisms.microdata.noisy_prototypes import centred, nearest, placed, started, tables, variances
from dpress.mechanisms.microdata.prototypes import Clusters
from dpress.mechanisms.microdata.record_sampling import mixture, representative

Rows = Literal["mixture", "representative"]

SHARES: dict[Rows, tuple[Fraction, Fraction]] = {
    "mixture": (Fraction(3, 10), Fraction(6, 10)),
    "representative": (Fraction(1, 10), Fraction(6, 10)),
}
"""Of the loss, for the one-way histograms and for the last measurement; the rounds share the rest evenly."""
BINS = 16
"""Of an attribute in a cluster; cells within a bin are as everybody's are."""
MOST_ROUNDS = 3
LARGEST_ROUNDS = 1000
LARGEST_COUNTS = 1 << 24  # cells of all clusters together
MOST_CLUSTERS = 256
UNEVEN = 1.75
"""k clusters of one size have sum 1 / n_c = k^2 / n; those of real records about this many times as much."""
EXPLAINED = 0.1
"""The part of all differences that clusters can explain at all, in `left`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DpPrototypes(Synthesizer):
    """k clusters around noisy prototypes, and records made of noisy sums in them.

    Promise: pure epsilon or zCDP. A record is in one cluster of a round, whose prototypes are public before the round
    begins: it adds at most span to a sum of whole units, 1 to a size, 1 to one cell of a histogram. Clusters are
    disjoint; attributes and rounds compose. The claim is composed of the noise that is drawn (`levels`). Proven.
    Error: of the prototypes' numbers `noise_sse`, the sum over attributes and clusters of v / n_c, v the variance of
    a sum, n_c the size; k^2 v / n for even clusters, (k^2 / 2n) sum 1 / epsilon_a^2 on the scale of the bounds under
    epsilon. What the clusters themselves leave out has no formula (`left` is what `best` takes it for).
    Paper: microdata, the proven release of the same shape as dp_k_prototypes (Qu, Cai, Fan, Xia).

    Args:
        columns: of the records.
        loss: pure epsilon or zCDP.
        clusters: k.
        rounds: T, 1 or more.
        unit: whom the promise protects.
        rows: records that are drawn from a cluster's histograms, or that are its prototype.
        parts: of the loss, for the one-way histograms and for the last measurement; left out, those that suit `rows`.
        most_bins: of a number's histogram in a cluster.
    """

    columns: tuple[Column, ...]
    loss: Loss
    clusters: int
    rounds: int
    unit: Unit = ROW
    rows: Rows = "mixture"
    parts: tuple[Fraction, ...] = ()
    most_bins: int = BINS
    constants: ClassVar[tuple[str, ...]] = ("parts", "most_bins")

    def __post_init__(self) -> None:
        if check.count("rounds", self.rounds) > LARGEST_ROUNDS:
            raise ValueError(f"rounds must be at most {LARGEST_ROUNDS}, got rounds={self.rounds}")
        cells = sum(column.size for column in self.columns)
        if check.count("clusters", self.clusters) * cells > LARGEST_COUNTS:
            raise ValueError(
                f"clusters must be at most {LARGEST_COUNTS // cells}, as each has {cells} cells and all together at "
                f"most {LARGEST_COUNTS}, got clusters={self.clusters}"
            )
        if self.rows not in get_args(Rows):
            raise ValueError(f"rows must be mixture or representative, got rows={self.rows!r}")
        object.__setattr__(self, "parts", self.parts or SHARES[self.rows])
        if len(self.parts) != 2 or min(self.parts) <= 0 or sum(self.parts) >= 1:
            raise ValueError(
                f"parts must be two positive shares of less than 1, got {[str(part) for part in self.parts]}"
            )
        check.count("most_bins", self.most_bins)
        _ = self.levels  # refuses a loss

    @property
    def conditional(self) -> bool:
        """It makes possible records alone where it draws from histograms; a prototype may be impossible."""
        return self.rows == "mixture"

    @property
    def bins(self) -> tuple[int, ...]:
        """The number of bins of every attribute's histogram in a cluster; categories are never put together."""
        return tuple(min(column.size, self.most_bins) if column.numeric else column.size for column in self.columns)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The parts of the loss: of the one-way histograms, of every round, of the last measurement."""
        start, last = self.parts
        return (start, *((1 - start - last) / self.rounds,) * self.rounds, last)

    @property
    def levels(self) -> tuple[MatrixMechanism, ...]:
        """What is measured, one after the other: everybody, the rounds, the clusters in the end.

        Their clusters, spread over the domain, stand in for those that the measurement before yields: no sensitivity
        depends on them.
        """
        places = [np.arange(self.clusters) * column.size // self.clusters for column in self.columns]
        pairs = zip(self.columns, places, strict=True)
        values = [column.scaled[place] if column.numeric else place for column, place in pairs]
        somewhere = placed(self.columns, [column_values.astype(np.float64) for column_values in values])
        first, each, last = (self._level(n, self.measured(n, somewhere)) for n in (0, 1, self.rounds + 1))
        return (first, *(each,) * self.rounds, last)

    @property
    def claim(self) -> Claim:
        """The promise, composed of what the noise of all measurements gives."""
        first, each, *_, last = self.levels  # all rounds are one
        claims = [first.claim, *(each.claim,) * self.rounds, last.claim]
        loss = composed([claim.proven for claim in claims if claim.proven is not None])
        names = ("everybody", *(f"round {number}" for number in range(1, self.rounds + 1)), "last")
        basis = ". ".join(f"{name}: {claim.basis}" for name, claim in zip(names, claims, strict=True))
        return Claim(published=loss, proven=loss, unit=self.unit, basis=basis)

    def measured(self, number: int, clusters: Clusters) -> Round:
        """Return what the measurement of this number, from 0, asks of these public clusters; the first needs none."""
        if number == 0:
            return one_way(self.columns)
        if number <= self.rounds or self.rows == "representative":
            return centres(clusters)
        return histograms(clusters, self.bins)

    def release(self, people: People, *, rng: Generator) -> SyntheticRecords:
        """Return records; every measurement reads all rows once, and nothing else does.

        Args:
            people: the rows, by sums.
            rng: a secure generator.
        """
        seen, values, clusters = list[Measurement](), list[Array](), everybody(self.columns)
        for number in range(self.rounds + 2):
            what = self.measured(number, clusters)
            seen.append(self._level(number, what).noisy(what.exact(people), rng=rng))
            if number == 0:
                values = started(self.columns, [table[0] for table in tables(seen[0])], self.clusters, rng=rng)
            elif number <= self.rounds or self.rows == "representative":
                values = centred(self.columns, seen[-1], values)
            clusters = placed(self.columns, values)
        measured = _together(seen)
        records = self._records(measured, people.rows)
        if self.rows == "mixture":
            codes = self._mixture(seen, records, people.possible, rng)
        else:
            codes = representative(nearest(self.columns, values), _whole(tables(seen[-1])[0], records), rng=rng)
        return SyntheticRecords(codes=codes, measurement=measured)

    @property
    def row_variances(self) -> tuple[float, ...]:
        """Of every table that is measured, the variance of its sum as the number of rows; infinite of other sums."""
        variances = list[float]()
        for level in self.levels:
            strategy: Any = level.strategy  # a `Round`
            tables_with_noise = zip(strategy.parts, level.noises, strict=True)
            variances += [
                table.rows * noise.variance if table.counts_rows else math.inf for table, noise in tables_with_noise
            ]
        return tuple(variances)

    def _records(self, measured: Measurement, rows: int | None) -> int:
        """Return how many records are made: as many as there are rows, where that is public, or estimated so."""
        if rows is not None:
            return rows
        return by_precision([float(part.answers.sum()) for part in measured.parts], self.row_variances).records

    def noise_sse(self, users: float) -> float:
        """Return the predicted squared error that noise adds to the numbers of all records' prototypes.

        UNEVEN k^2 (v_1 + v_2 + ...) / n, v the variances of the last sums on the scale of the bounds; without UNEVEN
        for clusters of one size. For representative records; summed over all records and numbers.

        Args:
            users: n, public.
        """
        sums = replace(self, rows="representative").levels[-1]
        scaled = [
            noise.variance / (2 * max(column.span, 1)) ** 2
            for column, noise in zip(self.columns, sums.noises[1:], strict=True)
            if column.numeric
        ]
        return UNEVEN * self.clusters**2 * math.fsum(scaled) / users

    def noise_of(self, number: int, users: float) -> float:
        """Return the squared error that a measurement's noise adds to all records' clusters, if these are even.

        k^2 / n times the sum of the variances of one cluster's answers, sums on the scale of the bounds.

        Args:
            number: of the measurement, from 1.
            users: n, public.
        """
        level = self.levels[number]
        variances = []
        for column, part, noise in zip(self.columns, level.parts[1:], level.noises[1:], strict=True):
            answers, step = part.rows // self.clusters, 2 * max(column.span, 1) if column.numeric else 1
            variances.append(noise.variance / step**2 if answers == 1 else answers * noise.variance)
        return self.clusters**2 * math.fsum(variances) / users

    def _level(self, number: int, what: Round) -> MatrixMechanism:
        loss = part_of(additive(self.loss, "additive noise is"), self.shares[number])
        return MatrixMechanism(strategy=what, loss=loss, unit=self.unit)

    def _mixture(self, seen: Sequence[Measurement], records: int, possible: Possible, rng: Generator) -> Codes:
        """Return so many records of every cluster's histograms, which the histograms of everybody help to make."""
        (size, *noisy), wholes = tables(seen[-1]), tables(seen[0])
        sizes = _whole(size, records)
        made = []
        for axis, (column, bins) in enumerate(zip(self.columns, self.bins, strict=True)):
            places, whole = binned(column.size, bins), wholes[axis][0]
            spread = variances(seen[0])[axis] * column.size / bins, variances(seen[-1])[axis + 1]
            totals = one_way_totals(_summed(whole, places), noisy[axis], spread, float(sizes.sum()))
            within = on_simplex(whole[None], np.array([max(whole.sum(), 0.0)]))[0]
            made.append(refined(agreed(noisy[axis], sizes.astype(np.float64), totals), places, within))
        return mixture(made, sizes, rng=rng, possible=possible)


def _summed(whole: Array, bins: Counts) -> Array:
    """Return the histogram over bins, shape (bins,), from the one over cells."""
    return np.bincount(bins, weights=whole).astype(np.float64)


def _whole(sizes: Array, records: int) -> Counts:
    """Return noisy sizes of shape (clusters, 1) as whole numbers >= 0 that add up to so many records."""
    return integer(on_simplex(sizes.T, np.array([float(records)]))[0]).astype(np.int64)


def _together(seen: Sequence[Measurement]) -> Measurement:
    """Return all measurements as one."""
    parts = tuple(part for measurement in seen for part in measurement.parts)
    spread = np.concatenate([np.broadcast_to(part.variance, (part.map.rows,)) for part in parts])
    answers = np.concatenate([part.answers for part in parts])
    return Measurement(map=Stack(tuple(part.map for part in parts)), answers=answers, variance=spread)


def left(columns: Sequence[Column], clusters: int, users: float) -> float:
    """Return a public guess of the squared error that k clusters leave in all records: EXPLAINED n d k^(-2 / d).

    d attributes are taken to be cut by k clusters as a box of d dimensions is.
    """
    return EXPLAINED * users * len(columns) * math.pow(clusters, -2 / len(columns))


def carried(made: DpPrototypes, users: float) -> int:
    """Return the most clusters that n records carry: more, and the last noise is as large as the records themselves."""
    return math.floor(made.clusters * math.sqrt(users * len(made.columns) / made.noise_of(made.rounds + 1, users)))


def best(made: DpPrototypes, users: float, *, clusters: int | None, rounds: int | None) -> DpPrototypes:
    """Return it with the k that has the least predicted error, and as many rounds as are quiet.

    The error is `noise_of` the last measurement and what is `left`. A round is quiet if its noise is at most
    twice what is left, and there is one at least.

    Args:
        made: any numbers of clusters and rounds.
        users: n, public.
        clusters: k where it is given.
        rounds: T where it is given.

    Raises:
        NotSupported: n records cannot carry so many clusters under this loss.
    """
    most = carried(made, users)
    if most < (clusters or 1):
        raise NotSupported(
            f"{PLACE}.clusters: {users:.0f} records carry at most {most} clusters under {describe(made.loss)}, "
            f"got {clusters or 1}; ask for fewer or spend more"
        )
    noise = made.noise_of(made.rounds + 1, users) / made.clusters**2
    sizes = range(1, min(most, MOST_CLUSTERS) + 1)
    k = clusters or min(sizes, key=lambda size: noise * size**2 + left(made.columns, size, users))
    if rounds is not None:
        return replace(made, clusters=k, rounds=rounds)
    candidates = [replace(made, clusters=k, rounds=number) for number in range(MOST_ROUNDS, 0, -1)]
    quiet = 2 * left(made.columns, k, users)
    return next((candidate for candidate in candidates if candidate.noise_of(1, users) <= quiet), candidates[-1])


def dp_prototypes(
    columns: tuple[Column, ...],
    loss: Loss,
    unit: Unit = ROW,
    *,
    users: int | None = None,
    clusters: int | None = None,
    rounds: int | None = None,
    rows: Rows = "mixture",
) -> DpPrototypes | None:
    """Return the release over these columns; None for losses that no noise is calibrated to.

    Args:
        columns: of the records.
        loss: pure epsilon or zCDP.
        unit: whom the promise protects.
        users: the expected number of records; public. Where it is known, `best` chooses and refuses.
        clusters: k, where it is not to be chosen.
        rounds: T, where it is not to be chosen; 1 where `users` is not known.
        rows: mixture or representative.

    Raises:
        ValueError: a parameter is wrong, named with its place; or neither users nor clusters is known.
        NotSupported: so many clusters are too many for users and loss.
    """
    if not loss.additive:
        return None
    if users is None and clusters is None:
        raise ValueError(f"{PLACE}.users: expected the number of records, roughly, to choose clusters by; or clusters")
    k, t = 1 if clusters is None else clusters, 1 if rounds is None else rounds
    made = DpPrototypes(columns=columns, loss=loss, unit=unit, clusters=k, rounds=t, rows=rows)
    return made if users is None else best(made, users, clusters=clusters, rounds=rounds)


def _example(loss: Loss, unit: Unit) -> DpPrototypes:
    return DpPrototypes(columns=example(), loss=loss, unit=unit, clusters=2, rounds=1)


class Settings(Participants, frozen=True):
    """The clusters, the rounds, and what records are drawn from."""

    clusters: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="k, at most what `users` records carry under this loss; left out, that of the least "
                "predicted error",
            ),
        ]
        | None
    ) = None
    rounds: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=LARGEST_ROUNDS,
                description="T, after which clusters are measured for good; left out, as many as are quiet",
            ),
        ]
        | None
    ) = None
    rows: (
        Annotated[
            Rows,
            Meta(
                description="draw records from every cluster's histograms, or repeat its prototype; shuffled in any "
                'case; "mixture" unless stated'
            ),
        ]
        | None
    ) = None


CARD = Card(
    name="dp_prototypes",
    family="microdata",
    model="central",
    paper="microdata: What dpress adds (the proven release of the same shape)",
    summary="Records from noisy clusters around public prototypes; proven, for distances and few records.",
    method=DpPrototypes,
    example=_example,
    synthesizer=dp_prototypes,
    parameters=Settings,
)
