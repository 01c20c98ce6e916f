"""What statistics are made of: weighted sums of one attribute's cells in a group of rows, and two counts with errors.

Every kind of release gives both (`ReleaseAnswers.group`, `compared`); `statistics` turns them into means, quantiles and
shares.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpress.attributes.numbers.attribute import Number
from dpress.core.maps.linear import Array
from dpress.inference.ratio import Pair
from dpress.query.query_tree import Condition, Query, both

if TYPE_CHECKING:
    from dpress.inference.sampling_variance import SamplingVariance

UNKNOWN = (
    "How the errors of the two counts depend on each other is not known: standard error and interval are the largest "
    "that they can be."
)
UNKNOWN_PARTS = (
    "How the errors of the parts of this union depend on each other is not known: standard error and interval are the "
    "largest that they can be."
)
Critical = Callable[[float], float]
"""From a confidence to how many standard errors are significant."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """Rows that fulfil conditions, by the cells of one attribute that hold numbers.

    Args:
        low: the lowest number that each cell may hold, rising, shape (cells,).
        high: the highest one.
        form: from a weight of every cell to the unbiased estimate of the weighted sum of their counts and its variance,
            NaN where no error is known.
        critical: of these estimates.
        notes: what else is to be known of them, a sentence each.
    """

    low: Array
    high: Array
    form: Callable[[Array], tuple[float, float]]
    critical: Critical
    notes: tuple[str, ...] = ()

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which all numbers lie."""
        return float(self.low[0]), float(self.high[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two counts with their errors.

    Args:
        pair: of the counts; where their covariance is not known it is the one of the longest interval for any
            first - r second with r >= 0.
        critical: of these estimates.
        notes: what else is to be known of them, a sentence each.
        sampling: the variance that their ratio has as that of a sample; None where nothing tells it.
    """

    pair: Pair
    critical: Critical
    notes: tuple[str, ...] = ()
    sampling: "SamplingVariance | None" = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linear:
    """Several numbers of a release that are linear in its rows: counts, and sums that were measured.

    Args:
        values: the unbiased estimates, shape (numbers,).
        covariance: of their errors, exact, shape (numbers, numbers).
    """

    values: Array
    covariance: Array


def polarised(variance: Callable[[Array], float], rows: Array) -> Array:
    """Return the covariance of linear forms from exact variances: (Var(a + b) - Var(a) - Var(b)) / 2.

    Args:
        variance: of a form, by its weights.
        rows: the weights of every form, shape (forms, cells).
    """
    covariance = np.diag([variance(row) for row in rows])
    for first, second in itertools.combinations(range(len(rows)), 2):
        both_together = variance(rows[first] + rows[second])
        shared = (both_together - covariance[first, first] - covariance[second, second]) / 2
        covariance[first, second] = covariance[second, first] = shared
    return covariance


def linear_of(compared: Callable[[Condition, Condition], Compared], queries: Sequence[Query]) -> Linear:
    """Return counts by their pairs.

    Raises:
        ValueError: a query is no count, has no answer, or how two of them depend on each other is not known.
    """
    if any(query.of != "count" for query in queries):
        raise ValueError("only counts are linear in the rows of this release")
    rows = [both(query.first, query.where) for query in queries]
    values, covariance = np.zeros(len(rows)), np.zeros((len(rows), len(rows)))
    for first, second in itertools.combinations_with_replacement(range(len(rows)), 2):
        made = compared(rows[first], rows[second])
        if {UNKNOWN, UNKNOWN_PARTS} & {*made.notes}:
            raise ValueError(UNKNOWN)
        if first == second:
            values[first], covariance[first, first] = made.pair.first, made.pair.variances[0]
        else:
            covariance[first, second] = covariance[second, first] = made.pair.covariance
    return Linear(values=values, covariance=covariance)


def group_of(
    attribute: Number,
    inside: Array,
    form: Callable[[Array], tuple[float, float]],
    critical: Critical,
    notes: tuple[str, ...],
) -> Group:
    """Return the group over the cells of an attribute that conditions leave.

    Args:
        attribute: of numbers.
        inside: the weight of every cell under the conditions, shape (attribute.size,).
        form: as in `Group`, from a weight of every cell, those of missing values among them.
        critical: of its estimates.
        notes: as in `Group`; that missing values are left out is added.

    Raises:
        ValueError: no cell with a number is left.
    """
    places = np.flatnonzero(inside[: attribute.ordered])
    if not places.size:
        raise ValueError(f"the conditions after `where` leave no number of {attribute.name}")
    low, high = (attribute.edges_at(ends).astype(np.float64) for ends in (places, places + 1))

    def within(weights: Array) -> tuple[float, float]:
        whole = np.zeros(attribute.size)
        whole[places] = weights
        return form(whole)

    left_out = inside[attribute.ordered :].any()
    missing = (f"Rows whose {attribute.name} is {attribute.extra[0]!r} are left out.",) if left_out else ()
    return Group(low=low, high=high - attribute.whole, form=within, critical=critical, notes=(*notes, *missing))
