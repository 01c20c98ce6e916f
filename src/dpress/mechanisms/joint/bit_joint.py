"""The joint distribution behind reports of bits: unbiased tables, and one fit to all reports.

reports -> how many have bits of several attributes set -> unbiased tables; reports -> likelihoods -> joint table.
"""

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from dpress.core.basics.claim import Claim
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP, pure
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.reports.encoders import Codes
from dpress.core.reports.oracle import Oracle, Payloads, Tally
from dpress.core.reports.pieces import PayloadPieces
from dpress.inference.joint.bit_evidence import BitEvidence, one_hot
from dpress.inference.joint.contrast import Contrast, covariance_contrast
from dpress.inference.joint.factors import Joint, dense
from dpress.inference.joint.likelihood import Floats, Fold, Split
from dpress.inference.separate_tables import SeparateTables, stacked
from dpress.mechanisms.joint.bit_fold import Likelihoods, bit_fold
from dpress.mechanisms.joint.bit_tables import DesignScores, OneHotScores, Scores, designed, held, unbiased, variances
from dpress.mechanisms.joint.early_stop import independent, regularised
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.oracle.longitudinal import calibrated
from dpress.mechanisms.oracle.rappor import COHORT_BYTES, Rappor
from dpress.mechanisms.protocol.bit_tally import BitTally
from dpress.mechanisms.protocol.estimator import Estimator
from dpress.mechanisms.protocol.report_type import Part, ReportType

Axes = tuple[int, ...]
LARGEST = 1 << 22  # cells of a joint table


