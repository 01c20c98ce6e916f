"""The answer to one query of a release."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer to one query.

    Args:
        query: as it was asked.
        value: unbiased unless `unbiased` or the note says otherwise, in counts; it may be negative or fractional.
        standard_error: of the noise, exact; NaN where records answer, whose error is not known.
        interval: holds the true count with the given confidence; NaN where no error is known.
        confidence: between 0 and 1.
        note: one sentence that says what is approximate, or left out. Where the value comes from a fitted joint
            distribution it is biased, its standard error is by bootstrap, and the interval does not cover the error of
            the model.
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
