"""A collection in rounds: what is asked in the next one depends on what came out of those before, and on nothing else.

Every device that answers a round at most once answers once in all: one lot, drawn without its value, says in which
round and to which question of it.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from dpress.core.oracle import Tally


@runtime_checkable
class InRounds(Protocol):
    """What an estimator offers whose questions come in rounds."""

    @property
    def round(self) -> int:
        """The round that is asked now, from 0."""
        ...

    @property
    def rounds(self) -> int:
        """How many there are."""
        ...

    @property
    def lots(self) -> int:
        """How many questions all rounds have together; each has one lot."""
        ...

    @property
    def first(self) -> int:
        """The lot of this round's first question: how many questions earlier rounds had."""
        ...

    @property
    def before(self) -> int:
        """How many users answered in earlier rounds."""
        ...

    @property
    def parameters(self) -> dict[str, Any]:
        """What a specification says of this round, as plain objects; `height` and `rounds` are those of all rounds."""
        ...

    def turn_of(self, lot: int) -> int:
        """Return the round of a lot."""
        ...

    def ended(self) -> Any:
        """Return the estimator of what there is after this round, whatever was to follow."""
        ...

    def following(self, tallies: Sequence[Tally]) -> Any:
        """Return the next round, a function of this one's tallies and of what it knew before; None after the last."""
        ...


def in_rounds(estimator: object) -> InRounds | None:
    """Return the estimator if its questions come in rounds."""
    return estimator if isinstance(estimator, InRounds) else None