class JointStrategy(Protocol):
    """An estimator of the document on the reports' likelihoods."""

    def joint(self, fold: Fold, split: Split, evidence: Sequence[BitEvidence], tallies: Sequence[Tally]) -> Array:
        """Return the estimated shares of all cells, flat."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BitJoint(Estimator):
    """Every user answers all attributes in one report: of `rr_ldp`, or a filter of `rappor` for every attribute.

    Promise: that of the report.
    Error: published are the tables of all sets of two attributes or more (of all pairs, where the bits of all
    attributes are too many to be counted together, see `BitTally`), unbiased, by the inverse of the channel: the sum
    over the reports of a product of one score for every attribute. Each has its exact variance for the users' values as
    estimated (`mechanisms.joint.bit_tables`). For `rappor` the variance stated for a query about several cells is
    inflated by what filters that share bits may add. The adjusted counts are those of the fitted joint, which is
    biased.
    Paper: joint.

    Args:
        oracles: one `RrLdp` for all attributes, or a `Rappor` of one cohort for every attribute, all with the same
            responses.
        strategy: the document's estimator; None for the likelihood, stopped early (`mechanisms.joint.early_stop`).
    """

    oracles: tuple[RrLdp] | tuple[Rappor, ...]
    strategy: JointStrategy | None = None

    @property
    def oracle(self) -> RrLdp | Rappor:
        """The first oracle; the only one of one-hot reports."""
        return self.oracles[0]

    @property
    def claim(self) -> Claim:
        """The promise of one report."""
        return self.types[0].claim

    @property
    def shape(self) -> Axes:
        """The number of values of every attribute."""
        sizes = (oracle.sizes if isinstance(oracle, RrLdp) else (oracle.size,) for oracle in self.oracles)
        return tuple(itertools.chain.from_iterable(sizes))

    @property
    def types(self) -> tuple[ReportType]:
        """What every device is asked: all attributes at once."""
        if isinstance(self.oracle, RrLdp):
            return (ReportType(parts=(Part(axes=tuple(range(len(self.shape))), oracle=self.oracle, encoder=Codes()),)),)
        filters: tuple[Oracle, ...] = self.oracles
        return (ReportType(parts=tuple(Part(axes=(axis,), oracle=oracle) for axis, oracle in enumerate(filters))),)

    def tally(self, report_type: ReportType, payloads: Payloads) -> Tally:
        """Return how often bits are set together, and the number of payloads last."""
        del report_type  # there is one
        return np.append(self.bits.tally(payloads), len(payloads))

    @property
    def bits(self) -> BitTally:
        """Counts the reports' bits together."""
        if isinstance(self.oracle, RrLdp):
            return BitTally(starts=tuple(itertools.accumulate(self.shape[:-1], initial=0)), sizes=self.shape)
        steps = [8 * oracle.width for oracle in self.oracles]
        starts = itertools.accumulate(steps[:-1], initial=8 * COHORT_BYTES)
        return BitTally(starts=tuple(starts), sizes=tuple(oracle.bits for oracle in self.oracles))

    @property
    def tables(self) -> tuple[Axes, ...]:
        """What is published: a table for every set of attributes that are counted together, pairs first."""
        most = len(self.shape) if self.bits.crossed else 2
        return tuple(axes for k in range(2, most + 1) for axes in itertools.combinations(range(len(self.shape)), k))

    @property
    def inflation(self) -> tuple[float, ...]:
        """By how much the variance of a sum of cells may exceed the sum of theirs, for every table."""
        inflations = [scores.inflation for scores in self._scores]
        return tuple(math.prod(inflations[axis] for axis in axes) for axes in self.tables)

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the unbiased counts of every published table, with their variances.

        Raises:
            ValueError: there is no report.
        """
        users = int(tallies[0][-1])
        if not users:
            raise ValueError("no report is about all attributes")
        counts = [self._counts(tallies, axes) for axes in self.tables]
        spread = [variances(table, self._of(axes), users) for table, axes in zip(counts, self.tables, strict=True)]
        flat = [[table.ravel() for table in tables] for tables in (counts, spread)]
        return stacked(self.shape, self.tables, *flat)

    def decoder(self, users: int) -> SeparateTables:
        """Return how queries about attributes that are counted together are answered."""
        return SeparateTables(self.shape, self.tables, users, self.inflation)

    from_tallies: ClassVar[bool] = False

    def fit(self, tallies: Sequence[Tally], payloads: PayloadPieces) -> Joint:
        """Return the fitted joint distribution.

        Args:
            tallies: of the only report type.
            payloads: the reports, piece by piece.

        Raises:
            NotSupported: the joint table is too large.
        """
        cells = math.prod(self.shape)
        if cells > LARGEST:
            raise NotSupported(
                f"the joint table has {cells:,} cells, more than 2^22; name fewer attributes, or `pairs`"
            )
        split = Split(self.shape)
        fold = bit_fold(payloads, self._likelihoods(), split)
        if self.strategy is not None:
            single = [self.bits.block(tallies[0][:-1], (axis,)) for axis in range(len(self.shape))]
            counted = [np.append(tally[1:], tally[0])[None] for tally in single]
            table, reason = self.strategy.joint(fold, split, self._evidence, counted), ""
        else:
            product = independent([self._counts(tallies, (axis,)) for axis in range(len(self.shape))])
            fit = regularised(fold, split, product).fit
            table, reason = fit.table, fit.reason
        total = float(table.sum())
        shares = table / total if total > 0 else np.full(cells, 1 / cells)
        return dense(shares.reshape(self.shape), reason=reason)

    def contrasts(self, tallies: Sequence[Tally]) -> tuple[Contrast, ...]:
        """Return for every pair what its table says beyond independence: the covariance of its scores."""
        users = int(tallies[0][-1])
        single = [self._counts(tallies, (axis,)) / users for axis in range(len(self.shape))]
        spread = [scores.covariance(held(share, 1)) for scores, share in zip(self._scores, single, strict=True)]
        contrasts = []
        for pair in itertools.combinations(range(len(self.shape)), 2):
            if min(self.shape[axis] for axis in pair) > 1:
                first, second = pair
                beyond = self._counts(tallies, pair) / users - np.multiply.outer(single[first], single[second])
                contrasts.append(covariance_contrast(pair, beyond, (spread[first], spread[second]), users))
        return tuple(contrasts)

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell of a pair's table, averaged over all of them, equal shares.

        Of one pair N (prod_j n_j E S_j^2 - 1) / (n_1 n_2), E S^2 the mean over all values. Larger tables do not enter
        it, so that methods remain comparable.
        """
        total, cells = 0.0, 0
        squares = [scores.size * scores.mean_square for scores in self._scores]
        for first, second in itertools.combinations(range(len(self.shape)), 2):
            total += users * (squares[first] * squares[second] - 1)
            cells += self.shape[first] * self.shape[second]
        return total / cells

    @property
    def _rates(self) -> tuple[float, float]:
        return float(self.oracle.responses.q_star), float(self.oracle.responses.p_star)

    @property
    def _scores(self) -> list[Scores]:
        high, low = self._rates
        if isinstance(self.oracle, RrLdp):
            return [OneHotScores(size=size, q_star=high, p_star=low) for size in self.shape]
        return [_filter_scores(oracle) for oracle in self.oracles if isinstance(oracle, Rappor)]

    @property
    def _evidence(self) -> list[BitEvidence]:
        high, low = self._rates
        if isinstance(self.oracle, RrLdp):
            return [one_hot(size, q_star=high, p_star=low) for size in self.shape]
        return [_filter_evidence(oracle) for oracle in self.oracles if isinstance(oracle, Rappor)]

    def _of(self, axes: Axes) -> list[Scores]:
        scores = self._scores
        return [scores[axis] for axis in axes]

    def _counts(self, tallies: Sequence[Tally], axes: Axes) -> Array:
        return unbiased(self.bits.block(tallies[0][:-1], axes), self._of(axes))

    def _likelihoods(self) -> Likelihoods:
        """Return what gives the likelihoods of a batch of reports."""
        evidence, bits = self._evidence, self.bits

        def likelihoods(payloads: Payloads) -> list[Floats]:
            pairs = zip(evidence, bits.strings(payloads), strict=True)
            return [attribute.likelihoods(strings) for attribute, strings in pairs]

        return likelihoods


@functools.lru_cache(maxsize=64)
def _filter_scores(oracle: Rappor) -> DesignScores:
    return designed(_filter_evidence(oracle))


def _filter_evidence(oracle: Rappor) -> BitEvidence:
    high, low = float(oracle.responses.q_star), float(oracle.responses.p_star)
    return BitEvidence(design=oracle.blooms, q_star=high, p_star=low)


def example(loss: Loss, strategy: Any) -> BitJoint:
    """Return a tiny instance of one of the document's estimators.

    Raises:
        NotSupported: the loss is no epsilon.
    """
    loss = pure(loss, "rr_ldp is calibrated to epsilon")
    responses = calibrated(PureDP(epsilon=loss.epsilon / 2), 1)
    oracle = RrLdp(sizes=(2, 3), f=responses.f, p=responses.p, q=responses.q)
    return BitJoint(oracles=(oracle,), strategy=strategy)
