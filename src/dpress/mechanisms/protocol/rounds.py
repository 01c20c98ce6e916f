"""Collections in rounds: the report types of a round depend on the estimates of earlier rounds alone.

A device answers in one round only: its user group, drawn once without its value, says in which round and which report
type of it.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Protocol, runtime_checkable

from msgspec import Meta

from dpress.attributes.attribute import Tabular
from dpress.core.basics.parameters import Parameters
from dpress.core.reports.oracle import Tally


@runtime_checkable
class RoundEstimator(Protocol):
    """An estimator whose report types come in rounds; every type of every round has one user group."""

    @property
    def depths(self) -> tuple[int, ...]:
        """How many report types every round has."""
        ...

    @property
    def round(self) -> int:
        """The round that is asked now, from 0."""
        ...

    @property
    def before(self) -> int:
        """How many users answered in earlier rounds."""
        ...

    def coded(self, attributes: tuple[Tabular, ...]) -> tuple[Tabular, ...]:
        """Return the attributes as devices code them in this round."""
        ...

    def ended(self) -> Any:
        """Return the estimator of what there is after this round, whatever was to follow."""
        ...

    def following(self, tallies: Sequence[Tally]) -> Any:
        """Return the next round, a function of this one's tallies and of what it knew before; None after the last."""
        ...


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


def in_rounds(estimator: object) -> RoundEstimator | None:
    """Return the estimator if its report types come in rounds."""
    return estimator if isinstance(estimator, RoundEstimator) else None


def round_of(depths: Sequence[int], group: int) -> int:
    """Return the round in which a user group answers, from 0.

    >>> [round_of((2, 1), group) for group in range(3)]
    [0, 0, 1]
    """
    left = group
    for number, types in enumerate(depths):
        if left < types:
            return number
        left -= types
    raise ValueError(f"there are {sum(depths)} user groups, got group={group}")
