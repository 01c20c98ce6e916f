"""Which devices are asked what for statistics of numbers, and how wrong the means will be.

parameters -> numbers at their finest levels -> report types of every method -> the error that is predicted -> a choice.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.parameters import PLACE, Parameters
from dpress.core.reports.encoders import Code, Combination
from dpress.core.reports.oracle import Oracle
from dpress.data.specification.spec import Spec
from dpress.inference.interval import critical
from dpress.kinds.statistics.assumed_shape import check, level_shares
from dpress.kinds.statistics.devices.estimates import LENGTH, DeviceEstimates, reported
from dpress.kinds.statistics.kind import CollectedStatistics
from dpress.kinds.statistics.measured_attributes import (
    Quantiles,
    check_groups,
    check_measured,
    check_used,
    chosen_of,
    measured,
)
from dpress.mechanisms.numbers.circular_wave import CircularWave
from dpress.mechanisms.numbers.number_statistics import NumberStatistics
from dpress.mechanisms.numbers.one_bit import OneBit
from dpress.mechanisms.numbers.piecewise import Piecewise, best_window
from dpress.mechanisms.numbers.square_wave import SquareWave
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.report_type import Part, ReportType
from dpress.query.published_tables import CONFIDENCE
from dpress.release.plan import collections
from dpress.release.plan.candidate import Candidate, Choice
from dpress.release.plan.parameter_checks import of_kind, of_methods

UNIT = "squared error of a mean, widths of the bounds"
UNIT_CIRCLE = "squared error of a resultant length"
LEVELS, FITTED_LEVELS = 1 << 10, 1 << 9  # of a number; where a distribution is fitted, too
MOST_GROUPS, MOST_FITTED = 1 << 10, 1 << 6
MOST_SHARES = 1 << 12  # levels of all groups whose distribution is fitted: each refit takes as long
WINDOWS, BIT, CIRCLE = ("square_wave", "piecewise"), "one_bit", "circular_wave"


@dataclass(frozen=True, kw_only=True)
class _Goal:
    """What is asked for: groups, moments and quantiles of every number, the circular ones, and the finer attributes."""

    by: tuple[str, ...]
    degrees: dict[str, int]
    quantiles: Quantiles
    circular: tuple[str, ...]
    schema: Schema

    @property
    def numbers(self) -> tuple[str, ...]:
        """All numbers, in the attributes' order."""
        return tuple(name for name in self.schema.names if name in {*self.degrees, *self.quantiles, *self.circular})

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return math.prod(self.schema.shape[axis] for axis in self.schema.axes(self.by))


def choose(spec: Spec) -> Choice:
    """Return the ways to ask devices for statistics of numbers, and the one that suits.

    Where a variance or a quantile is asked for, that is the square wave; else the least error of the means.

    Raises:
        NotSupported: a budget that is no epsilon, too many groups, or a method that does not serve.
        ValueError: attributes or parameters do not fit.
    """
    collections.check_silence(spec)
    loss, terms = collections.share(spec, "users"), of_kind(spec, CollectedStatistics)
    of_methods(spec, dict.fromkeys((*WINDOWS, BIT, CIRCLE), Parameters))
    goal = _goal(spec.schema, terms)
    check(goal.schema, terms.assume or {}, {*goal.numbers})
    names = _serving(spec, goal)
    offered = [_candidate(name, goal, terms, loss) for name in names]
    whole = bool(goal.quantiles) or max(goal.degrees.values(), default=0) > 1
    candidates = tuple(offered if whole else sorted(offered, key=lambda candidate: candidate.predicted_error))
    unit = UNIT_CIRCLE if goal.circular else UNIT
    return chosen_of(candidates, goal.schema, [*goal.by, goal.numbers[0]], users=terms.users, unit=unit)


