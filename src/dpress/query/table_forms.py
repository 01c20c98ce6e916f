"""Weighted sums and pairs of counts from product queries: what statistics need of tables, and of a fitted joint.

conditions -> disjoint boxes, each a product query -> values with exact variances, and their covariance.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array
from dpress.inference.covariance import differing, product_covariance
from dpress.inference.interval import whole_counts
from dpress.inference.ratio import Pair, pair_of
from dpress.query.boxes import Products, products
from dpress.query.cell_table import Axes, Counted
from dpress.query.linear_forms import UNKNOWN, UNKNOWN_PARTS, Compared, Critical, Group, group_of
from dpress.query.query_tree import TOTAL, Condition, Query, both
from dpress.query.result import Result

Form = tuple[float, float]  # a value and its variance


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProductSums:
    """Who answers product queries about some attributes, with weights of any size and sign.

    Args:
        form: from one weight vector for every attribute to the answer and its variance.
        critical: of the answers.
        notes: what else is to be known of them, a sentence each.
        symmetric: see `core.methods.mechanism.Decoder`.
        several: as `form`, of the sum of several product queries, where that has a way of its own.
        cells: from the axes of a table to its counts with their covariance; None where that is not known.
    """

    form: Callable[[list[Array]], Form]
    critical: Critical
    notes: tuple[str, ...] = ()
    symmetric: bool = False
    several: Callable[[Products], Form] | None = None
    cells: Callable[[Axes], Counted | None] = lambda _: None

    @property
    def exact(self) -> bool:
        """Whether the error of a sum of product queries is known, not only its bound."""
        return self.symmetric or self.several is not None

    def sum(self, boxes: Products) -> Form:
        """Return the sum of product queries and its variance.

        Error: sum over all pairs of their covariance, exact where it is known; else at most (sum of the standard
        errors)^2.
        """
        if len(boxes) == 1:
            return self.form(boxes[0])
        if self.several is not None:
            return self.several(boxes)
        values, variances = zip(*map(self.form, boxes), strict=True)
        if not self.symmetric:
            return math.fsum(values), math.fsum(map(math.sqrt, variances)) ** 2
        pairs = [product_covariance(self._variance, *pair) for pair in itertools.combinations(boxes, 2)]
        return math.fsum(values), max(0.0, math.fsum([*variances, *pairs, *pairs]))

    def _variance(self, weights: Sequence[Array]) -> float:
        return self.form([*weights])[1]

    def notes_of(self, *unions: Products) -> tuple[str, ...]:
        """Return what is to be known of sums of product queries."""
        bounded = not self.exact and any(len(boxes) > 1 for boxes in unions)
        return (*self.notes, UNKNOWN_PARTS) if bounded else self.notes

    def count(self, text: str, boxes: Products, confidence: float) -> Result:
        """Return the count of disjoint boxes."""
        value, variance = self.sum(boxes)
        half = whole_counts(variance, self.critical(confidence))
        return Result.of_count(text, value, variance, half, confidence, " ".join(self.notes_of(boxes)) or None)


Answering = Callable[[list[Array], str], ProductSums]
"""From a query, for the attributes that it weighs, and its text to who answers it; ValueError where nobody does."""


def source_of(answering: Answering, boxes: Products, text: str) -> ProductSums:
    """Return who answers about all attributes that some boxes weigh, with what is to be known of any of them.

    Raises:
        ValueError: nobody answers about all of them together.
    """
    if len(boxes) == 1:
        return answering(boxes[0], text)
    along = zip(*boxes, strict=True)
    together = [cells[0] if np.all(np.equal(cells, 1)) else np.zeros(cells[0].size) for cells in along]
    notes = dict.fromkeys(note for weights in (together, *boxes) for note in answering(weights, text).notes)
    return replace(answering(together, text), notes=tuple(notes))


def group(schema: Schema, answering: Answering, attribute: str, where: Condition | None) -> Group:
    """Return weighted sums of one attribute's cells; see `answers.ReleaseAnswers.group`."""
    boxes, axis = products(schema, where or TOTAL), schema.names.index(attribute)
    column = schema.tabular[axis].numbers
    if column is None:
        raise TypeError(f"{attribute} holds no numbers")
    text = f"{attribute} where {where.text}" if where is not None else attribute
    source = source_of(answering, [_along(weights, axis, np.zeros(column.size)) for weights in boxes], text)
    inside = np.max([weights[axis] for weights in boxes], axis=0)

    def form(cells: Array) -> Form:
        return source.sum([_along(weights, axis, weights[axis] * cells) for weights in boxes])

    return group_of(column, inside, form, source.critical, source.notes_of(boxes))


