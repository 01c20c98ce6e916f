"""Answers of a release of a joint distribution: published tables, and the joint that is fitted to all reports.

tallies -> unbiased tables; tallies, or reports -> fitted joint -> adjusted counts, any query, synthetic records.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.rng import secure
from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.measurement import Measurement
from dpress.core.reports.oracle import Tally
from dpress.core.reports.pieces import PayloadPieces, no_payloads
from dpress.inference.joint.bootstrap import Refits
from dpress.inference.joint.factors import Joint, dense
from dpress.inference.postprocess import adjust
from dpress.kinds.joint.fitted import (
    ADDED,
    COLLECTED,
    MOST_CELLS,
    NAME,
    FittedTable,
    JointRows,
    caveat,
    pairs_of,
    refits,
    tabled,
)
from dpress.mechanisms.protocol.collection import Collection
from dpress.query.answering import Answering
from dpress.query.answers import KeptAnswers, Progress
from dpress.query.boxes import Products
from dpress.query.cell_table import Counted, of_replicates
from dpress.query.measured_joint import MeasuredJoint, count_error, measured_joint
from dpress.query.record_files import NAME as RECORDS
from dpress.query.record_files import Records
from dpress.query.release import Release
from dpress.query.released_file import Part
from dpress.query.result import Result
from dpress.query.table_answers import TableAnswers
from dpress.query.table_forms import ProductSums
from dpress.release.plan.linear_error import predicted

UNIT = 1 << 50  # of a fitted share
CLOSE = 1e-6  # to 1, of the sum of a fit that was kept


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """What a release of a joint distribution has beside its tallies.

    Args:
        fitting: returns the fitted joint; called once, when it is needed, since a wide one takes seconds.
        records: how many synthetic records are drawn from it when the release is written.
    """

    fitting: Callable[[], Joint]
    records: int = 0

    @cached_property
    def joint(self) -> Joint:
        """The fitted joint distribution."""
        return self.fitting()


@dataclass(frozen=True, kw_only=True)
class Answers(TableAnswers):
    """Published tables, and the fitted joint distribution."""

    @property
    def fitted(self) -> Joint:
        """The joint distribution behind the adjusted counts."""
        joint: Joint = self.release.detail.joint
        return joint

    @cached_property
    def evidence(self) -> MeasuredJoint | None:
        """What a curator measured; None for a collection."""
        return measured_joint(self.release.mechanism, self.release.kept)

    @property
    def people(self) -> float:
        """How many took part, or the estimated number of rows."""
        return self.release.reports if self.evidence is None else self.evidence.rows

    def _error(self, share: float, error: float) -> float:
        """Return the standard error of a count, from a share's: the number of a table's rows is estimated, too."""
        return count_error(self.people, 0.0 if self.evidence is None else self.evidence.rows_variance, share, error)

    def _count(self, again: Refits, boxes: Products) -> tuple[float, float]:
        """Return the fitted count of disjoint boxes, and its variance."""
        share = again.share(*boxes)
        return self.people * share, self._error(share, again.error(*boxes)) ** 2

    def product(self, text: str, weights: list[Array], confidence: float, progress: Progress | None) -> Result:
        """Answer a product query from a published table, else from the fitted joint if the tallies alone give it.

        Where no published table holds the attributes together, the answer is the fitted joint's: biased, with an error
        by bootstrap (`inference.joint.bootstrap`) and a note that says so.
        """
        if self.together(weights):
            return self.answered(text, weights, confidence)
        again, note = self._fitted_answers(text, progress)
        value, variance = self._count(again, [weights])
        half = again.half_width(variance, confidence)
        return Result.of_count(text, value, variance, half, confidence, note)

    def answering(self, weights: list[Array], text: str, progress: Progress | None = None) -> ProductSums:
        """Return who answers queries about the attributes that one weighs: a published table, else the fitted joint."""
        if self.together(weights):
            return super().answering(weights, text)
        again, note = self._fitted_answers(text, progress)
        return ProductSums(
            form=lambda weights: self._count(again, [weights]),
            several=lambda boxes: self._count(again, boxes),
            critical=again.critical,
            notes=(note,),
            cells=lambda axes: self._fitted_cells(again, axes),
        )

    def _fitted_cells(self, again: Refits, axes: tuple[int, ...]) -> Counted:
        """Return the fitted cells of some attributes, and the covariance that their refits show."""
        counts, people = self.people * again.joint.marginal(axes), self.people
        spread = 0.0 if self.evidence is None else self.evidence.rows_variance / people**2
        replicates = np.array([people * refit.marginal(axes) for refit in again.again])
        return counts, of_replicates(counts, replicates, spread)

    def _fitted_answers(self, text: str, progress: Progress | None) -> tuple[Refits, str]:
        """Return the fitted joint with its refits, and what to know of its answers."""
        evidence, again = self.evidence or pairs_of(self.release.mechanism), self.refits(progress=progress)
        if evidence is None or again is None:
            raise ValueError(f'{self.unanswered(text)}; a collection with method = "pairs" answers it, too')
        noise = COLLECTED if self.evidence is None else ADDED
        return again, caveat(evidence.ways, len(self.release.schema.shape), noise)

    def query_variance(self, weights: list[Array]) -> float:
        """Return the variance of the answer of a published table: of `pairs` with what its cells have in common."""
        return super().query_variance(weights) if pairs_of(self.release.mechanism) is None else self.variance(weights)

    def refits(self, *, progress: Progress | None = None) -> Refits | None:
        """Return the fitted joint with its refits; None where the tallies alone do not give it.

        They are drawn once and kept, from a seeded generator: nothing private is drawn, and everybody gets the same.

        Args:
            progress: called with the number of fits done.
        """
        if "_refits" not in self.__dict__:  # as a cached property
            release = self.release
            self.__dict__["_refits"] = refits(release.mechanism, self.fitted, release.kept, progress, self.evidence)
        kept: Refits | None = self.__dict__["_refits"]
        return kept

    def joint_table(self, *, progress: Progress | None = None) -> FittedTable | None:
        """Return the table of the fitted joint, where it is written: small, refitted, and not published already."""
        if not self._has_joint_table or (again := self.refits(progress=progress)) is None:
            return None
        spread = 0.0 if self.evidence is None else self.evidence.rows_variance
        return FittedTable(axes=self.release.schema.tabular, refits=again, users=self.people, spread=spread)

    @property
    def _has_joint_table(self) -> bool:
        return tabled(self.release.mechanism, self.release.schema.shape)

    @property
    def beside(self) -> Mapping[str, str]:
        """The synthetic records and the table of the fitted joint."""
        return {"records": RECORDS, "joint": NAME}

    @property
    def described(self) -> Mapping[str, Any]:
        """Also the number of records, why the fit stopped, and the attributes of the fitted joint's table."""
        detail: Fit = self.release.detail
        return {
            **super().described,
            **({"records": detail.records} if detail.records else {}),
            **({"fit": detail.joint.reason} if detail.joint.reason else {}),
            **({"joint": [*self.release.schema.names]} if self._has_joint_table else {}),
        }

    def parts(self, *, progress: Progress | None) -> Iterator[Part]:
        """Yield the published tables, the synthetic records, and the table of the fitted joint."""
        joint = self.joint_table(progress=progress)
        yield from self.published()
        if records := self.release.detail.records:
            yield Records(axes=self.release.schema.tabular, joint=self.fitted, size=records, rng=secure())
        if joint is not None:
            yield joint

    def by_attributes(self) -> Iterator[tuple[tuple[str, ...], Part]]:
        """Yield every table, and after them the fitted joint of all attributes if it has at most 2^13 cells."""
        yield from super().by_attributes()
        schema = self.release.schema
        if math.prod(schema.shape) <= MOST_CELLS:
            rows = JointRows(axes=schema.tabular, joint=self.fitted, users=self.people, tabled=self.joint_table)
            yield schema.names, rows

    @property
    def remarks(self) -> tuple[str, ...]:
        """The fitted joint, which takes too long while reports arrive."""
        return (*super().remarks, "The release has the joint distribution that is fitted to all reports, too.")

    def adjusted(self, axes: tuple[int, ...], count: Array, variance: Array) -> Array | None:
        """Return the fitted joint's own counts, after post-processing where the specification names some.

        None while reports arrive: nothing is fitted then.
        """
        del count
        if self.release.detail is None:
            return None
        fitted = self.fitted.marginal(axes).ravel() * self.people
        if not self.postprocess:
            return fitted
        return adjust(fitted, self.postprocess, users=self.release.users, deviations=np.sqrt(variance))


