"""What becomes of collected reports once they were used: they are listed, expire by age, or go with their collection.

store -> its rounds, with what their designs say -> those that ended so long ago, or those of one collection -> deleted.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.stored.report_store import ReportStore, Round
from dpress.document.design import Design, decode
from dpress.release.devices.report_source import round_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRound:
    """A round as whoever runs a store sees it.

    Args:
        round: as it is stored.
        design: of it.
        ended: the day in UTC on which it was closed, or on which its end came; None where it has none, or where an
            older version closed it.
        reports: in the store, those counted that arrived twice.
        refused: how many reports were refused.
    """

    round: Round
    design: Design
    ended: date | None
    reports: int
    refused: int

    @property
    def state(self) -> str:
        """The word for it: open, closed, or expired where its reports were deleted."""
        if self.round.expired is not None:
            return "expired"
        return "closed" if self.round.closed or self.ended is not None else "open"


def listed(store: ReportStore, *, now: datetime) -> list[StoredRound]:
    """Return all rounds of a store, in the order in which they began.

    Args:
        store: of them.
        now: in UTC; ends before it have come.

    Raises:
        OSError: the store cannot be used, or a design in it not be read.
    """
    return [_stored(store, each, now) for each in store.rounds()]


def is_open(store: ReportStore, design: Design, *, now: datetime) -> bool:
    """Return whether more reports may come of the round that a design describes.

    Args:
        store: of it.
        design: of the round.
        now: in UTC.

    Raises:
        SchemaMismatch, ValueError: see `report_source.round_of`.
        OSError: the store cannot be used.
    """
    return _stored(store, round_of(store, design), now).state == "open"


def expire(store: ReportStore, *, days: int, now: datetime) -> list[StoredRound]:
    """Delete the reports of rounds that ended so many days ago, and return these rounds as they were.

    Args:
        store: of them.
        days: since the day on which a round ended.
        now: in UTC.

    Raises:
        OSError: the store cannot be used, or holds a trace of what was deleted, as it then says.
    """
    last = now.date() - timedelta(days=days)
    due = [kept for kept in listed(store, now=now) if kept.state == "closed" and kept.ended and kept.ended <= last]
    store.expire([kept.round.place for kept in due])
    return due


def delete(store: ReportStore, collection: str) -> list[StoredRound]:
    """Delete a collection, all its rounds and all that belongs to them, and return the rounds as they were.

    Args:
        store: of it.
        collection: the id of the `ask` of any of its rounds.

    Raises:
        SchemaMismatch: it is not in the store.
        OSError: the store cannot be used, or holds a trace of what was deleted, as it then says.
    """
    rounds = rounds_of(store, collection)
    store.delete([kept.round.place for kept in rounds])
    return rounds


def rounds_of(store: ReportStore, collection: str) -> list[StoredRound]:
    """Return the rounds of a collection.

    Args:
        store: of it.
        collection: the id of the `ask` of any of its rounds.

    Raises:
        SchemaMismatch: it is not in the store.
        OSError: the store cannot be used, or a design in it not be read.
    """
    every = listed(store, now=datetime.now(UTC))
    names = {kept.design.collection for kept in every if kept.round.ask == collection}
    if not names:
        raise SchemaMismatch(f"the store has no collection {collection}; `dpress collection list` names all")
    return [kept for kept in every if kept.design.collection in names]


def _stored(store: ReportStore, stored: Round, now: datetime) -> StoredRound:
    try:
        design = decode(stored.design)
    except SchemaMismatch as error:
        raise OSError(f"the store's design of round {stored.number} cannot be read: {error}") from None
    return StoredRound(
        round=stored,
        design=design,
        ended=ended_on(stored, design, now),
        reports=store.reports(stored.place),
        refused=sum(store.refused(stored.place).values()),
    )


def ended_on(stored: Round, design: Design, now: datetime) -> date | None:
    """Return the day in UTC on which a round was closed, or on which its end came; None where neither is there.

    Args:
        stored: the round.
        design: of it.
        now: in UTC; an end after it has not come.
    """
    if stored.ended is not None:
        return date.fromisoformat(stored.ended)
    if design.end is None or (end := datetime.fromisoformat(design.end)) > now:
        return None
    return end.date()
