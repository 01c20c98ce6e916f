"""How values are supposed to be spread when errors are predicted: evenly, or with a stated mean and spread.

A statement is public and a guess: it decides about predictions and shares of the budget, never about a promise.
"""

from collections.abc import Mapping
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Number
from dpress.core.basics.near import meant
from dpress.core.basics.parameters import PLACE
from dpress.core.maps.linear import Array
from dpress.kinds.statistics.kind import Shape
from dpress.kinds.statistics.level_values import bounded

Assumed = Mapping[str, Shape]
Places = npt.NDArray[np.int64]


def level_shares(attribute: Number, assumed: Assumed, *, circular: bool = False) -> Array:
    """Return the shares of an attribute's levels; the tails of a distribution on a circle go on round it, 8 times."""
    shape, cells = assumed.get(attribute.name), attribute.ordered
    if shape is None or not circular:
        return cell_shares(attribute, np.arange(1, cells), shape)
    low, high = map(float, attribute.ends)
    turns = (high - low) * np.arange(-8, 9)[:, None]
    rounds = np.vectorize(NormalDist(shape.mean, shape.sd).cdf)(attribute.edges.astype(float) + turns)
    shares = np.diff(rounds, axis=1).sum(axis=0)
    return np.asarray(shares / shares.sum())


def cell_shares(attribute: Number, places: Places, shape: Shape | None) -> Array:
    """Return the shares of cells: equal ones, or of a normal distribution whose tails lie in the outer cells.

    Args:
        attribute: whose levels the cells are of.
        places: the levels at the edges between the cells.
        shape: of the distribution.
    """
    if shape is None:
        return np.full(places.size + 1, 1 / (places.size + 1))
    normal = NormalDist(shape.mean, shape.sd)
    return np.diff([0.0, *(normal.cdf(float(edge)) for edge in attribute.edges_at(places)), 1.0])


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
