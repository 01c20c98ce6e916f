"""The answer to one query of a release."""

import math
from dataclasses import dataclass
from typing import Self

from dpress.core.basics import notebook

LEAST_SHOWN = 1e-5  # of a p-value


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """The answer to one query.

    Args:
        query: as it was asked.
        value: unbiased unless `unbiased` or the note says otherwise, in counts; it may be negative or fractional.
        standard_error: of the noise, exact; of a collection with the estimated counts in the place of the true ones;
            NaN where records answer, whose error is not known.
        interval: holds the true count with the given confidence; NaN where no error is known.
        confidence: between 0 and 1.
        note: what else is to be known, in a sentence each. The value comes from a fitted joint distribution: it is
            biased, its standard error is by bootstrap, and the interval does not cover the error of the model. It is
            counted in records. It was selected, and its interval is approximate. Persons keep a bounded number of rows,
            and only these are counted.
        unbiased: where the value is of counts that none is below zero of, and so is biased, the unbiased answer of the
            same noisy counts: the standard error is its own, and the interval, cut to what is possible and widened to
            the value. None where `value` is unbiased, or nothing unbiased known.
        of: what the value is: a count, or a mean, sum, quantile, share, ratio or difference. A ratio of two noisy sums
            is not unbiased. It is NaN, and the interval all that the bounds allow, where the count it is divided by, or
            the group's, is not distinguishable from zero.
        within: of a mean, sum or quantile, between which ends it lies, were there no noise, as only the cells of the
            numbers are known; the interval holds it wherever they lie in their cells.
        group: of a query by attributes, the names with the values that it is of; empty of any other.
        sampling: of a coefficient, or by replicate weights, the standard error that the rows have as a sample, without
            noise; `standard_error` and `interval` are of the noise alone.
        population: of the same, the interval that holds noise and sampling together.
        design_effect: how many times the variance of sampling is that of as many rows drawn one by one.
        p_value: of a difference of means or shares: one less the highest confidence at which `population` leaves out 0,
            so that it counts the noise in; None where no error of sampling is known.

    >>> Result(query="age < 5", value=7.0, standard_error=1.5, interval=(4.0, 10.0), confidence=0.95).interval
    (4.0, 10.0)
    """

    query: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float
    note: str | None = None
    unbiased: float | None = None
    of: str = "count"
    within: tuple[float, float] | None = None
    group: tuple[tuple[str, str], ...] = ()
    sampling: float | None = None
    population: tuple[float, float] | None = None
    design_effect: float | None = None
    p_value: float | None = None

    @classmethod
    def of_count(  # noqa: PLR0917  # what every count has
        cls, query: str, value: float, variance: float, half: float, confidence: float, note: str | None = None
    ) -> Self:
        """Return a count whose interval reaches as far to each side.

        Args:
            query: as it was asked.
            value: in counts.
            variance: in counts squared.
            half: half the width of the interval, in counts.
            confidence: of the interval.
            note: what else is to be known.
        """
        return cls(
            query=query,
            value=value,
            standard_error=math.sqrt(variance),
            interval=(value - half, value + half),
            confidence=confidence,
            note=note,
        )

    def __repr__(self) -> str:
        value, error, interval = self.texts
        note = "" if self.note is None else f"; {self.note}"
        return f"Result({self.query}: {value}, standard error {error}, {self._level} {interval}{note})"

    def _repr_html_(self) -> str:
        header = ("query", self.of, "standard error", self._level)
        below = "" if self.note is None else notebook.line(self.note)
        bar = notebook.Bar(self.of, self.value, *self.interval)
        figure = notebook.bars([bar]) if all(map(math.isfinite, bar[1:])) else ""
        return notebook.table(header, [(self.query, *self.texts)], numbers=(1, 2, 3)) + figure + below

    @property
    def _level(self) -> str:
        return f"{100 * self.confidence:.4g} % interval"

    @property
    def bin_width(self) -> float | None:
        """The length of `within`: what the width of the cells alone leaves open."""
        return None if self.within is None else self.within[1] - self.within[0]

    @property
    def texts(self) -> tuple[str, str, str]:
        """The value, its standard error and interval, rounded; words where nothing is known."""
        value = "not known" if math.isnan(self.value) else self._number(self.value)
        if math.isnan(self.interval[0]):
            return value, "not known", "not known"
        error = "not known" if math.isnan(self.standard_error) else self._number(self.standard_error)
        return value, error, " to ".join(map(self._number, self.interval))

    @property
    def ends(self) -> str:
        """`within`, rounded; empty where there is none."""
        return "" if self.within is None else " to ".join(map(self._number, self.within))

    @property
    def both(self) -> str:
        """`population`, rounded; empty where there is none."""
        return "" if self.population is None else " to ".join(map(self._number, self.population))

    @property
    def significance(self) -> str:
        """`p_value`, rounded upwards to two digits; empty where there is none."""
        if self.p_value is None:
            return ""
        if self.p_value < LEAST_SHOWN:
            return f"< {LEAST_SHOWN:.5f}"
        digits = 1 - math.floor(math.log10(self.p_value))
        return f"{math.ceil(self.p_value * 10**digits - 1e-6) / 10**digits:.{digits}f}"

    def _number(self, number: float) -> str:
        """Return a number with one decimal; of a statistic with the second digit of its standard error, too."""
        has_error = self.of != "count" and 0 < self.standard_error < math.inf
        places = max(1, min(9, 1 - math.floor(math.log10(self.standard_error)))) if has_error else 1
        if self.of in ("share", "ratio", "relation") and not has_error:
            places = 4
        return f"{number:,.{places}f}"
