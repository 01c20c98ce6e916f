"""What is measured of different values: a part for every attribute whose values are counted."""

from collections.abc import Collection

from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.parameters import PLACE
from dpress.data.specification.spec import Spec
from dpress.kinds.statistics.kind import Statistics
from dpress.kinds.statistics.measured_attributes import attribute_named
from dpress.mechanisms.linear.distinct_values import DistinctValues
from dpress.mechanisms.linear.groups import groups_in

MOST_PAIRS = 1 << 22  # of group and value, each a count in memory
HERE = f"{PLACE}.distinct"


def distinct_parts(schema: Schema, by: tuple[int, ...], terms: Statistics) -> tuple[DistinctValues, ...]:
    """Return the parts.

    Args:
        schema: the attributes.
        by: the axes of the groups.
        terms: the parameters.
    """
    axes = schema.axes([*dict.fromkeys(terms.distinct or ())])
    return tuple(DistinctValues(shape=schema.shape, by=by, axis=axis, levels=_values(schema, axis)) for axis in axes)


def check_distinct(spec: Spec, terms: Statistics, used: Collection[str]) -> None:
    """Refuse what is no attribute whose different values can be counted, and too many of them.

    Args:
        spec: the specification.
        terms: its parameters.
        used: the attributes that something else is about.

    Raises:
        NotSupported: there are too many groups and values.
        ValueError: an attribute is missing, or something else is about it.
    """
    schema = spec.schema
    for name in terms.distinct or ():
        attribute = attribute_named(schema, name, HERE)
        if name in used:
            raise ValueError(
                f"{HERE}: {name} makes groups or is measured, too; read its column once more, as an attribute of "
                f'another name with column = "{attribute.read_from}"'
            )
        pairs = _values(schema, schema.axes([name])[0]) * groups_in(schema.shape, schema.axes(terms.by or ()))
        if pairs > MOST_PAIRS:
            raise NotSupported(f"{HERE}: {pairs:,} pairs of a group and a value of {name}, more than 2^22; use fewer")


def _values(schema: Schema, axis: int) -> int:
    """Return how many values an attribute has: those of its cells that stand for something."""
    return schema.tabular[axis].proper