def estimates(mechanism: Collection, schema: Schema, users: int, assumed: Any) -> DeviceEstimates:
    """Return the statistics that the reports to be expected give, of the first group: their errors are predictions.

    Args:
        mechanism: that asks.
        schema: of its attributes.
        users: how many report, as many about each number.
        assumed: how numbers are supposed to be spread in every group.
    """
    estimator: Any = mechanism.estimator
    people, reports = users / len(estimator.types), []
    for report_type, oracle in zip(estimator.types, estimator.oracles, strict=True):
        attribute: Any = schema.tabular[report_type.axes[-1]]
        shares = level_shares(attribute, assumed, circular=oracle.circular)
        table = np.tile(shares * people / oracle.groups, (oracle.groups, 1))
        reports.append(oracle.expected(table))
    masks = np.arange(estimator.oracles[0].groups)[None] == 0
    z = critical(CONFIDENCE, "gaussian")
    return DeviceEstimates(numbers=reported(schema, estimator, reports), masks=masks, users=users, z=z)


def _candidate(name: str, goal: _Goal, terms: CollectedStatistics, loss: PureDP) -> Candidate:
    schema, types = goal.schema, []
    for number in goal.numbers:
        axes = schema.axes([*goal.by, number])
        sizes = tuple(schema.shape[axis] for axis in axes)
        oracle = _oracle(name, schema.attribute(number), goal.groups, loss, terms)
        encoder = Combination(sizes=sizes) if goal.by else Code()
        types.append(ReportType(parts=(Part(axes=axes, oracle=oracle, encoder=encoder),)))
    estimator = NumberStatistics(
        shape=schema.shape,
        types=tuple(types),
        degrees=tuple(goal.degrees.get(number, 0) for number in goal.numbers),
        quantiles=tuple(goal.quantiles.get(number, ()) for number in goal.numbers),
    )
    collection = Collection(shape=schema.shape, types=estimator.types, split="users", estimator=estimator)
    return Candidate(method=name, mechanism=collection, predicted_error=_error(collection, schema, terms))


def _oracle(name: str, attribute: Any, groups: int, loss: PureDP, terms: CollectedStatistics) -> Oracle:
    levels: int = attribute.ordered
    if name == BIT:
        return OneBit(size=levels, loss=loss)
    if name == CIRCLE:
        return CircularWave(levels=levels, groups=groups, loss=loss)
    if name == "square_wave":
        return SquareWave(levels=levels, groups=groups, loss=loss)
    place = 2 * np.arange(levels) / (levels - 1) - 1
    shares = level_shares(attribute, terms.assume or {})
    mean = float(shares @ place)
    window = best_window(levels, groups, float(loss.epsilon), mean, float(shares @ (place - mean) ** 2))
    return Piecewise(levels=levels, groups=groups, loss=loss, window=window)


def _error(collection: Collection, schema: Schema, terms: CollectedStatistics) -> float:
    """Return the squared error of a mean, in squares of the bounds' width, over all numbers; on circles of a length.

    A mean is cut to the bounds: where noise is wider than they are, or a mean lies at one of them, it errs less.
    """
    expected, errors = estimates(collection, schema, terms.users, terms.assume or {}), []
    for numbers in expected.numbers:
        if numbers.circular:
            errors.append(float(expected.of(f"{LENGTH} {numbers.attribute.name}").standard_error[0]))
            continue
        low, high = map(float, numbers.attribute.ends)
        shares = level_shares(numbers.attribute, terms.assume or {})
        mean = float(shares @ (np.arange(shares.size) + 0.5)) / shares.size
        errors.append(cut_error(mean, float(expected.mean_error(numbers)) / (high - low)))
    return float(np.mean(np.square(errors))) if np.isfinite(errors).all() else math.inf


def cut_error(mean: float, error: float) -> float:
    """Return the root mean squared error of a normal estimate that is cut to the bounds 0 and 1.

    Formula: with e the error, Z normal and a = -mean / e, b = (1 - mean) / e the ends that it is cut at, e^2 (P(a < Z <
    b) - b phi(b) + a phi(a) + b^2 P(Z > b) + a^2 P(Z < a)).

    >>> cut_error(0.5, 0.01), round(cut_error(0.0, 0.01), 5)
    (0.01, 0.00707)
    """
    if not 0 < error < math.inf:
        return error
    normal, a, b = NormalDist(), -mean / error, (1 - mean) / error
    below, above = normal.cdf(a), normal.cdf(-b)
    within = 1 - below - above - b * normal.pdf(b) + a * normal.pdf(a)
    return error * math.sqrt(within + b**2 * above + a**2 * below)


