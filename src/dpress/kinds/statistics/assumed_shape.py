"""How values are supposed to be spread when errors are predicted: evenly, or with a stated mean and spread.

A statement is public and a guess: it decides about predictions and shares of the budget, never about a promise.
"""

from collections.abc import Mapping
from statistics import NormalDist

import numpy as np

from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Number
from dpress.core.basics.near import meant
from dpress.core.basics.parameters import PLACE
from dpress.core.maps.linear import Array
from dpress.kinds.statistics.curator.estimates import scale
from dpress.kinds.statistics.kind import Shape
from dpress.kinds.statistics.level_values import bounded
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.moment_sums import MomentSums

Assumed = Mapping[str, Shape]


def moments(part: MomentSums, schema: Schema, assumed: Assumed) -> Array:
    """Return the mean of the shares of a row, shape (degree + 1,): 1 / (degree + 1) each where values lie evenly."""
    shape = None if part.axis is None else assumed.get(schema.names[part.axis])
    if shape is None:
        return np.full(part.degree + 1, 1 / (part.degree + 1))
    centre, radius = scale(schema, part)
    t = (shape.mean - centre) / radius
    square = t**2 + (shape.sd / radius) ** 2
    if part.degree == 1:
        return np.array([1 - t, 1 + t]) / 2
    return np.array([1 - 2 * t + square, 2 - 2 * square, 1 + 2 * t + square]) / 4


def distribution(part: GroupDistribution, schema: Schema, assumed: Assumed) -> Array:
    """Return the shares of the cells: of a normal distribution whose tails lie in the outer cells, or equal ones."""
    cells, shape = part.tree.cells, assumed.get(schema.names[part.axis])
    if shape is None:
        return np.full(cells, 1 / cells)
    places = -(-np.arange(1, cells) * part.levels // cells)
    normal = NormalDist(shape.mean, shape.sd)
    below = [normal.cdf(float(edge)) for edge in bounded(schema, part.axis).edges_at(places)]
    return np.diff([0.0, *below, 1.0])


def level_shares(attribute: Number, assumed: Assumed, *, circular: bool = False) -> Array:
    """Return the shares of an attribute's cells: even, or of a normal distribution.

    Its tails are in the outer cells; on a circle they go on round it, for 8 rounds.
    """
    shape, cells = assumed.get(attribute.name), attribute.ordered
    if shape is None:
        return np.full(cells, 1 / cells)
    normal = NormalDist(shape.mean, shape.sd)
    if circular:
        low, high = map(float, attribute.ends)
        turns = (high - low) * np.arange(-8, 9)[:, None]
        rounds = np.vectorize(normal.cdf)(attribute.edges.astype(float) + turns)
        shares = np.diff(rounds, axis=1).sum(axis=0)
        return np.asarray(shares / shares.sum())
    below = [normal.cdf(float(edge)) for edge in attribute.edges_at(np.arange(1, cells))]
    return np.diff([0.0, *below, 1.0])


def check(schema: Schema, assumed: Assumed, measured: set[str]) -> None:
    """Refuse a shape of what is not measured, or one that no values within the bounds have.

    Raises:
        ValueError: so it is.
    """
    for name, shape in assumed.items():
        place = f"{PLACE}.assume.{name}"
        if name not in measured:
            names = sorted(measured)
            raise ValueError(f"{place}: it has no mean, variance or quantile{meant(name, names)}")
        low, high = map(float, bounded(schema, schema.axes([name])[0]).ends)
        if not low < shape.mean < high:
            raise ValueError(f"{place}.mean: expected a number between the bounds {low:g} and {high:g}")
        most = ((shape.mean - low) * (high - shape.mean)) ** 0.5
        if shape.sd > most:
            raise ValueError(f"{place}.sd: values between the bounds with this mean have at most {most:g}")


def supposed(assumed: Assumed) -> str:
    """Return what a plan says that its figures rest on."""
    stated = [f"{name} as stated (mean {shape.mean:g}, sd {shape.sd:g})" for name, shape in assumed.items()]
    if not stated:
        return "whose values are spread evenly over their bounds"
    return f"whose values are spread evenly over their bounds, but those of {', '.join(stated)}: a guess, not the rows"
