"""A source behind another one, which gives fewer rows or more columns and is otherwise as that is."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from dpress.data.sources.declared import Declared
from dpress.data.sources.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapped(Source):
    """What a source takes from the one that it stands before.

    Args:
        source: the one behind.
    """

    source: Source

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return self.source.name

    @property
    def stable(self) -> bool:
        """Whether the rows come in one order."""
        return self.source.stable

    @property
    def portable(self) -> bool:
        """Whether parts can be read elsewhere."""
        return self.source.portable

    def stamp(self) -> Hashable:
        """Return what changes when the rows do."""
        return self.source.stamp()

    def declared(self) -> list[Declared]:
        """Return what is stated of every column behind."""
        return self.source.declared()

    def rows_at_most(self) -> int:
        """Return how many rows there are at most behind."""
        return self.source.rows_at_most()

    def rows_held(self) -> int:
        """Return how many rows are in memory at once behind."""
        return self.source.rows_held()

    def notes(self) -> int:
        """Return how many of the last lines look like notes and no rows."""
        return self.source.notes()

    def advice(self, columns: Sequence[str]) -> str:
        """Return how to state that the rows are written, where columns are missing."""
        return self.source.advice(columns)
