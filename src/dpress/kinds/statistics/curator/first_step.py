"""What a mechanism measured of groups, and what it found first: names, or bounds, and what choosing these costs."""

from collections.abc import Collection

import msgspec

from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.parameters import PLACE
from dpress.mechanisms.discovery.bounds_first import BoundsFirst, Outside
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.mechanisms.discovery.quantile_cells import QuantileCells
from dpress.mechanisms.discovery.second_step import SecondStep
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.groups import groups_in
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.statistics.group_quantiles import GroupDecoder, GroupQuantiles

GroupMechanism = MatrixMechanism | GroupQuantiles | SecondStep
METHOD = "bounds_from_outside"
HERE = f"{PLACE}.private_bounds"


def grouping(mechanism: object) -> GroupMechanism:
    """Return a mechanism whose noise is that of sums of groups.

    Raises:
        TypeError: it is none.
    """
    if isinstance(mechanism, GroupMechanism):
        return mechanism
    raise TypeError(f"{type(mechanism).__name__} measures no statistics")


def decoder_of(mechanism: object) -> GroupDecoder:
    """Return what is summed over the rows of every group.

    Raises:
        TypeError: the mechanism measures no groups.
    """
    decoder = grouping(mechanism).decoder
    if isinstance(decoder, GroupStatistics | GroupQuantiles):
        return decoder
    raise TypeError(f"{type(mechanism).__name__} measures no statistics")


def groups_of(mechanism: object) -> int:
    """Return how many groups are measured."""
    decoder = decoder_of(mechanism)
    return groups_in(decoder.shape, decoder.by)


def bounds_first(mechanism: object) -> BoundsFirst | None:
    """Return a mechanism that chooses bounds first; None where all are stated."""
    return mechanism if isinstance(mechanism, BoundsFirst) else None


def names_first(mechanism: object) -> DiscoveredGroups | None:
    """Return a mechanism that finds the names of groups first; None where all are listed."""
    return mechanism if isinstance(mechanism, DiscoveredGroups) else None


def cells_first(mechanism: object) -> QuantileCells | None:
    """Return a mechanism that cuts cells near quantiles first; None where all cells are stated."""
    return mechanism if isinstance(mechanism, QuantileCells) else None


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
        attribute = next((attribute for attribute in schema.tabular if attribute.name == name), None)
        if attribute is None or name not in measured:
            raise ValueError(f"{HERE}: {name!r} has no mean, sum, variance, median or quantiles")
        if attribute.movable is None:
            raise ValueError(f"{HERE}: expected numeric attributes with `bounds` and `bins`, which {name} is not")
        if attribute.policies.outside != "clamp":
            raise ValueError(f'{HERE}: {name} needs outside = "clamp", as values outside of the bounds count as them')
        if name in taken:
            raise ValueError(f"{HERE}: {name} is in `unit`, `assume`, `totals` or a condition, which need its bounds")
    return sorted(schema.names.index(name) for name in {*names})


def check_enough(mechanism: BoundsFirst, users: int) -> None:
    """Refuse, by the number of users that the specification states, so few rows that no scale would be found.

    Raises:
        NotSupported: with the number that is enough.
    """
    if users < mechanism.fewest:
        raise NotSupported(
            f"{HERE}: users = {users:,} is too few rows to find bounds at this budget, which takes "
            f"{mechanism.fewest:,}; state the bounds, or a larger budget"
        )


def in_widths(schema: Schema, axes: Collection[int]) -> Schema:
    """Return the attributes, of which those with chosen bounds have bounds of width 1: errors are in widths."""
    attributes = (
        msgspec.structs.replace(attribute, bounds=(0.0, 1.0)) if axis in axes else attribute
        for axis, attribute in enumerate(schema.tabular)
    )
    return Schema(tuple(attributes))


def clamped(ends: tuple[str, str], outside: Outside) -> str:
    """Return what is to be known of bounds that were chosen: what they do to values outside, and to how many.

    Args:
        ends: the bounds, written out.
        outside: what is known of the rows outside.
    """
    low, high = ends
    if outside.stated:
        return f"Too few rows are inside of narrower bounds to be sure of these: the stated ones stay, {low}..{high}."
    what = f"Values outside of {low}..{high} count as these bounds, which were chosen privately"
    if outside.most is None:
        return f"{what}; how many these are was not measured, and the interval does not cover them."
    share = min(1.0, outside.most / max(outside.rows, 1))
    return (
        f"{what}; with 95 % confidence these are at most {outside.most:,} rows ({share:.1%}), and the interval is of "
        "the values so counted."
    )
