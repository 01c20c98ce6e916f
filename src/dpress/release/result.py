"""The answer to one query of a release."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer to one query.

    Args:
        query: as it was asked.
        value: unbiased, in counts; it may be negative or fractional.
        standard_error: of the noise, exact; NaN where records answer, whose error is not known.
        interval: holds the true count with the given confidence; NaN where no error is known.
        confidence: between 0 and 1.
        note: what else is to be known, in a sentence each. The value comes from a fitted joint distribution: it is
            biased, its standard error is by bootstrap, and the interval does not cover the error of the model. It is
            counted in records. Persons keep a bounded number of rows, and only these are counted.
    """

    query: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float
    note: str | None = None
