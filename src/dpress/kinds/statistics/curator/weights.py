"""By which attribute rows are weighted, and what the largest weight is.

parameters, attributes -> the weight of a level, in parts of the largest.
"""

import math

from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.parameters import PLACE
from dpress.kinds.statistics.assumed_shape import Assumed
from dpress.kinds.statistics.kind import Statistics
from dpress.kinds.statistics.level_values import bounded, level_scale
from dpress.kinds.statistics.measured_attributes import LARGEST, attribute_named
from dpress.mechanisms.linear.row_weight import RowWeight

HERE = f"{PLACE}.weight"
UNWEIGHTED = ("persons", "totals", "distinct", "private_bounds")


def check_weight(schema: Schema, terms: Statistics) -> None:
    """Refuse a weight that is none, or beside which stands what is not weighted.

    Args:
        schema: as the specification has it.
        terms: its parameters.

    Raises:
        NotSupported: a parameter is not weighted.
        ValueError: the attribute is no weight.
    """
    if terms.weight is None:
        return
    attribute_named(schema, terms.weight, HERE)
    for word in UNWEIGHTED:
        if getattr(terms, word):
            raise NotSupported(f"{HERE}: `{word}` is not weighted; publish it by another release, without `weight`")
    values = _values(schema, terms.weight)
    if len({*values}) < 2 or min(values) < 0 or max(values) > LARGEST:
        raise ValueError(
            f"{HERE}: expected bounds or values of {terms.weight} from 0 to {LARGEST:g} that are not all the same"
        )


def check_apart(schema: Schema, terms: Statistics, used: set[str]) -> None:
    """Refuse a weight that makes groups, is measured or stands in conditions.

    Raises:
        ValueError: so it is.
    """
    if terms.weight is not None and terms.weight in used:
        column = attribute_named(schema, terms.weight, HERE).read_from
        raise ValueError(
            f"{HERE}: {terms.weight} makes groups or is measured, too; read its column once more, as an attribute of "
            f'another name with column = "{column}"'
        )


def _values(schema: Schema, name: str) -> list[float]:
    """Return the lowest and the highest weight, or all that are listed.

    Raises:
        ValueError: a listed value is no number.
    """
    attribute = attribute_named(schema, name, HERE)
    if attribute.numbers is not None:
        return [*map(float, attribute.numbers.ends)]
    labels = attribute.labels_between(0, attribute.with_cells.proper)
    try:
        return [*map(_number, labels)]
    except ValueError:
        raise ValueError(f"{HERE}: {name} has values that are no numbers; expected numbers of at least 0") from None


def _number(label: str) -> float:
    """Return the number that a listed value is, with digits as files have them, without Python's underscores."""
    number = float(label)
    if "_" in label or not math.isfinite(number):
        raise ValueError(label)
    return number


def row_weight(schema: Schema, name: str | None) -> RowWeight | None:
    """Return how rows are weighted by an attribute of finest levels; None where they are not."""
    if name is None:
        return None
    axis = schema.axes([name])[0]
    numbers = schema.tabular[axis].numbers
    if numbers is None:
        values = _values(schema, name)
        listed = tuple(value / max(values) for value in values)
        return RowWeight(axis=axis, steps=len(values) - 1, lightest=min(listed), listed=listed)
    steps = numbers.ordered - 1
    centre, radius = level_scale(numbers, steps)
    return RowWeight(axis=axis, steps=steps, lightest=(centre - radius) / (centre + radius))


def heaviest(schema: Schema, weight: RowWeight | None) -> float:
    """Return the largest weight; 1 where rows are not weighted."""
    if weight is None:
        return 1.0
    if weight.listed:
        return max(_values(schema, schema.names[weight.axis]))
    return sum(level_scale(bounded(schema, weight.axis), weight.steps))


def mean_part(schema: Schema, weight: RowWeight | None, assumed: Assumed) -> float:
    """Return the mean weight as supposed, in parts of the largest: evenly spread, or as stated."""
    return _moments(schema, weight, assumed)[0]


def kish(schema: Schema, weight: RowWeight, assumed: Assumed) -> float:
    """Return the share of rows that Kish's effective sample size is, (E u)^2 / E u^2, of weights as supposed."""
    mean, square = _moments(schema, weight, assumed)
    return mean**2 / square


def _moments(schema: Schema, weight: RowWeight | None, assumed: Assumed) -> tuple[float, float]:
    """Return mean and mean square of u as supposed."""
    if weight is None:
        return 1.0, 1.0
    shape = assumed.get(schema.names[weight.axis])
    if shape is not None:
        most = heaviest(schema, weight)
        return shape.mean / most, (shape.mean**2 + shape.sd**2) / most**2
    low, listed = weight.lightest, weight.listed
    square = sum(part**2 for part in listed) / len(listed) if listed else (1 + low + low**2) / 3
    return weight.even_mean, square


def weighted(schema: Schema, weight: RowWeight | None) -> str:
    """Return the name of the attribute that rows are weighted by; empty where they are not."""
    return "" if weight is None else schema.names[weight.axis]
