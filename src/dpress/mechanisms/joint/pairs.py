"""`pairs`: every user reports one combination of a few attributes; one joint is fitted to tables that agree.

tallies of every report type -> noisy tables -> consistent tables (unbiased) -> shrunk tables -> maximum entropy.
"""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from msgspec import Meta

from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import pure
from dpress.core.basics.parameters import Parameters
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card
from dpress.core.reports.encoders import Combination
from dpress.core.reports.oracle import Oracle, Tally
from dpress.core.reports.pieces import PayloadPieces
from dpress.inference.joint import maxent
from dpress.inference.joint.bootstrap import Refits, refits
from dpress.inference.joint.contrast import Contrast, contrasts
from dpress.inference.joint.factors import Joint
from dpress.inference.joint.pair_error import concentration, planned
from dpress.inference.joint.pair_tables import Noise, NoisyTable, Tables
from dpress.inference.joint.shrinkage import noise, shrunk
from dpress.inference.separate_tables import SeparateTables, stacked
from dpress.mechanisms.joint.pair_spread import PairSum, cell_variances, pair_sum
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.oracle.longitudinal import calibrated
from dpress.mechanisms.protocol.estimator import Estimator
from dpress.mechanisms.protocol.report_type import Part, ReportType, largest, per_user, rest

if TYPE_CHECKING:
    from dpress.inference.covariance import Covariance

Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs(Estimator):
    """One report type for every set of `ways` attributes, drawn evenly, answered with the whole epsilon.

    Promise: the oracle's, for one report about one set of attributes.
    Error: published are the consistent tables, unbiased, with the variance of weighted least squares over all tables
    that hold the attributes, for the shares as estimated (`mechanisms.joint.pair_spread`); planned for uneven
    shares, see `planned_variance`. The adjusted counts are those of the fitted joint: shrunk toward independence,
    biased, nearer to the truth.
    Paper: joint, "What dpress adds"; after CALM (Zhang, Wang, Li, He, Chen 2018).

    Args:
        shape: the number of values of every attribute.
        sets: the attributes of every report type, rising.
        oracles: over the combinations of every set.
    """

    shape: Axes
    sets: tuple[Axes, ...]
    oracles: tuple[Oracle, ...]

    @property
    def claim(self) -> Claim:
        """The promise of one report: the largest of the oracles'."""
        return largest([oracle.claim for oracle in self.oracles])

    @property
    def tables(self) -> tuple[Axes, ...]:
        """What is published: a table for every pair of attributes, or the only attribute's."""
        return pairs_of(len(self.shape))

    @property
    def types(self) -> tuple[ReportType, ...]:
        """What devices are asked, one type for every set."""
        pairs = zip(self.sets, self.oracles, strict=True)
        return tuple(ReportType(parts=(combined(self.shape, axes, oracle),)) for axes, oracle in pairs)

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the unbiased counts of every published table, with their variances.

        Raises:
            ValueError: no report is about an attribute, or about two attributes together.
        """
        tables = self._tables(tallies)
        for axes in self.tables:
            if not tables.holds(axes):
                raise ValueError(f"no report is about attributes {list(axes)} together")
        users = sum(int(tally[-1]) for tally in tallies)
        counts = [tables.table(axes).ravel() * users for axes in self.tables]
        variances = [self._variances(tables, axes).ravel() * users**2 for axes in self.tables]
        return stacked(self.shape, self.tables, counts, variances)

    def decoder(self, users: int) -> SeparateTables:
        """Return how queries about one or two attributes are answered."""
        return SeparateTables(self.shape, self.tables, users)

    def query_variances(self, tallies: Sequence[Tally]) -> Callable[[Sequence[Array]], float]:
        """Return what gives the variance of a query's answer, in counts squared."""
        users, sums = sum(int(tally[-1]) for tally in tallies), self.pair_sums(tallies)
        decoder = self.decoder(users)

        def variance(weights: Sequence[Array]) -> float:
            if (place := decoder.place(weights)) is None:
                return 0.0
            query = functools.reduce(np.multiply.outer, [weights[axis] for axis in self.tables[place]])
            return users**2 * float(_covariance(sums[place], query[np.newaxis])[0, 0])

        return variance

    def form_covariance(self, tallies: Sequence[Tally], axes: Axes) -> "Covariance":
        """Return the covariance of sums of a pair's cells, in counts squared; see `pair_spread.PairSum`."""
        holding = [table for table in self.tables if set(axes) <= set(table)]
        table = min(holding, key=lambda table: math.prod(self.shape[axis] for axis in table))
        users, form = sum(int(tally[-1]) for tally in tallies), self._pair_sum(self._tables(tallies), table)
        whole = [self.shape[axis] for axis in table]
        kept = [self.shape[axis] if axis in axes else 1 for axis in table]

        def covariance(forms: Array) -> Array:
            rows = np.broadcast_to(forms.reshape(len(forms), *kept), (len(forms), *whole))
            return users**2 * _covariance(form, rows)

        return covariance

    def pair_sums(self, tallies: Sequence[Tally]) -> list[PairSum | float]:
        """Return for every table what gives the covariance of its cells' sums, of one attribute a share's variance."""
        tables = self._tables(tallies)
        return [self._pair_sum(tables, axes) for axes in self.tables]

    def _pair_sum(self, tables: Tables, axes: Axes) -> PairSum | float:
        return pair_sum(tables, axes) if len(axes) == 2 else tables.variance(axes)

    def _variances(self, tables: Tables, axes: Axes) -> Array:
        if len(axes) == 2:
            return cell_variances(tables, axes)
        return np.full(self.shape[axes[0]], tables.variance(axes))

    def fit(self, tallies: Sequence[Tally], payloads: PayloadPieces) -> Joint:
        """Return the joint distribution of largest entropy that has the shrunk tables."""
        del payloads  # the tallies say it all
        tables = shrunk(self._tables(tallies), self.ways)
        return maxent.joint(self.shape, {axes: table.shares for axes, table in tables.items()}, noise=noise(tables))

    @property
    def ways(self) -> int:
        """The attributes of the largest set."""
        return max(map(len, self.sets))

    def refits(
        self, tallies: Sequence[Tally], fit: Joint, *, rng: Generator, progress: Callable[[int], object] | None = None
    ) -> Refits:
        """Return the joints that the fit would have given; see `inference.joint.bootstrap`."""
        return refits(self._tables(tallies), fit, self.ways, rng=rng, progress=progress)

    def contrasts(self, tallies: Sequence[Tally]) -> tuple[Contrast, ...]:
        """Return for every pair what its table says beyond independence."""
        return contrasts(self._tables(tallies))

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell of a published table, averaged over all of them."""
        return planned_variance(self.shape, self.sets, users, self._spread)

    def _spread(self, cells: int) -> tuple[float, float]:
        oracle = next(oracle for oracle in self.oracles if oracle.size == cells)
        return spread(oracle)

    def _tables(self, tallies: Sequence[Tally]) -> Tables:
        everybody = sum(int(tally[-1]) for tally in tallies)
        noisy = []
        for axes, oracle, tally in zip(self.sets, self.oracles, tallies, strict=True):
            users = int(tally[-1])
            if users:
                of_holder, of_others = spread(oracle)
                shares = oracle.estimate(tally[:-1], users).answers / users
                kept = tuple(self.shape[axis] for axis in axes)
                error = Noise(users=users, held=of_holder, other=of_others, sampling=rest(everybody, users))
                noisy.append(NoisyTable(axes=axes, shares=shares.reshape(kept), noise=error))
        return Tables(shape=self.shape, noisy=tuple(noisy))


def combined(shape: Axes, axes: Axes, oracle: Oracle) -> Part:
    """Return the part of a report about the combination of some attributes."""
    return Part(axes=axes, oracle=oracle, encoder=Combination(sizes=tuple(shape[axis] for axis in axes)))


def pairs_of(attributes: int) -> tuple[Axes, ...]:
    """Return all pairs of attributes, or the only attribute."""
    return tuple(itertools.combinations(range(attributes), min(2, attributes)))


def _covariance(form: PairSum | float, forms: Array) -> Array:
    """Return the covariance of sums of a table's cells, in shares squared."""
    if isinstance(form, PairSum):
        return form.covariance(forms)
    rows = forms.reshape(len(forms), -1)
    return np.asarray(form * rows @ rows.T)


