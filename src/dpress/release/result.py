"""The answer to one query of a release."""

import math
from dataclasses import dataclass

from dpress.release import notebook


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
        unbiased: of a map without counts below zero, whose value is biased, the unbiased answer of the same noisy
            counts: standard error and interval are its own. None where `value` is unbiased, or nothing unbiased known.
    """

    query: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float
    note: str | None = None
    unbiased: float | None = None

    def __repr__(self) -> str:
        value, error, interval = self._texts
        return f"Result({self.query}: {value}, standard error {error}, {self._level} {interval})"

    def _repr_html_(self) -> str:
        header = ("query", "count", "standard error", self._level)
        below = "" if self.note is None else notebook.line(self.note)
        return notebook.table(header, [(self.query, *self._texts)], numbers=(1, 2, 3)) + below

    @property
    def _level(self) -> str:
        return f"{100 * self.confidence:.4g} % interval"

    @property
    def _texts(self) -> tuple[str, str, str]:
        """The value, its standard error and interval, rounded; words where no error is known."""
        if math.isnan(self.standard_error):
            return f"{self.value:,.1f}", "not known", "not known"
        return f"{self.value:,.1f}", f"{self.standard_error:,.1f}", "{:,.1f} to {:,.1f}".format(*self.interval)
