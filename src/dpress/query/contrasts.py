"""Differences of two means or shares of different rows, with a test that counts the noise in, and quotients of sums.

both sides answered, the correlation of their noise -> interval of the noise; with the error of sampling -> p-value.
"""

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpress.attributes.domain import Schema
from dpress.inference.group_moments import Estimates
from dpress.inference.interval import critical
from dpress.inference.sampling_variance import SamplingVariance, with_sampling
from dpress.inference.two_samples import difference_of, p_value, quotient_of
from dpress.query.boxes import possible
from dpress.query.query_tree import TOTAL, Query, both
from dpress.query.result import Result

if TYPE_CHECKING:
    from dpress.query.answers import ReleaseAnswers

HIDDEN = "The noise hides the error of sampling; the interval allows for the most that it may be."
DRAWN = "The interval with sampling holds also by how much rows that are drawn one by one differ from their population."
EMPTY = "The sum that it is divided by is not distinguishable from zero: nothing is known."
BOTH = "p counts noise and sampling in."
Ask = Callable[[Query, float], Result]


def check_apart(schema: Schema, query: Query) -> None:
    """Refuse to compare rows with some of themselves.

    Raises:
        ValueError: a row may be on both sides.
    """
    first, second = (side.where or TOTAL for side in query.scoped_sides)
    if possible(schema, both(first, second)):
        raise ValueError(
            f"{query.text}: a row may be on both sides; compare different rows, such as those behind `where A` with "
            "those behind `where not A`"
        )


def contrast(query: Query, answers: "ReleaseAnswers", confidence: float, *, text: str, ask: Ask) -> Result:
    """Answer a difference of two means or shares.

    Error: `inference.two_samples.difference_of` of both sides' intervals, with the correlation of their noise.

    Args:
        query: the difference.
        answers: of the release.
        confidence: of the intervals.
        text: as it was asked.
        ask: answers one side.

    Raises:
        ValueError: nothing answers a side.
    """
    first, second = query.scoped_sides
    sides, results = (first, second), (ask(first, confidence), ask(second, confidence))
    correlation, notes = answers.correlation(sides, results)
    noise = difference_of(_estimates(results[0]), _estimates(results[1]), correlation)
    result = _result(query, noise, text, confidence, (result.note for result in results), notes)
    if math.isnan(result.value):
        (low, high), (other_low, other_high) = (each.interval for each in results)
        return replace(result, interval=(low - other_high, high - other_low))
    sampling = None if math.isnan(result.standard_error) else answers.sampling(sides, results)
    if sampling is None:
        return result

    def ends(level: float) -> tuple[float, float]:
        made = difference_of(_estimates(ask(first, level)), _estimates(ask(second, level)), correlation)
        return _population(with_sampling(made, sampling, critical(level, "gaussian")))

    made = sampled(result, sampling)
    says = [DRAWN, BOTH] if math.isinf(sampling.degrees) else [BOTH]
    return replace(made, p_value=p_value(ends), note=" ".join(filter(None, (made.note, *says))))


def quotient(query: Query, answers: "ReleaseAnswers", confidence: float, *, text: str, ask: Ask) -> Result:
    """Answer one sum over another, of the same rows.

    Error: `inference.two_samples.quotient_of` of both sums, with the correlation of their noise.

    Args:
        query: the quotient.
        answers: of the release.
        confidence: of the intervals.
        text: as it was asked.
        ask: answers one of the sums.

    Raises:
        ValueError: a sum has no answer.
    """
    first, second = query.scoped_sides
    sides, results = (first, second), (ask(first, confidence), ask(second, confidence))
    correlation, notes = answers.correlation(sides, results)
    made = quotient_of(_estimates(results[0]), _estimates(results[1]), correlation)
    empty = () if made.value[0] == made.value[0] else (EMPTY,)
    result = _result(query, made, text, confidence, empty, (result.note for result in results), notes)
    if empty or math.isnan(result.standard_error) or (sampling := answers.sampling(sides, results)) is None:
        return result
    return sampled(result, sampling)


def sampled(result: Result, sampling: SamplingVariance, bounds: tuple[float, float] | None = None) -> Result:
    """Return an answer with the error of sampling, and the interval that holds it and the noise.

    Args:
        result: with the interval of the noise.
        sampling: the variance that it has as that of a sample.
        bounds: between which the truth lies.
    """
    made = with_sampling(_estimates(result), sampling, critical(result.confidence, "gaussian"), bounds)
    error = float(sampling.standard_error[0])
    notes = filter(None, (result.note, "" if error else HIDDEN))
    return replace(result, sampling=error, population=_population(made), note=" ".join(notes) or None)


def _result(query: Query, made: Estimates, text: str, confidence: float, *notes: Iterable[str | None]) -> Result:
    """Return an estimate as an answer, with every note once."""
    return Result(
        query=text,
        of=query.of,
        value=float(made.value[0]),
        standard_error=float(made.standard_error[0]),
        interval=(float(made.low[0]), float(made.high[0])),
        confidence=confidence,
        note=" ".join(dict.fromkeys(filter(None, itertools.chain(*notes)))) or None,
    )


def _estimates(result: Result) -> Estimates:
    value, error, low, high = np.array([[result.value], [result.standard_error], *np.array([result.interval]).T])
    return Estimates(value=value, standard_error=error, low=low, high=high)


def _population(estimates: Estimates) -> tuple[float, float]:
    low, high = estimates.population or (estimates.low, estimates.high)
    return float(low[0]), float(high[0])
