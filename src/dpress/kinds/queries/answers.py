"""Answers of a release of predicates: those that were asked, and any other that is a sum of their atoms.

noisy answers -> least squares over the atoms -> the listed queries' table; a further text -> its atoms -> a number.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from dpress.attributes.listed.attribute import Categorical
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.core.maps.atoms import Atoms
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.set_sums import SetSums
from dpress.core.maps.workload import Predicates
from dpress.core.methods.mechanism import Decoder
from dpress.inference.interval import critical, half_width
from dpress.inference.ratio import pair_of
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.over_atoms import atoms_of
from dpress.query.answering import Answering
from dpress.query.answers import Progress, ReleaseAnswers
from dpress.query.boxes import predicate
from dpress.query.linear_forms import Compared, Linear, polarised
from dpress.query.published_tables import PublishedTable
from dpress.query.query_tree import Condition, Query, both
from dpress.query.release import Release
from dpress.query.released_file import Part
from dpress.query.result import Result
from dpress.query.sources import Source, source
from dpress.query.table_answers import measurement_of
from dpress.release.plan.linear_error import predicted, variances_of

FILE = "queries.parquet"
QUERY = "query"  # the column of the texts
MOST_NAMED = 3  # queries that a refusal names


@dataclass(frozen=True, kw_only=True)
class Answers(ReleaseAnswers):
    """The listed queries with their answers, and further ones.

    Error: of every query w, a sum of atoms, w Cov w^T, exact.

    Args:
        release: whose kept integers are answered from.
    """

    release: Release
    undrawn: ClassVar[str] = "answers to queries, and no joint distribution of all its attributes"

    @cached_property
    def measurement(self) -> Measurement:
        """The noisy answers with their variance."""
        return measurement_of(self.release)

    @property
    def mechanism(self) -> MatrixMechanism:
        """What measured."""
        return cast("MatrixMechanism", self.release.mechanism)

    @property
    def decoder(self) -> Decoder:
        """How sums of atoms are answered."""
        return self.mechanism.decoder

    @property
    def atoms(self) -> Atoms:
        """How rows become atoms."""
        if (atoms := atoms_of(self.mechanism)) is None:
            raise SchemaMismatch("the design's mechanism has no predicates")
        return atoms

    @property
    def workload(self) -> Predicates:
        """The listed queries."""
        workload = self.release.workload
        if workload.sums is None:
            raise SchemaMismatch("the design lists no predicates")
        return workload

    @cached_property
    def values(self) -> Array:
        """The answers to the listed queries, unbiased and in accord with one another, in counts."""
        return np.asarray(self.workload.sums.matrix @ self.decoder.estimate(self.measurement)[0])

    @cached_property
    def variances(self) -> Array:
        """Their exact variances, in counts squared."""
        return variances_of(self.mechanism, self.workload)

    def count(self, condition: Condition, *, text: str, confidence: float, progress: Progress | None) -> Result:
        """Answer a listed query, or another one that follows from them; see `Release.query`."""
        del progress
        weights = self.weights(condition, text)
        value = float(weights @ self.decoder.estimate(self.measurement)[0])
        variance = self.decoder.query_variance(self.measurement.variance, [weights])
        half = half_width(variance, confidence, self.release.tail)
        interval = (value - half, value + half)
        return Result(
            query=text, value=value, standard_error=math.sqrt(variance), interval=interval, confidence=confidence
        )

    def weights(self, condition: Condition, text: str) -> Array:
        """Return the atoms that a condition asks for, 1 or 0 each.

        Raises:
            ValueError: it names no cells, cuts an atom, or is no combination of what was measured.
        """
        boxes = predicate(self.release.schema, condition)
        try:
            weights = self.atoms.weights(boxes)
        except NotSupported:
            raise ValueError(f"{text!r} cuts too many of the cells that the queries form; ask a listed query") from None
        if np.isnan(weights).any():
            raise ValueError(f"{text!r} is no sum of the queries' cells: it cuts {self._cut(np.isnan(weights))}")
        if not self._determines(weights):
            raise ValueError(f"{text!r} does not follow from the queries by adding and subtracting them")
        return weights

    def compared(self, first: Condition, second: Condition, progress: Progress | None = None) -> Compared:
        """Return two counts with the exact covariance of their errors."""
        del progress
        left, right = (self.weights(each, each.text) for each in (first, second))
        cells, spread = self.decoder.estimate(self.measurement)[0], self.measurement.variance

        def difference(ratio: float) -> tuple[float, float]:
            weights = left - ratio * right
            return float(weights @ cells), self.decoder.query_variance(spread, [weights])

        return Compared(pair=pair_of(difference), critical=lambda confidence: critical(confidence, self.release.tail))

    def linear(self, queries: Sequence[Query]) -> Linear:
        """Return counts as sums of atoms, with the exact covariance of their errors; see `ReleaseAnswers.linear`."""
        if any(query.of != "count" for query in queries):
            raise ValueError("only counts follow from the queries")
        rows = [both(query.first, query.where) for query in queries]
        weights, spread = np.array([self.weights(each, each.text) for each in rows]), self.measurement.variance
        covariance = polarised(lambda row: self.decoder.query_variance(spread, [row]), weights)
        return Linear(values=weights @ self.decoder.estimate(self.measurement)[0], covariance=covariance)

    def sources(self, query: Query) -> tuple[Source, ...]:
        """Return the table of the listed queries, with the atoms of a query; of each alone nothing may be known."""
        weights = [self.weights(rows, rows.text) for rows in query.rows]
        atoms = np.flatnonzero(np.subtract(*weights) if query.of == "difference" else np.sum(weights, axis=0))
        (names,), variances = self.tables.values(), self._atom_variances[atoms]
        if np.isnan(variances).any():
            return (Source(file=FILE, attributes=names, parts=atoms.size, unit="atoms"),)
        return (source(FILE, names, variances, query, "atoms"),)

    @cached_property
    def _atom_variances(self) -> Array:
        """The variance of every atom, in counts squared; NaN where the queries do not tell them apart."""
        if not all(map(self._determines, np.eye(self.atoms.size))):
            return np.full(self.atoms.size, np.nan)
        return np.asarray(self.decoder.cell_variances(self.measurement.variance)[0])

    def _determines(self, weights: Array) -> bool:
        """Say whether a sum of atoms follows from what was measured."""
        matrix = self.mechanism.strategy.map
        return not isinstance(matrix, SetSums) or matrix.determines(weights)

    def _cut(self, cut: np.ndarray) -> str:
        """Return in words which atoms these are."""
        first, *others = np.flatnonzero(cut).tolist()
        rows = zip(self.workload.texts, self.atoms.sums.matrix, strict=True)
        names = [repr(text) for text, row in rows if row[first]]
        more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
        listed = " and ".join([*names[:MOST_NAMED], *more])
        what = (
            f"the rows of which just {listed} {'holds' if len(names) == 1 else 'hold'}"
            if names
            else "the rows of which none holds"
        )
        return f"{what}, and {len(others)} more" if others else what

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The table of the listed queries, with the attributes that they are about."""
        used = {side.axis for boxes in self.atoms.predicates for box in boxes for side in box}
        return {FILE: tuple(name for axis, name in enumerate(self.release.schema.names) if axis in used)}

    @property
    def described(self) -> Mapping[str, Any]:
        """Nothing that the design does not say."""
        return {}

    def parts(self, *, progress: Progress | None) -> Iterator[Part]:
        """Yield the table of the listed queries."""
        del progress
        yield from self.published()

    def published(self) -> Iterator[PublishedTable]:
        """Yield the listed queries, a row for each."""
        texts = Categorical(name=QUERY, values=self.workload.texts)
        yield PublishedTable(
            name=FILE, axes=(texts,), count=self.values, variance=self.variances, adjusted=None, tail=self.release.tail
        )

    def by_attributes(self) -> Iterator[tuple[tuple[str, ...], Part]]:
        """Yield the table with the names of the attributes that the queries are about."""
        (names,) = self.tables.values()
        yield from ((names, table) for table in self.published())


def restored(release: Release, *_: object) -> None:
    """Return nothing, once the texts are known to be the predicates that were measured.

    Raises:
        SchemaMismatch: a text asks for other rows than its predicate.
    """
    answers = ANSWERING.of(release)
    if answers.atoms.shape != release.schema.shape or answers.workload.sums != answers.atoms.sums:
        raise SchemaMismatch("the design's queries are not those of its mechanism")
    for text, counted in zip(answers.workload.texts, answers.atoms.predicates, strict=True):
        measured = predicate(release.schema, text)
        if measured != counted and len(set(Atoms(release.schema.shape, (measured, counted)).sums.sets)) > 1:
            raise SchemaMismatch("a text of the design's queries is not the predicate that its mechanism measures")


ANSWERING = Answering(answers=Answers, predicted=predicted, restored=restored)