def correlation(
    schema: Schema, answering: Answering, sides: tuple[Query, Query], values: tuple[float, float]
) -> tuple[float | None, tuple[str, ...]]:
    """Return the correlation of the noise of two means, shares or sums, and what is to be known of it.

    That of the forms sum of (x - mean) over the rows of each, at the means that were estimated; of a share x is 1 where
    its conditions hold, and of a sum nothing is subtracted. Exact where the error of a sum is known; else None.
    """
    first, second = (_centred(schema, *pair) for pair in zip(sides, values, strict=True))
    try:
        source = source_of(answering, [*first, *second], " beside ".join(side.text for side in sides))
    except ValueError:
        return None, (UNKNOWN,)
    if not source.exact:
        return None, (UNKNOWN,)
    left, right, together = (source.sum(boxes)[1] for boxes in (first, second, [*first, *second]))
    if not left * right > 0:
        return 0.0, ()
    return min(max((together - left - right) / (2 * math.sqrt(left * right)), -1.0), 1.0), ()


def _centred(schema: Schema, side: Query, value: float) -> Products:
    """Return the sum of x - value over the rows of a mean or of a share, of x for a sum, as product queries."""
    rows = products(schema, side.where or TOTAL)
    if side.of == "share":
        chosen = products(schema, both(side.first, side.where))
        return [*chosen, *(_times(weights, -value) for weights in rows)]
    axis = schema.names.index(side.attribute)
    column = schema.tabular[axis].numbers
    if column is None:
        raise TypeError(f"{side.attribute} holds no numbers")
    ends = column.edges_at(np.arange(column.ordered + 1)).astype(np.float64)
    numbers = np.zeros(column.size)
    numbers[: column.ordered] = (ends[:-1] + ends[1:] - column.whole) / 2 - (value if side.of == "mean" else 0.0)
    return [_along(weights, axis, weights[axis] * numbers) for weights in rows]


def compared(schema: Schema, answering: Answering, first: Condition, second: Condition) -> Compared:
    """Return two counts with their errors; see `answers.ReleaseAnswers.compared`.

    Two counts that differ along one attribute are read off three forms first - r second (`inference.ratio.pair_of`),
    and so are unions wherever the error of a sum is known.
    """
    pair, text = (products(schema, first), products(schema, second)), f"{first.text} beside {second.text}"
    if max(map(len, pair)) > 1:
        return _unions(answering, pair, (first.text, second.text, text))
    (weights,), (other,) = pair
    axes = differing(weights, other)
    if len(axes) > 1:
        texts = ([weights], first.text), ([other], second.text)
        return _several(answering, *texts, lambda: _covariance(answering, weights, other, text))
    axis = axes[0] if axes else 0
    source = answering(_along(weights, axis, np.zeros(weights[axis].size)), text)
    counts = pair_of(lambda ratio: source.form(_along(weights, axis, weights[axis] - ratio * other[axis])))
    return Compared(pair=counts, critical=source.critical, notes=source.notes)


def _unions(answering: Answering, pair: tuple[Products, Products], texts: tuple[str, str, str]) -> Compared:
    """Return two counts of which one is of several boxes; where nothing tells the error of sums, with its bound."""
    first, second = pair
    try:
        source = source_of(answering, [*first, *second], texts[2])
    except ValueError:
        source = None
    if source is None or not source.exact:
        return _several(answering, (first, texts[0]), (second, texts[1]), lambda: None)
    counts = pair_of(lambda ratio: source.sum([*first, *(_times(weights, -ratio) for weights in second)]))
    return Compared(pair=counts, critical=source.critical, notes=source.notes)


def _several(
    answering: Answering, left: tuple[Products, str], other: tuple[Products, str], shared: Callable[[], float | None]
) -> Compared:
    """Return two counts whose covariance is as it is known; where nothing tells it, with its bound."""
    sources = [source_of(answering, boxes, text) for boxes, text in (left, other)]
    (first, variance), (second, spread) = (
        source.sum(boxes) for source, (boxes, _) in zip(sources, (left, other), strict=True)
    )
    notes = tuple(dict.fromkeys(note for source in sources for note in source.notes))
    if (covariance := shared()) is None:
        covariance, notes = -math.sqrt(variance * spread), (*notes, UNKNOWN)
    return Compared(
        pair=Pair(first=first, second=second, variances=(variance, spread), covariance=covariance),
        critical=lambda confidence: max(source.critical(confidence) for source in sources),
        notes=notes,
    )


def _covariance(answering: Answering, weights: list[Array], other: list[Array], text: str) -> float | None:
    """Return the covariance of two counts; None where no table holds all of their attributes, or says nothing of it."""
    axes = differing(weights, other)
    both = [np.zeros(factor.size) if axis in axes else factor for axis, factor in enumerate(weights)]
    try:
        source = answering(both, text)
    except ValueError:
        return None
    return product_covariance(lambda weights: source.form([*weights])[1], weights, other) if source.symmetric else None


def _along(weights: list[Array], axis: int, cells: Array) -> list[Array]:
    return [*weights[:axis], cells, *weights[axis + 1 :]]


def _times(weights: list[Array], factor: float) -> list[Array]:
    """Return a product query times a number, along an axis that it weighs."""
    axis = next((axis for axis, cells in enumerate(weights) if not np.all(cells == 1)), 0)
    return _along(weights, axis, factor * weights[axis])
