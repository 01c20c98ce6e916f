"""What a curator's mechanism measured of groups, and what it found first: bounds, names, or nothing."""

from dpress.mechanisms.discovery.bounds_first import BoundsFirst
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.mechanisms.discovery.second_step import SecondStep
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.groups import groups_in
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.statistics.group_quantiles import GroupDecoder, GroupQuantiles

GroupMechanism = MatrixMechanism | GroupQuantiles | SecondStep


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
