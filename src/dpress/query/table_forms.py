"""Weighted sums and pairs of counts from product queries: what statistics need of tables, and of a fitted joint.

conditions -> product weights -> values with exact variances, and their covariance.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array
from dpress.inference.covariance import differing, product_covariance
from dpress.inference.ratio import Pair, pair_of
from dpress.query.linear_forms import UNKNOWN, Compared, Critical, Group, group_of
from dpress.query.query_language import parse


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProductSums:
    """Who answers product queries about some attributes, with weights of any size and sign.

    Args:
        form: from one weight vector for every attribute to the answer and its variance.
        critical: of the answers.
        notes: what else is to be known of them, a sentence each.
        symmetric: whether `inference.covariance.product_covariance` holds for queries that differ along several axes.
    """

    form: Callable[[list[Array]], tuple[float, float]]
    critical: Critical
    notes: tuple[str, ...] = ()
    symmetric: bool = False


Answering = Callable[[list[Array], str], ProductSums]
"""From a query, for the attributes that it weighs, and its text to who answers it; ValueError where nobody does."""


def group(schema: Schema, answering: Answering, attribute: str, where: str | None) -> Group:
    """Return weighted sums of one attribute's cells; see `answers.Answers.group`."""
    weights, axis = parse(schema, where or "total"), schema.names.index(attribute)
    own = schema.tabular[axis].numbers
    if own is None:
        raise TypeError(f"{attribute} holds no numbers")
    text = f"{attribute} where {where}" if where is not None else attribute
    inside, source = weights[axis], answering(_along(weights, axis, np.zeros(own.size)), text)
    return group_of(own, inside, lambda asked: source.form(_along(weights, axis, asked)), source.critical, source.notes)


def compared(schema: Schema, answering: Answering, first: str, second: str) -> Compared:
    """Return two counts with their errors; see `answers.Answers.compared`.

    Two counts that differ along one attribute are read off three forms first - r second (`inference.ratio.pair_of`).
    """
    own, other = parse(schema, first), parse(schema, second)
    axes, text = differing(own, other), f"{first} beside {second}"
    if len(axes) > 1:
        return _several(answering, (own, first), (other, second), text)
    axis = axes[0] if axes else 0
    source = answering(_along(own, axis, np.zeros(own[axis].size)), text)
    pair = pair_of(lambda ratio: source.form(_along(own, axis, own[axis] - ratio * other[axis])))
    return Compared(pair=pair, critical=source.critical, notes=source.notes)


def _several(answering: Answering, own: tuple[list[Array], str], other: tuple[list[Array], str], text: str) -> Compared:
    """Return two counts that differ along several attributes; where nothing tells the covariance, with its bound."""
    sources = [answering(*own), answering(*other)]
    (first, variance), (second, spread) = (
        source.form(weights) for source, (weights, _) in zip(sources, (own, other), strict=True)
    )
    notes = tuple(dict.fromkeys(note for source in sources for note in source.notes))
    covariance = _covariance(answering, own[0], other[0], text)
    if covariance is None:
        covariance, notes = -math.sqrt(variance * spread), (*notes, UNKNOWN)
    return Compared(
        pair=Pair(first=first, second=second, variances=(variance, spread), covariance=covariance),
        critical=lambda confidence: max(source.critical(confidence) for source in sources),
        notes=notes,
    )


def _covariance(answering: Answering, own: list[Array], other: list[Array], text: str) -> float | None:
    """Return the covariance of two counts; None where no table holds all of their attributes, or says nothing of it."""
    axes = differing(own, other)
    both = [np.zeros(one.size) if axis in axes else one for axis, one in enumerate(own)]
    try:
        source = answering(both, text)
    except ValueError:
        return None
    return product_covariance(lambda weights: source.form([*weights])[1], own, other) if source.symmetric else None


def _along(weights: list[Array], axis: int, own: Array) -> list[Array]:
    return [*weights[:axis], own, *weights[axis + 1 :]]