def fitted(collection: Collection, tallies: list[Tally], payloads: PayloadPieces, records: int) -> KeptAnswers:
    """Return the tallies, and a fit that they alone do not give, in units of 2^-50; and how many records to draw."""
    estimator = collection.estimator
    joint = estimator.fit(tallies, payloads)
    if estimator.from_tallies:
        return KeptAnswers(answers=np.concatenate(tallies), detail=Fit(fitting=lambda: joint, records=records))
    cells = np.rint(joint.marginal(tuple(range(len(collection.shape)))).ravel() * UNIT).astype(np.int64)
    return KeptAnswers(answers=np.concatenate([*tallies, cells]), detail=Fit(fitting=lambda: joint, records=records))


def measured(mechanism: object, drawn: Measurement, *_: object) -> KeptAnswers:
    """Return a curator's noisy tables, and the joint that is fitted to them."""
    return KeptAnswers(answers=drawn.answers, detail=Fit(fitting=_of_tables(mechanism, drawn.answers)))


def _of_tables(mechanism: object, kept: Numbers) -> Callable[[], Joint]:
    evidence = measured_joint(mechanism, kept)
    if evidence is None:
        raise SchemaMismatch("a joint distribution comes from devices, or from marginal tables of all attributes")
    return evidence.fit


def restored(release: Release, description: Mapping[str, Any], _: object) -> Fit:
    """Return the fit that a release kept, or that its tallies give.

    Raises:
        SchemaMismatch: the fit has a negative share, or does not add up to 1.
    """
    records = description.get("records", 0)
    if type(records) is not int:
        raise SchemaMismatch("`records` is no number")
    if (collection := release.collection) is None:
        return Fit(fitting=_of_tables(release.mechanism, release.kept), records=records)
    joint = replace(_refitted(collection, release.kept), reason=str(description.get("fit", "")))
    return Fit(fitting=lambda: joint, records=records)


def _refitted(collection: Collection, kept: Numbers) -> Joint:
    size = sum(collection.sizes)
    estimator = collection.estimator
    if estimator.from_tallies:
        return estimator.fit(collection.split_tally(kept[:size]), no_payloads)
    shares = kept[size:] / UNIT
    if shares.size != math.prod(collection.shape) or shares.min() < 0 or abs(float(shares.sum()) - 1) > CLOSE:
        raise SchemaMismatch("the fitted joint that the release keeps is no distribution")
    return dense(shares.reshape(collection.shape))


ANSWERING = Answering(answers=Answers, predicted=predicted, fitted=fitted, measured=measured, restored=restored)