def _serving(spec: Spec, goal: _Goal) -> tuple[str, ...]:
    """Return the methods that serve what is asked, or the one that is named."""
    means = not goal.quantiles and max(goal.degrees.values(), default=0) < 2
    serving = (*(("piecewise",) if means else ()), *((BIT,) if means and not goal.by else ()), "square_wave")
    named = spec.release.method
    if goal.circular or named == CIRCLE:
        if not goal.circular or named not in ("auto", CIRCLE):
            raise NotSupported(f'$.release.method: "{CIRCLE}" collects the numbers of `circular`, and no other method')
        return (CIRCLE,)
    if named == "auto":
        return serving
    if named in serving or named in WINDOWS:
        return (named,)
    if named == BIT:
        raise NotSupported(
            f'$.release.method: "{BIT}" collects means of all people alone, no groups, variances or quantiles; '
            f"{' and '.join(serving)} do"
        )
    raise NotSupported(f"$.release.method: {named!r} collects no numbers; {', '.join((*WINDOWS, BIT))} do")


def _goal(schema: Schema, terms: CollectedStatistics) -> _Goal:
    """Return what is asked for, checked."""
    by = tuple(terms.by or ())
    degrees, quantiles = measured(schema, terms, by)
    check_groups(schema, by)
    circular = _on_circles(schema, terms, by)
    if not degrees and not quantiles and not circular:
        raise ValueError(f"{PLACE}: name a number in mean, sum, variance, median, quantiles or circular")
    used = {*by, *degrees, *quantiles, *circular}
    check_used(schema, used, "by, mean, sum, variance, median, quantiles, circular")
    for attribute in schema.tabular:
        place = f"attribute {attribute.name}"
        if attribute.discovered:
            raise NotSupported(f'{place}: devices need the list of the groups, not values = "discover"')
        if attribute.no_device:
            raise NotSupported(f"{place}: {attribute.no_device}")
        if attribute.numbers is not None and attribute.name not in by and attribute.extra:
            raise ValueError(
                f"{place}: `null` names a cell, but a device has to report a number; leave it out, then a device "
                "without one sends nothing"
            )
    whole = {*quantiles, *circular}
    groups, most = math.prod(schema.shape[axis] for axis in schema.axes(by)), MOST_FITTED if whole else MOST_GROUPS
    if groups > most:
        of = " for quantiles" if quantiles else " for distributions" if whole else ""
        raise NotSupported(f"{PLACE}.by: {groups:,} groups are more than {most:,}{of}; use fewer attributes or `bins`")
    fitted = min(FITTED_LEVELS, MOST_SHARES // groups)
    fine = [
        axis if axis.name in by else _finest(axis, fitted if axis.name in whole else LEVELS) for axis in schema.tabular
    ]
    return _Goal(by=by, degrees=degrees, quantiles=quantiles, circular=circular, schema=Schema(tuple(fine)))


def _finest(attribute: Tabular, most: int) -> Tabular:
    """Return an attribute at the levels that devices report about: every integer, or cells of one width."""
    numbers = attribute.numbers
    return attribute if numbers is None else numbers.with_levels(min(numbers.levels(most), most))


def _on_circles(schema: Schema, terms: CollectedStatistics, by: tuple[str, ...]) -> tuple[str, ...]:
    """Return the attributes whose bounds meet.

    Raises:
        ValueError: an attribute is missing or no number, or other statistics are asked for beside theirs.
    """
    names = tuple(dict.fromkeys(terms.circular or ()))
    for name in names:
        integers = check_measured(schema, name, by, f"{PLACE}.circular").span
        if integers is not None and integers < 3:
            raise ValueError(f"{PLACE}.circular: {name} has {integers} integers; a direction needs 3")
    if names and (terms.mean or terms.sum or terms.variance or terms.median or terms.quantiles):
        raise ValueError(
            f"{PLACE}.circular: numbers on a circle have a circular mean and no mean, sum, variance, median or "
            "quantiles; ask for those of other numbers in a release of their own"
        )
    return names
