"""Which attributes have bounds that are chosen privately, and what that costs."""

from collections.abc import Collection

import msgspec

from dpress.core.bounded_attribute import Numeric
from dpress.core.claim import ZCDP, PureDP, part_of
from dpress.core.domain import Schema
from dpress.core.parameters import PLACE
from dpress.mechanisms.discovery.private_bounds import BOUNDS_SHARE

METHOD = "private_bounds"
HERE = f"{PLACE}.private_bounds"


def axes_of(schema: Schema, names: Collection[str], measured: Collection[str], *, taken: Collection[str]) -> list[int]:
    """Return the axes of the attributes whose bounds are chosen, increasing.

    Args:
        schema: as the specification has it.
        names: of these attributes.
        measured: the attributes with a mean, a sum, a variance or quantiles.
        taken: those with a stated unit, guessed values, totals or a condition, which need bounds beforehand.

    Raises:
        ValueError: an attribute's bounds cannot be chosen.
    """
    for name in names:
        own = next((one for one in schema.tabular if one.name == name), None)
        if own is None or name not in measured:
            raise ValueError(f"{HERE}: {name!r} has no mean, sum, variance, median or quantiles")
        if not isinstance(own, Numeric) or own.cuts is not None:
            raise ValueError(f"{HERE}: expected numeric attributes with `bounds` and `bins`, which {name} is not")
        if own.outside != "clamp":
            raise ValueError(f'{HERE}: {name} needs outside = "clamp", as values outside of the bounds count as them')
        if name in taken:
            raise ValueError(f"{HERE}: {name} is in `unit`, `assume`, `totals` or a condition, which need its bounds")
    return sorted(schema.names.index(name) for name in {*names})


def losses(loss: PureDP | ZCDP, attributes: int) -> tuple[PureDP | ZCDP, PureDP | ZCDP]:
    """Return the loss of one bound of one attribute, and that of all sums."""
    return part_of(loss, BOUNDS_SHARE / (2 * attributes)), part_of(loss, 1 - BOUNDS_SHARE)


def in_widths(schema: Schema, axes: Collection[int]) -> Schema:
    """Return the attributes, of which those with chosen bounds have bounds of width 1: errors are in widths."""
    attributes = (
        msgspec.structs.replace(own, bounds=(0.0, 1.0)) if axis in axes and isinstance(own, Numeric) else own
        for axis, own in enumerate(schema.tabular)
    )
    return Schema(tuple(attributes))