def spread(oracle: Oracle) -> tuple[float, float]:
    """Return what one user who holds a value, and one who does not, add to the variance of its count."""
    return per_user(oracle, 1.0), per_user(oracle, 0.0)


def planned_variance(
    shape: Axes, sets: Sequence[Axes], users: int, spread_of: Callable[[int], tuple[float, float]]
) -> float:
    """Return the predicted variance of a cell, in counts squared, averaged over the cells of all pairs.

    Formula: v(C) - C (1 - 1/k) / (k N) for shares, v(C) the variance by least squares where sampling adds C s (1 - s)
    per user, drawn with replacement; C = (1 - S) / (1 - 1/k), k the cells of the pair's table, S the sum of its squared
    shares by `pair_error.concentration`. User groups are drawn without replacement: together they are all N users, and
    what all would have reported has no sampling error. The oracle's part is the same for all shares, on average over a
    table.
    """
    planned_tables: dict[float, Tables] = {}
    total = cells = 0.0
    for axes in pairs_of(len(shape)):
        sizes = [shape[axis] for axis in axes]
        size = math.prod(sizes)
        cells += size
        if size > 1:
            sampling = (1 - concentration(sizes)) / (1 - 1 / size)
            if sampling not in planned_tables:
                planned_tables[sampling] = planned(shape, sets, users, spread_of, sampling=sampling)
            total += size * planned_tables[sampling].variance(axes) - sampling * (1 - 1 / size) / users
    return users**2 * total / cells


def _example(loss: Loss) -> Pairs:
    loss = pure(loss, "pairs is calibrated to epsilon")
    sets = ((0, 1), (0, 2), (1, 2))
    responses = calibrated(loss, 1)
    oracles = tuple(RrLdp(sizes=(size,), f=responses.f, p=responses.p, q=responses.q) for size in (6, 4, 6))
    return Pairs(shape=(2, 3, 2), sets=sets, oracles=oracles)


class Settings(Parameters, frozen=True):
    """The sets of attributes that devices report."""

    ways: (
        Annotated[
            int,
            Meta(
                ge=2,
                description="how many attributes a device reports together, at most 1000 sets; left out, 2 or 3, the "
                "better, and 3 only up to 150 sets",
            ),
        ]
        | None
    ) = None
    oracle: Annotated[str, Meta(description="the oracle that every set is asked by; left out, the best one")] | None = (
        None
    )


CARD = Card(
    name="pairs",
    family="joint",
    model="local",
    paper="joint: What dpress adds (after CALM; Zhang, Wang, Li, He, Chen 2018)",
    summary="Every user reports one pair or triple of attributes; one joint distribution is fitted to all tables.",
    method=Pairs,
    example=lambda loss, unit: _example(loss),  # noqa: ARG005  # a local claim has its own unit
    parameters=Settings,
)
