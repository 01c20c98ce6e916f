"""Collections in rounds: the report types of a round depend on the estimates of earlier rounds alone.

A device answers in one round only: its user group, drawn once without its value, says in which round and which report
type of it.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from dpress.core.basics.parameters import Parameters


class InRounds(Parameters, frozen=True):
    """Of a tree that grows: in how many rounds, and how it is asked about."""

    rounds: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="in how many rounds devices are asked, each device in one: at most the height of a "
                "quadtree, or log2 of the cells of ranges, rounded up; left out, 4 of a map and 5 of ranges, or that "
                'if it is smaller, and method = "auto" has no rounds',
            ),
        ]
        | None
    ) = None
    oracle: (
        Annotated[str, Meta(description="the oracle that every node is asked by; left out, the best one")] | None
    ) = None


def round_of(rounds: Sequence[int], group: int) -> int:
    """Return the round in which a user group answers, from 0.

    >>> [round_of((2, 1), group) for group in range(3)]
    [0, 0, 1]
    """
    left = group
    for number, types in enumerate(rounds):
        if left < types:
            return number
        left -= types
    raise ValueError(f"there are {sum(rounds)} user groups, got group={group}")
