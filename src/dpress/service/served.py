"""The collections that a service serves: their rounds as the store has them, and the public document of each."""

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import msgspec

from dpress.core.basics.check import float_up
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.losses.any_loss import as_floats
from dpress.data.stored.report_store import ReportStore, Round
from dpress.document import design as documents
from dpress.document.design import Design
from dpress.mechanisms.protocol.collection import Collection
from dpress.query.designs import collection_of
from dpress.release.devices.device import Intake, intake
from dpress.release.devices.retention import ended_on
from dpress.release.plan.over_time import given_away
from dpress.release.plan.plan_text import beside, lifetime_of, promised
from dpress.service.problem import Problem
from dpress.service.words import words

LARGEST_BODY = 1 << 22  # bytes of an upload
MOST_REPORTS = 10_000  # in one upload
HEADER = 52  # bytes of a report beside its payload, at most


@dataclass(frozen=True)
class Served:
    """A round of a collection, ready to be answered.

    Args:
        round: as it is stored.
        design: of it.
        intake: its check of reports.
        following: the round after it, as far as there is one; None otherwise.
    """

    round: Round
    design: Design
    intake: Intake
    following: Round | None

    def open(self, now: datetime) -> bool:
        """Return whether reports are accepted."""
        return not self.round.closed and ((end := self.design.end) is None or now < datetime.fromisoformat(end))

    @property
    def deleted(self) -> dict[str, Any] | None:
        """How many reports were deleted, and the day in UTC before which none was; None where all are there."""
        if self.round.expired is None:
            return None
        since = ended_on(self.round, self.design, now())
        return {"reports": self.round.expired, "since": None if since is None else since.isoformat()}

    @cached_property
    def largest_batch(self) -> int:
        """The most reports in one upload."""
        widest = max(self.intake.expected.widths)
        return max(1, min(MOST_REPORTS, LARGEST_BODY // (widest + HEADER)))

    @property
    def largest_body(self) -> int:
        """The most bytes of one upload: as many reports of the longest type."""
        return self.largest_batch * (max(self.intake.expected.widths) + HEADER)

    def document(self, now: datetime) -> bytes:
        """Return the public document for devices and people."""
        design, mechanism = self.design, self.intake.collection
        plain: dict[str, Any] = {
            "ask": documents.as_plain(design)["ask"],
            "round": self.round.number,
            "rounds": rounds(design),
            "open": self.open(now),
            "until": design.end,
            "largest_batch": self.largest_batch,
            "next": None if self.following is None else self.following.ask,
            "title": design.title,
            "contact": design.specification["release"].get("contact"),
            "words": words(design),
            "proven": as_floats(mechanism.claim.proven),
            "promise": promised(mechanism.claim) + beside(lifetime_of(mechanism)),
            "together": together(design, mechanism),
            "further": further(design, mechanism),
        }
        return msgspec.json.encode(plain)


def rounds(design: Design) -> int:
    """Return how many rounds a collection has, as far as its design says."""
    if (stated := design.ask.rounds) is not None:
        return len(stated.types)
    return max(len(design.ends or ()), design.round + 1)


def together(design: Design, collection: Collection) -> float | None:
    """Return the epsilon of one report of the same values in every round, rounded up.

    None where a device answers one round alone, or nothing is proven.
    """
    if design.ask.rounds is not None or rounds(design) == 1:
        return None
    epsilon = given_away(collection, rounds(design), 0)
    return None if epsilon is None else float_up(epsilon)


def further(design: Design, collection: Collection) -> float | None:
    """Return the epsilon that a report of the same values in one round more would add, rounded up.

    None where a device answers one round, whatever is added, or nothing is proven.
    """
    if design.ask.rounds is not None:
        return None
    spent, more = (given_away(collection, rounds(design) + added, 0) for added in (0, 1))
    return None if spent is None or more is None else float_up(more - spent)


class Collections:
    """The rounds of a store, read again whenever somebody may have changed them.

    Args:
        store: of them.
    """

    def __init__(self, store: ReportStore) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._made: dict[str, tuple[Design, Intake]] = {}
        self._by_place: dict[int, Served] = {}
        self._by_ask: dict[str, Served] = {}

    def add(self, design: Design, *, after: Round | None = None) -> Served:
        """Serve a design: a collection's first round, or a later one.

        Args:
            design: of the round.
            after: the round that it follows; where another one follows that already, it is returned.

        Raises:
            NotSupported: it asks no devices, or its method is unproven.
            ValueError: the store has another design of that name.
            OSError: the store cannot be used.
        """
        collection_of(design)
        before = None if after is None else after.place
        begun = self.store.begin(design.id, design.round, documents.encode(design), after=before)
        self.refresh()
        return self._by_place[begun.place]

    def refresh(self) -> None:
        """Read all rounds from the store, where another process may have begun or closed one.

        Raises:
            OSError: the store cannot be used.
        """
        with self._lock:
            stored = self.store.rounds()
            designs = {begun.place: self._parts(begun) for begun in stored}
            following = dict(_following(stored, {place: design for place, (design, _) in designs.items()}))
            by_place = {
                begun.place: Served(
                    round=begun,
                    design=designs[begun.place][0],
                    intake=designs[begun.place][1],
                    following=following[begun.place],
                )
                for begun in stored
            }
            unchanged = {place: served for place, served in self._by_place.items() if served == by_place.get(place)}
            self._by_place = by_place | unchanged
            # the newest round of an ask
            self._by_ask = {served.round.ask: served for served in self._by_place.values()}

    def _parts(self, stored: Round) -> tuple[Design, Intake]:
        if stored.design not in self._made:
            try:
                design = documents.decode(stored.design)
            except SchemaMismatch as error:
                raise OSError(f"the store's design of round {stored.number} cannot be read: {error}") from None
            self._made[stored.design] = design, intake(design)
        return self._made[stored.design]

    def served(self, ask: str) -> Served:
        """Return the newest round with this id.

        Raises:
            Problem: there is none.
        """
        newest = self._by_ask.get(ask)
        if newest is None:
            raise Problem(404, "there is no such collection here; its id is the 64 hexadecimal digits of its design")
        return newest

    def newest(self, served: Served) -> Served:
        """Return the newest round of the same collection."""
        return [served, *self.rounds_of(served)][-1]  # it may be deleted meanwhile

    def rounds_of(self, served: Served) -> list[Served]:
        """Return all rounds of the same collection, in the order in which they began."""
        return [other for other in self.all() if _same(other.design, served.design)]

    def all(self) -> tuple[Served, ...]:
        """Return all rounds, in the order in which they began."""
        return tuple(self._by_place.values())


def _same(first: Design, second: Design) -> bool:
    return first.collection == second.collection


def _following(stored: list[Round], designs: dict[int, Design]) -> Iterator[tuple[int, Round | None]]:
    """Yield for every round the one of the same collection that began after it."""
    for earlier in stored:
        design = designs[earlier.place]
        later = (begun for begun in stored if begun.place > earlier.place and _same(design, designs[begun.place]))
        yield earlier.place, next(later, None)


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def tag(document: bytes) -> str:
    """Return the entity tag of a document."""
    return f'"{hashlib.sha256(document).hexdigest()[:32]}"'
