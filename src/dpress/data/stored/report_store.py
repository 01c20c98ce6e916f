"""What a store of reports keeps.

Added to and never changed, until whoever runs it has rounds expire or deletes them. A row holds accepted uploads of
one moment, under a random key, so that nothing but the round tells when or from whom they came. Reports stay as they
arrived; those that arrived twice are found when they are counted.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.int64]
KEY_BITS = 48  # random ones of a row's key; those before number the round
MOST_ROUNDS = 1 << (63 - KEY_BITS)
ROUNDS = "SELECT place, ask, number, design, closed, after, ended, expired FROM round ORDER BY place"
MIGRATIONS = Path(__file__).with_name("migrations")


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A round of a collection.

    Args:
        place: its number in the store, from 0.
        ask: the id of what is asked.
        number: of the round, as every report says.
        design: as JSON.
        closed: nothing is accepted any more.
        after: the place of the round that it follows, as far as it follows one.
        ended: the day in UTC on which it was closed; None where it is open, or was closed by an older version.
        expired: how many reports were deleted from it; None where none were.
    """

    place: int
    ask: str
    number: int
    design: str
    closed: bool
    after: int | None = None
    ended: str | None = None
    expired: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Accepted reports of one round, back to back.

    Args:
        place: of the round.
        reports: how many.
        body: their bytes.
    """

    place: int
    reports: int
    body: bytes


class ReportStore(Protocol):
    """Where a service keeps reports. Every method raises OSError, with one line, where the store cannot be used."""

    def rounds(self) -> list[Round]:
        """Return all rounds, in the order in which they began."""
        ...

    def begin(self, ask: str, number: int, design: str, *, after: int | None = None) -> Round:
        """Return a round, which is new unless it is there already.

        Args:
            ask: the id of what is asked.
            number: of the round.
            design: as JSON.
            after: the place of the round that it follows; where another one follows that already, it is returned.

        Raises:
            ValueError: it is there with another design.
        """
        ...

    def add(self, uploads: Sequence[Upload], refused: Mapping[tuple[int, str], int]) -> set[int]:
        """Keep uploads, all or none of them, and return the places of closed rounds: nothing of theirs is kept.

        When it returns, they are on disk. Where it raises they may be, too: the sender sends the same ids again.

        Args:
            uploads: of any rounds.
            refused: how many reports of a round, by its place, were refused for a reason.
        """
        ...

    def close(self, place: int) -> None:
        """Accept nothing more in a round; what was accepted before is all there is."""
        ...

    def expire(self, places: Sequence[int]) -> None:
        """Close rounds and delete their reports; the rounds stay, with how many reports they had.

        Args:
            places: of the rounds; where there are none, it clears the files of what was deleted before.

        Raises:
            OSError: nothing was deleted; or, as it then says, the files still hold what was.
        """
        ...

    def delete(self, places: Sequence[int]) -> None:
        """Delete rounds and all that belongs to them; those that follow one of them must be among them.

        Raises:
            OSError: nothing was deleted; or, as it then says, the files still hold what was.
        """
        ...

    def keys(self, place: int) -> Keys:
        """Return the keys of a round's uploads, sorted."""
        ...

    def reports(self, place: int) -> int:
        """Return how many reports a round has, those counted that arrived twice."""
        ...

    def refused(self, place: int) -> dict[str, int]:
        """Return how many reports of a round were refused, by reason."""
        ...

    def bodies(self, place: int, keys: Iterable[int] | None = None) -> Iterator[bytes]:
        """Yield the uploads of a round in the order of their keys, which is random.

        Args:
            place: of the round.
            keys: sorted; only uploads with these.
        """
        ...

    def disconnect(self) -> None:
        """Let go of the store, for good."""
        ...


def begun(rounds: Sequence[Round], wanted: Round) -> Round:
    """Return the round that follows the one before the wanted one, whoever began it; else the wanted one itself.

    Raises:
        ValueError: it is there with another design.
    """
    for stored in rounds:
        if wanted.after is not None and stored.after == wanted.after:
            return stored
    same = next(stored for stored in rounds if (stored.ask, stored.number) == (wanted.ask, wanted.number))
    if same.design != wanted.design:
        raise ValueError(
            f"the store has another design for round {wanted.number} of collection {wanted.ask}; use another store"
        )
    return same


def round_of(row: Sequence[Any]) -> Round:
    """Return the round of a row of `ROUNDS`."""
    place, ask, number, design, closed, after, ended, expired = row
    return Round(
        place=place,
        ask=ask,
        number=number,
        design=design,
        closed=bool(closed),
        after=after,
        ended=ended,
        expired=expired,
    )


def drawn_keys(places: Sequence[int]) -> list[int]:
    """Return a new key for an upload of each of these rounds; by chance one may be taken already."""
    return [place << KEY_BITS | secrets.randbits(KEY_BITS) for place in places]


def bounds(place: int) -> tuple[int, int]:
    """Return the smallest and the largest key of a round."""
    return place << KEY_BITS, (place + 1 << KEY_BITS) - 1


def migrations(dialect: str, done: int) -> Iterator[tuple[int, str]]:
    """Yield the numbered SQL files of a database that are still to be run, in order.

    Raises:
        OSError: a newer version has changed the database.
    """
    scripts = {int(path.stem.rpartition("_")[2]): path for path in MIGRATIONS.glob(f"{dialect}_*.sql")}
    if done > max(scripts):
        raise OSError(f"the store has layout {done}, and this dpress knows {max(scripts)}: use a newer dpress")
    for number, path in sorted(scripts.items()):
        if number > done:
            yield number, path.read_text(encoding="utf-8")
