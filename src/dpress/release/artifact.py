"""A release: what is published, and answers with their error."""

import datetime as dt
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from dpress.core.claim import Claim, Loss, as_floats, describe, parameters
from dpress.core.domain import Schema
from dpress.core.errors import NotSupported
from dpress.core.linear import Array, Numbers
from dpress.core.measurement import Measurement
from dpress.core.mechanism import BoxDecoder, Decoder
from dpress.core.ranges import Places, Ranges
from dpress.core.rng import secure
from dpress.data.spec import Spec, as_dict
from dpress.inference.interval import Tail, half_width
from dpress.inference.joint.bootstrap import Refits
from dpress.inference.joint.factors import Joint
from dpress.inference.postprocess import NAMES, adjust
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.product import box_variances
from dpress.mechanisms.protocol.collection import Collection
from dpress.release.fitted import FittedTable, caveat, pairs_of, refits, tabled
from dpress.release.folder import Part, Progress, write_folder
from dpress.release.plan import Plan
from dpress.release.query import parse
from dpress.release.records import Records
from dpress.release.tables import CONFIDENCE, Published

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer to one query.

    Args:
        query: as it was asked.
        value: unbiased, in counts; it may be negative or fractional.
        standard_error: of the noise, exact; NaN where records answer, whose error is not known.
        interval: holds the true count with the given confidence; NaN where no error is known.
        confidence: between 0 and 1.
        note: one sentence where the value comes from a fitted joint distribution instead: it is biased, its standard
            error is by bootstrap, and the interval does not cover the error of the model.
    """

    query: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float
    note: str | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Release:
    """A finished release; everything in it may be published.

    Args:
        spec: what was asked for.
        planned: the plan it came from, with the mechanism that measured.
        measurement: the noisy answers.
        charged: the loss that was charged.
        private: False if a seeded generator drew the noise: then it protects nobody.
        created: UTC, ISO 8601.
        ledger_head: the hash of the ledger's last entry after the charge, or None without a ledger.
        kept: the integers that are written: a collection's tallies; left out, the noisy answers.
        rejected: how many reports of a collection were left out, by reason.
        fitted: the joint distribution behind the adjusted counts, where one was fitted.
        records: how many synthetic records are drawn from it when the release is written.
    """

    spec: Spec
    planned: Plan
    measurement: Measurement
    charged: Loss
    private: bool
    created: str
    ledger_head: str | None = None
    kept: Numbers | None = None
    rejected: Mapping[str, int] = field(default_factory=dict)
    fitted: Joint | None = None
    records: int = 0

    def __repr__(self) -> str:
        names = ", ".join(self.schema.names)
        return (
            f"Release({self.spec.release.kind} of {names}; {self.planned.chosen.method}; {describe(self.claim.proven)})"
        )

    @property
    def schema(self) -> Schema:
        """The attributes it is about."""
        return self.spec.schema

    @property
    def decoder(self) -> Decoder:
        """How its tables are estimated and its queries answered."""
        decoder = self.planned.chosen.mechanism.decoder
        assert isinstance(decoder, Decoder)  # noqa: S101  # only a map has another one, and answers by itself
        return decoder

    @property
    def claim(self) -> Claim:
        """The promise of the mechanism that measured; nothing at all if the noise came from a seeded generator."""
        claim = self.planned.chosen.mechanism.claim
        if self.private:
            return claim
        basis = "the noise was drawn from a seeded generator for a test: not private"
        return Claim(published=claim.published, proven=None, unit=claim.unit, basis=basis)

    @property
    def users(self) -> int:
        """How many users took part in a collection; 0 for a table."""
        mechanism = self.planned.chosen.mechanism
        return mechanism.users if isinstance(mechanism, Collection) else 0

    @property
    def tail(self) -> Tail:
        """The kind of noise."""
        return self.planned.chosen.mechanism.tail

    def query(self, text: str, *, confidence: float = CONFIDENCE, progress: Progress | None = None) -> Result:
        """Answer a query such as `age in 30..40 and sex = Female`.

        Error: the exact variance of the noise in the answer; rows that were clamped or dropped are not part of it.
        Where no published table holds the attributes together, the answer is the fitted joint's, if it was fitted to
        the tallies alone: biased, with an error by bootstrap (`inference.joint.bootstrap`) and a note that says so.

        Args:
            text: the query.
            confidence: of the interval.
            progress: called with the number of fits done, where the joint is fitted again for its error.

        Raises:
            ValueError: the text is no query on these attributes (see `query.parse`), or nothing answers it.
        """
        weights = parse(self.schema, text)
        if not self._together(weights):
            return self._from_fit(text, weights, confidence, progress)
        decoder = self.decoder
        value = decoder.answer(self.measurement, weights)
        variance = decoder.query_variance(self.measurement.variance, weights)
        half = half_width(variance, confidence, self.tail)
        return Result(
            query=text,
            value=value,
            standard_error=math.sqrt(variance),
            interval=(value - half, value + half),
            confidence=confidence,
        )

    def query_ranges(self, left: Any, right: Any, *, confidence: float = CONFIDENCE) -> pa.Table:
        """Answer many ranges, or boxes, of a release of ranges at once.

        Error: exact, as for `query`; a million ranges take about a second.

        Args:
            left: the first cells, counted from 1, integers of shape (m,); for several attributes (m, attributes).
            right: the last cells, included, of the same shape.
            confidence: of the intervals.

        Returns:
            A table with the columns count, standard_error, low and high.

        Raises:
            NotSupported: the release is not of kind "ranges".
            ValueError: another shape; or a range is reversed or ends outside the cells, and the message names its
                number.
        """
        mechanism, shape = self.planned.chosen.mechanism, self.schema.shape
        if not isinstance(mechanism, MatrixMechanism) or not isinstance(mechanism.decoder, BoxDecoder):
            raise NotSupported('many ranges are answered at once by a release of kind = "ranges"')
        ends = [_ends(name, end, len(shape)) for name, end in (("left", left), ("right", right))]
        if ends[0].shape != ends[1].shape:
            raise ValueError(f"left and right must have one shape, got {np.shape(left)} and {np.shape(right)}")
        ranges = [Ranges(size, ends[0][:, axis], ends[1][:, axis]) for axis, size in enumerate(shape)]
        count = mechanism.decoder.box_answers(self.measurement, ranges)
        variance = box_variances(mechanism.strategy, ranges, [noise.variance for noise in mechanism.noises])
        half = half_width(variance, confidence, self.tail)
        columns = {"count": count, "standard_error": np.sqrt(variance), "low": count - half, "high": count + half}
        return pa.table(columns)

    def _together(self, weights: list[Array]) -> bool:
        """Return whether a published table holds the attributes that a query is about."""
        used = {axis for axis, weight in enumerate(weights) if not np.all(weight == 1)}
        return any(used <= set(axes) for axes in self.planned.chosen.mechanism.decoder.tables)

    def _from_fit(self, text: str, weights: list[Array], confidence: float, progress: Progress | None) -> Result:
        estimator, again = pairs_of(self.planned.chosen.mechanism), self.refits(progress=progress)
        if estimator is None or again is None:
            tables = self.planned.chosen.mechanism.decoder.tables
            names = [" x ".join(self.schema.names[axis] for axis in axes) for axes in tables]
            more = '; a collection with method = "pairs" answers it, too' if self.fitted else ""
            raise ValueError(f"no published table answers {text!r}; the tables are {', '.join(names)}{more}")
        value, error = (self.users * one(weights) for one in (again.share, again.error))
        half = again.half_width(error**2, confidence)
        return Result(
            query=text,
            value=value,
            standard_error=error,
            interval=(value - half, value + half),
            confidence=confidence,
            note=caveat(estimator.ways, len(self.schema.shape)),
        )

    def refits(self, *, progress: Progress | None = None) -> Refits | None:
        """Return the fitted joint with its refits; None without one, or where the tallies alone do not give it.

        They are drawn once and kept, from a seeded generator: nothing private is drawn, and everybody gets the same.

        Args:
            progress: called with the number of fits done.
        """
        if "_refits" not in self.__dict__:  # as a cached property
            self.__dict__["_refits"] = refits(self.planned.chosen.mechanism, self.fitted, self.kept, progress)
        found: Refits | None = self.__dict__["_refits"]
        return found

    def joint_table(self, *, progress: Progress | None = None) -> FittedTable | None:
        """Return the table of the fitted joint, where it is written: small, refitted, and not published already."""
        if not self._has_joint_table or (again := self.refits(progress=progress)) is None:
            return None
        return FittedTable(axes=self.schema.tabular, refits=again, users=self.users)

    @property
    def _has_joint_table(self) -> bool:
        return self.fitted is not None and tabled(self.planned.chosen.mechanism, self.schema.shape)

    @cached_property
    def tables(self) -> dict[str, pa.Table]:
        """The published tables by file name, see `tables.Published.batches`; all in memory.

        Where the spec names post-processing, the column `adjusted` is biased, and the interval is not about it.
        """
        return {one.name: one.table() for one in self.published()}

    def published(self) -> Iterator[Published]:
        """Yield the published tables, as estimates and variances of every cell."""
        decoder = self.decoder
        estimates = decoder.estimate(self.measurement)
        variances = decoder.cell_variances(self.measurement.variance)
        for number, (axes, count, variance) in enumerate(zip(decoder.tables, estimates, variances, strict=True), 1):
            yield Published(
                name=f"table_{number}.parquet",
                axes=tuple(self.schema.tabular[axis] for axis in axes),
                count=count,
                variance=variance,
                adjusted=self._adjusted(axes, count, variance),
                tail=self.tail,
            )

    def _adjusted(self, axes: tuple[int, ...], count: Array, variance: Array) -> Array | None:
        """Return the fitted joint's own counts, or those after post-processing; None where there is neither."""
        if self.fitted is not None:
            count = self.fitted.marginal(axes).ravel() * self.users
        names = self.spec.release.postprocess
        if names:
            return adjust(count, names, users=self.users, deviations=np.sqrt(variance))
        return None if self.fitted is None else count

    def manifest(self) -> dict[str, Any]:
        """Return the release's description as plain objects, without the tables."""
        from importlib.metadata import version  # noqa: PLC0415  # brings email; only writing needs it

        chosen, claim = self.planned.chosen, self.claim
        return {
            "format": FORMAT,
            "dpress": version("dpress"),
            "created": self.created,
            "private": self.private,
            "method": chosen.method,
            **self._mechanism(),
            "claim": {
                "published": as_floats(claim.published),
                "proven": as_floats(claim.proven),
                "relation": claim.unit.relation.value,
                "unit": claim.unit.column or "row",
                "rows_per_unit": claim.unit.rows,
                "basis": claim.basis,
            },
            "charged": {name: str(value) for name, value in parameters(self.charged).items()},
            "ledger_head": self.ledger_head,
            "error": {
                "predicted_mean_variance": chosen.predicted_error,
                "lower_bound": self.planned.lower_bound,
            },
            "tables": {
                f"table_{number}.parquet": [self.schema.names[axis] for axis in axes]
                for number, axes in enumerate(chosen.mechanism.decoder.tables, start=1)
            },
            **({"joint": [*self.schema.names]} if self._has_joint_table else {}),
            **_postprocess(self.spec.release.postprocess),
            "spec_hash": self.spec.hash,
            "spec": as_dict(self.spec),
        }

    def _mechanism(self) -> dict[str, Any]:
        """Return what the mechanism is made of."""
        mechanism = self.planned.chosen.mechanism
        if isinstance(mechanism, Collection):
            return {
                "split": mechanism.split,
                "questions": len(mechanism.questions),
                "users": mechanism.users,
                "rejected": dict(self.rejected),
                **({"records": self.records} if self.records else {}),
                **({"fit": self.fitted.reason} if self.fitted is not None and self.fitted.reason else {}),
            }
        noise = {"noise": {name: str(value) for name, value in parameters(mechanism.loss).items()}}
        if not isinstance(mechanism, MatrixMechanism):
            return noise
        return {"strategy": msgspec.to_builtins(mechanism.strategy, enc_hook=str), **noise}

    def write(self, path: str | Path, *, progress: Progress | None = None, refitted: Progress | None = None) -> Path:
        """Write the release to a new folder, whole or not at all, and return it.

        Args:
            path: the folder.
            progress: called with the number of cells written so far.
            refitted: called with the number of fits done, where the joint is fitted again for its error.

        Raises:
            OSError: the folder exists, or the disk is full; nothing is left behind.
        """
        kept = self.measurement.answers if self.kept is None else self.kept
        joint = self.joint_table(progress=refitted)
        tables: Iterator[Part] = itertools.chain(self.published(), self._records(), () if joint is None else (joint,))
        return write_folder(path, self.manifest(), kept, tables, progress=progress)

    def _records(self) -> Iterator[Records]:
        if self.fitted is not None and self.records:
            yield Records(axes=self.schema.tabular, joint=self.fitted, size=self.records, rng=secure())


def _ends(name: str, ends: Any, attributes: int) -> Places:
    """Return the ends of many boxes, shape (m, attributes)."""
    try:
        found = np.asarray(ends)
    except ValueError:
        raise ValueError(f"{name}: the rows of the list have different lengths") from None
    if found.size == 0:
        return np.zeros((0, attributes), dtype=np.int64)
    if attributes == 1 and found.ndim == 1:
        return found[:, None]
    if found.ndim != 2 or found.shape[1] != attributes:
        wanted = "(m,) for one attribute" if attributes == 1 else f"(m, {attributes}) for {attributes} attributes"
        raise ValueError(f"{name} must have the shape {wanted}, got {found.shape}")
    return found


def _postprocess(names: tuple[str, ...]) -> dict[str, Any]:
    """Return what a description says of the adjusted counts: nothing where there are none."""
    return {"postprocess": [{"name": name, "bias": NAMES[name].bias} for name in names]} if names else {}


def now() -> str:
    """Return the time in UTC, ISO 8601, to the second."""
    return dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds")
