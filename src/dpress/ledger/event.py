"""The entries of a ledger: three kinds of append-only facts, stored as canonical JSON and chained by SHA-256.

Opening -> (Reservation | Spend)*. A reservation is charged for ever; a spend only adds that its noise was drawn.
Rationals are strings "n/d", times are UTC in ISO 8601.
"""

import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import ClassVar

import msgspec
from msgspec import Struct

from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.any_loss import parameters
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.read import from_parameters

NO_HASH = "0" * 64
Rationals = dict[str, str]


class Opening(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, tag="opening", tag_field="fact"
):
    """The first fact: what may be spent at most, whom it protects (`claim.Unit`), and the shares of analysts."""

    time: str
    limit: Rationals
    relation: Relation
    column: str | None
    rows: int
    also: tuple[str, ...] = ()
    analysts: Rationals = {}

    @property
    def loss(self) -> Loss:
        """The limit as a privacy loss."""
        return read_loss(self.limit)

    @property
    def unit(self) -> Unit:
        """Whom the limit protects."""
        return Unit(relation=self.relation, column=self.column, rows=self.rows, also=self.also)


class Reservation(
    Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag="reservation",
    tag_field="fact",
):
    """A charge, written before any noise is drawn and counted from then on.

    Args:
        id: names the charge; given to the caller.
        price: the loss, as exact rationals.
        label: what it is for, e.g. the release's title.
        design: id of the design that asked.
        partition: the part of the table it looks at, if it looks at one part only (see `compose.total`).
        touched: how many such parts one unit can be in, where that is known.
        release: the folder of the release, as it was given; empty where nothing was to be written.
        spec: the hash of the specification; empty where there is none.
        who: the name of whoever asked for it, as given; empty where nobody was named.
        analyst: whose share pays; empty where nobody's does.
    """

    time: str
    id: str
    price: Rationals
    label: str
    design: str
    partition: str | None = None
    release: str = ""
    spec: str = ""
    who: str = ""
    touched: int | None = None
    analyst: str = ""

    @property
    def loss(self) -> Loss:
        """The privacy loss that was charged."""
        return read_loss(self.price)


class Spend(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="spend", tag_field="fact"):
    """The noise of a reservation was drawn; `note` says what came of it, e.g. the release's id."""

    loss: ClassVar[None] = None  # its reservation has one
    time: str
    reservation: str
    note: str


Event = Opening | Reservation | Spend
_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


class Row(Struct, frozen=True, kw_only=True):
    """One stored line: its number, the JSON of its fact, the hash of the line before it and its own."""

    seq: int
    payload: str
    previous: str
    hash: str


Decision = Callable[[Sequence[Row]], Event]
"""What the lines of a ledger are followed by: it reads all of them and returns the next fact, or refuses."""


class History(Struct, frozen=True, kw_only=True):
    """All facts of a ledger whose chain was found whole, and the hash of the last line."""

    opening: Opening
    reservations: tuple[Reservation, ...]
    spends: dict[str, Spend]
    rows: int
    head: str


def now() -> str:
    """Return the present time, UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def write_loss(loss: Loss) -> Rationals:
    """Return the loss as strings "n/d".

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> write_loss(PureDP(epsilon=0.1))
    {'epsilon': '1/10'}
    """
    return {name: f"{value.numerator}/{value.denominator}" for name, value in parameters(loss).items()}


def read_loss(values: Rationals) -> Loss:
    """Return the loss that `write_loss` wrote.

    >>> read_loss({"rho": "1/2"})
    ZCDP(rho=Fraction(1, 2))
    """
    return from_parameters(dict(values))


def digest(seq: int, payload: str, previous: str) -> str:
    """Return SHA-256 of the line's number, the hash before it and its payload, one a line.

    >>> digest(1, "{}", NO_HASH)[:8]
    'e926929d'
    """
    return hashlib.sha256(f"{seq}\n{previous}\n{payload}".encode()).hexdigest()


def link(event: Event, *, seq: int, previous: str) -> Row:
    """Return the line that stores `event` after a line with hash `previous`."""
    payload = msgspec.json.encode(event, order="sorted").decode()
    return Row(seq=seq, payload=payload, previous=previous, hash=digest(seq, payload, previous))


def following(rows: Sequence[Row], event: Event) -> Row:
    """Return the line that stores `event` after these lines."""
    return link(event, seq=rows[-1].seq + 1, previous=rows[-1].hash)


def replay(rows: Sequence[Row]) -> History:
    """Check every line against the chain and against the rules of the ledger; return the facts.

    Raises:
        ValueError: names the first bad row.
    """
    if not rows:
        raise ValueError("row 1 is missing: the ledger has no opening")
    reservations: dict[str, Reservation] = {}
    spends: dict[str, Spend] = {}
    opening, head = None, NO_HASH
    for position, row in enumerate(rows, start=1):
        match _checked(row, position, head):
            case Opening() as event if position == 1:
                opening = event
            case Reservation() as event if position > 1 and event.id not in reservations:
                reservations[event.id] = event
            case Spend(reservation=name) as event if name in reservations and name not in spends:
                spends[name] = event
            case _:
                raise ValueError(f"row {position} is out of place: a fact that cannot stand there")
        head = row.hash
    if opening is None:
        raise ValueError("row 1 is out of place: the ledger has no opening")
    return History(opening=opening, reservations=tuple(reservations.values()), spends=spends, rows=len(rows), head=head)


def _checked(row: Row, position: int, previous: str) -> Event:
    if row.seq != position:
        raise ValueError(f"row {position} is missing or moved: found row {row.seq} in its place")
    if row.previous != previous:
        raise ValueError(f"row {position} does not follow the row before it: edited or moved")
    if row.hash != digest(row.seq, row.payload, row.previous):
        raise ValueError(f"row {position} was edited: its hash does not fit its content")
    try:
        event = _DECODER.decode(row.payload)
        _ = event.loss  # or it is none
    except ValueError as error:
        raise ValueError(f"row {position} holds no fact of a ledger: {error}") from None
    return event
