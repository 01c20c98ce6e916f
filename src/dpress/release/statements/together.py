"""What the releases of a session say together: a statement answered for nothing, numbers from all that measured them.

statement -> the releases that are of the same rows -> a table by the one that errs least, in which counts and sums, and
what follows from them, are the best linear unbiased estimates from all (`session_squares`). The weights depend on the
designs alone, so that their variance is exact.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array
from dpress.data.specification.spec import Spec
from dpress.inference.interval import Tail, critical, half_width, margin
from dpress.inference.ratio import Pair, fieller
from dpress.query.linear_forms import Compared
from dpress.query.query_tree import Query
from dpress.query.result import Result
from dpress.query.sql.answer import Place, answered, columns_of_release
from dpress.query.sql.reader import statements
from dpress.query.sql.sql_table import SUFFIXES, SqlTable
from dpress.query.statistics import EMPTY, Estimate, clipped, difference, ratio
from dpress.release.statements.session_squares import (
    Offers,
    Reading,
    SessionSquares,
    numbers_of,
    offers,
    session_squares,
    single_squares,
)
from dpress.release.statements.specifications import columns_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """An answer from the releases of a session.

    Args:
        table: the answer.
        numbers: of the statements whose releases it is from.
    """

    table: SqlTable
    numbers: tuple[int, ...]

    @property
    def error(self) -> float | None:
        """The typical standard error of the first number: the root of its mean square; None where none is known."""
        errors = self.table.table[self.table.numbers[0] + SUFFIXES[0]].to_pylist() if self.table.numbers else []
        stated = [error for error in errors if error is not None]
        return math.sqrt(math.fsum(error**2 for error in stated) / len(stated)) if stated else None


@dataclass(frozen=True, kw_only=True, eq=False)
class Together:
    """The releases of a session that count the rows that a statement is about.

    Args:
        spec: of the session.
        sql: the statement.
        readings: the releases.
        confidence: of intervals.
    """

    spec: Spec
    sql: str
    readings: Sequence[Reading]
    confidence: float

    @cached_property
    def squares(self) -> SessionSquares | None:
        """What all that the releases measured says together; None where that is too much."""
        return session_squares(self.spec, self.sql, self.readings) if self.same else None

    @property
    def same(self) -> bool:
        """Whether all releases counted the same rows: each draws anew which ones a person keeps."""
        return not self.spec.privacy.protected.columns

    @cached_property
    def _offers(self) -> Offers:
        return offers(self.spec, [self.sql], self.readings if self.same else ())

    def system(self, place: Place, query: Query, first: Reading | None) -> tuple[SessionSquares, Array] | None:
        """Return what says a number of a group together, and what of it; None where nothing does.

        It is all that the releases measured; where that is too much, or leaves the first release out as it does not
        tell how its errors depend on each other, the same number of all releases.
        """
        whole = self.squares
        if whole is not None and (first is None or any(source is first for source in whole.sources)):
            weights = whole.weights(place, query)
            return None if weights is None else (whole, weights)
        single = single_squares(place, self._offers) if len(numbers_of(query)) == 1 else None
        weights = None if single is None else single.weights(place, query)
        return None if single is None or weights is None else (single, weights)

    def answer(self, first: Reading | None) -> Combined:
        """Return the answer of one release, its numbers combined with those of the others; or of all alone.

        Error: of a count, a sum or a difference that of least squares, exact, and at most that of any one release; of
        a share, a ratio or a mean Fieller's interval from these; of other numbers that of the first release.

        Raises:
            ValueError: the releases do not answer the statement.
        """
        columns = columns_of(self.spec, self.sql)
        if first is not None:
            columns = columns_of_release(first.release, self.sql, joined=True)
        (statement,) = statements(self.sql, columns)
        asking = _Asking(together=self, first=first)
        table = answered(statement, Schema(columns.attributes), asking.ask, self.confidence)
        numbers = sorted({*asking.used, *(() if first is None else (first.number,))})
        if beside := [str(number) for number in numbers if first is None or number != first.number]:
            note = f"Together with statement {', '.join(beside)}, by least squares over all that the releases measured."
            table = replace(table, notes=(*table.notes, note))
        return Combined(table=table, numbers=tuple(numbers))

    def for_nothing(self) -> Combined | None:
        """Return the answer that errs least of those that the releases give already; None where there is none."""
        answers: list[tuple[float, Combined]] = []
        for first in (*self.readings, None):
            if first is None and (answers or self.squares is None):
                break
            try:
                answer = self.answer(first)
            except ValueError:  # it has other columns, or coarser cells
                continue
            answers.append((math.inf if answer.error is None else answer.error, answer))
        return min(answers, key=lambda pair: pair[0], default=(0.0, None))[1]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Asking:
    """Answers the numbers of one table.

    Args:
        together: whose releases are asked.
        first: that answers what they do not answer together.
        used: the statements whose releases were.
    """

    together: Together
    first: Reading | None
    used: set[int] = field(default_factory=set)

    def ask(self, place: Place, query: Query) -> Result:
        """Answer a number of a group.

        Raises:
            ValueError: nothing answers it.
        """
        system = self.together.system(place, query, self.first) if self._divides(query) else None
        if system is None:
            return self._alone(query)
        squares, weights = system
        sources = squares.used(weights)
        numbers = {source.number for source in sources}
        if self.first is not None and numbers <= {self.first.number}:
            return self._alone(query)
        self.used.update(numbers)
        tails = {source.release.tail for source in sources}
        tail: Tail = "laplace" if "laplace" in tails else "gaussian"
        values, covariance = squares.squares.estimates(weights)
        value, error, interval, _ = self._estimate(query, values, covariance, tail)
        note = EMPTY if math.isnan(value) else None
        return Result(
            query=query.text,
            of=query.of,
            value=value,
            standard_error=error,
            interval=interval,
            confidence=self.together.confidence,
            note=note,
        )

    def _alone(self, query: Query) -> Result:
        if self.first is None:
            raise ValueError(f"no release answers {query.text!r}")
        return self.first.release.answered(query, self.together.confidence)

    def _divides(self, query: Query) -> bool:
        """Return whether a mean is a sum over the count of all rows, for none is without a number."""
        if query.of != "mean":
            return True
        column = self.together.spec.schema.attribute(query.attribute).with_cells
        return column.ordered == column.size

    def _estimate(self, query: Query, values: Array, covariance: Array, tail: Tail) -> Estimate:
        """Return a number from those that it is made of."""
        confidence, variance = self.together.confidence, float(covariance[0, 0])
        if query.of in ("count", "sum"):
            half = half_width(variance, confidence, tail)
            if query.of == "sum":
                half = margin(variance, critical(confidence, tail), max(map(abs, self._bounds(query.attribute))))
            value = float(values[0])
            return value, math.sqrt(variance), (value - half, value + half), None
        if query.of == "mean":
            return self._mean(self._bounds(query.attribute), values, covariance, critical(confidence, tail))
        compared = Compared(pair=_pair(values, covariance), critical=lambda confidence: critical(confidence, tail))
        return difference(compared, confidence) if query.of == "difference" else ratio(query, compared, confidence)

    def _bounds(self, attribute: str) -> tuple[float, float]:
        """Return between which ends the numbers of an attribute lie."""
        scale = self.together.spec.schema.attribute(attribute).with_cells.scale
        low, high = (-math.inf, math.inf) if scale is None else scale.ends
        return float(low), float(high)

    def _mean(self, bounds: tuple[float, float], values: Array, covariance: Array, critical: float) -> Estimate:
        """Return a sum over a count, as the middle of the bounds and a ratio within -1..1 of half their distance."""
        middle, half = (bounds[0] + bounds[1]) / 2, (bounds[1] - bounds[0]) / 2
        turn = np.array([[1 / half, -middle / half], [0.0, 1.0]])
        root = fieller(_pair(turn @ values, turn @ covariance @ turn.T), critical, (2.0, 1.0))
        low, high = clipped(root.interval, (-1.0, 1.0))
        value = middle + half * min(max(root.value, -1.0), 1.0) if root.bounded else math.nan
        return value, half * root.standard_error, (middle + half * low, middle + half * high), None


def _pair(values: Array, covariance: Array) -> Pair:
    (first, second), (spread, other) = map(float, values), map(float, np.diagonal(covariance))
    return Pair(first=first, second=second, variances=(spread, other), covariance=float(covariance[0, 1]))
