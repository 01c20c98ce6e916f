"""The ledger: a limit, and every loss ever charged against it, in one place that cannot be overspent or refunded.

check -> reserve (charged, on disk) -> noise is drawn -> spend (confirmed).

Each call opens the file or a connection, checks the whole chain of hashes and closes it again, so threads and forks
are safe.
The chain finds any edit that does not recompute every later hash and leaves later lines behind: not a tail that was cut
off. A head hash that was kept elsewhere, as every release keeps one, finds those as well.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from dpress.core.basics import check
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import BudgetExceeded
from dpress.core.basics.losses.any_loss import parameters
from dpress.core.basics.losses.loss import Amounts, Loss
from dpress.core.basics.losses.read import LOSSES
from dpress.ledger.analysts import NOBODY, Share, charge_of, share_after, shares_of, written_shares
from dpress.ledger.compose import Charge, fits, total, totals
from dpress.ledger.event import Event, History, Opening, Reservation, Row, Spend, now, replay, write_loss
from dpress.ledger.store import located, store_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One charge as `Ledger.summary` lists it.

    `confirmed` says that its noise was drawn, `remaining` what it and all before it left of the limit; `release`,
    `spec`, `who` and `analyst` are empty where they were not given.
    """

    reservation: str
    time: str
    label: str
    design: str
    loss: Loss
    partition: str | None
    confirmed: bool
    note: str | None
    release: str
    spec: str
    who: str
    analyst: str
    remaining: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The account of a ledger: `spent` and `remaining` are exact, by the names of the limit's parameters.

    `shares` are those of the analysts, and under "" what is beside them; empty where the ledger has none.
    """

    limit: Loss
    unit: Unit
    spent: Amounts
    remaining: Amounts
    entries: tuple[Entry, ...]
    rows: int
    head: str
    shares: Mapping[str, Share]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of a check: the number of rows of an unbroken chain, and the hashes of the first and the last one.

    The first one names the ledger: copies of it share that, and no other ledger. A row is the limit, a charge, or that
    the noise of a charge was drawn.
    """

    rows: int
    charges: int
    drawn: int
    first: str
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """An append-only account of privacy losses in a SQLite file, or in PostgreSQL.

    Args:
        path: the file, or the URL of the database.

    >>> import tempfile
    >>> from dpress.core.basics.losses.pure import PureDP
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger.create(Path(folder) / "budget.db", limit=PureDP(epsilon=1), unit=Unit())
    ...     ticket = ledger.reserve(PureDP(epsilon=0.4), Unit(), label="identity", design="")
    ...     ledger.spend(ticket, "release-1")
    ...     ledger.summary().remaining
    {'epsilon': Fraction(3, 5)}
    """

    path: Path | str

    @staticmethod
    def exists(path: str | os.PathLike[str]) -> bool:
        """Say whether there is a ledger, or something else in its place.

        Raises:
            ValueError: a URL that is none of PostgreSQL, or that holds a password.
            OSError: the database cannot be asked.
        """
        return store_at(path).exists()

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        limit: Loss,
        unit: Unit,
        analysts: Mapping[str, check.Number] = MappingProxyType({}),
    ) -> "Ledger":
        """Start a ledger in a new file, or in a database that has none.

        Args:
            path: the file, or `postgresql://...`, whose password comes from libpq's own places.
            limit: what may be spent at most.
            unit: whom it protects.
            analysts: the shares of the limit that some have, by name, in its first parameter; charges that name no
                analyst are paid from what is beside them.

        Raises:
            ValueError: the limit is no privacy loss, the unit is none, or the shares are more than the limit.
            FileExistsError: there is one.
            OSError: it cannot be written.
        """
        if not isinstance(limit, LOSSES):
            raise ValueError(f"limit must be a privacy loss such as PureDP(epsilon=1), got limit={limit!r}")
        if not isinstance(unit, Unit):
            raise ValueError(f'unit must be a Unit such as Unit() or Unit(column="uid", rows=3), got unit={unit!r}')
        opening = Opening(
            time=now(),
            limit=write_loss(limit),
            relation=unit.relation,
            column=unit.column,
            rows=unit.rows,
            also=unit.also,
            analysts=written_shares(analysts, limit),
        )
        store_at(path).create(opening)
        return cls(path=located(path))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Ledger":
        """Open an existing ledger and check its chain.

        Raises:
            OSError: there is none, or it cannot be read.
            ValueError: not a ledger, or an edited one.
        """
        verify(path)
        return cls(path=located(path))

    @classmethod
    def at(cls, place: "Ledger | str | os.PathLike[str] | None") -> "Ledger | None":
        """Return a ledger as it is, or the one at a place; None where there is none yet.

        Raises:
            OSError, ValueError: see `open`.
        """
        if place is None or isinstance(place, Ledger):
            return place
        return cls.open(place) if cls.exists(place) else None

    def check(
        self, loss: Loss, unit: Unit, partition: str | None = None, touched: int | None = None, analyst: str = NOBODY
    ) -> None:
        """Raise what `reserve` would raise now; write nothing."""
        self.check_all([Charge(loss=loss, partition=partition, touched=touched)], unit, analyst)

    def check_all(self, charges: Sequence[Charge], unit: Unit, analyst: str = NOBODY) -> None:
        """Raise what one of several calls of `reserve` would raise now; write nothing."""
        _afford(_history(self.path), charges, unit, analyst)

    def reserve(
        self,
        loss: Loss,
        unit: Unit,
        *,
        label: str,
        design: str,
        partition: str | None = None,
        touched: int | None = None,
        release: str = "",
        spec: str = "",
        who: str = "",
        analyst: str = NOBODY,
        ticket: str = "",
    ) -> str:
        """Charge a loss, for ever, and return the reservation's id; call it before the noise is drawn.

        Price, refusal and charge happen in one transaction that only one process holds; it is on disk on return. What
        names the charge is that of `event.Reservation`; its id is `ticket`, a new one where none is given.

        Raises:
            BudgetExceeded: the limit, or the analyst's share of it, does not allow it; nothing was charged.
            ValueError: another unit, a loss that the limit's kind cannot pay, an analyst without a share, or an edited
                ledger.
            OSError: it cannot be written, or other processes hold it for too long. No noise may be drawn; the charge
                may stand where the message says so.
        """
        ticket, charge = ticket or self.ticket(), Charge(loss=loss, partition=partition, touched=touched)

        def decide(rows: Sequence[Row]) -> Event:
            _afford(_replayed(self.path, rows), [charge], unit, analyst)
            return Reservation(
                time=now(),
                id=ticket,
                price=write_loss(loss),
                label=label,
                design=design,
                partition=partition,
                release=release,
                spec=spec,
                who=who,
                touched=touched,
                analyst=analyst,
            )

        store_at(self.path).append(decide)
        return ticket

    @staticmethod
    def ticket() -> str:
        """Return a new id of a reservation."""
        return os.urandom(8).hex()

    def paid(self, ticket: str) -> Entry | None:
        """Return the charge of this id; None where there is none."""
        return next((entry for entry in self.summary().entries if entry.reservation == ticket), None)

    def spend(self, reservation: str, note: str) -> None:
        """Confirm that the noise of a reservation was drawn; `note` is free text, e.g. the release's id.

        Raises:
            ValueError: no such reservation, or confirmed before.
        """

        def decide(rows: Sequence[Row]) -> Event:
            history = _replayed(self.path, rows)
            if reservation in history.spends:
                raise ValueError(
                    f"reservation {reservation} is confirmed already; noise needs a reservation of its own"
                )
            if all(reservation != kept.id for kept in history.reservations):
                raise ValueError(f"no reservation {reservation} in {self.path}; use the id that reserve returned")
            return Spend(time=now(), reservation=reservation, note=note)

        store_at(self.path).append(decide)

    def summary(self) -> Summary:
        """Return the limit, what is spent and left of it, and every charge."""
        history = _history(self.path)
        limit, unit, charges = history.opening.loss, history.opening.unit, _charges(history)
        left = [_left(spent, limit) for spent in totals(charges, limit, unit)]
        pairs = zip(history.reservations, left, strict=True)
        spent = total(charges, limit, unit)
        return Summary(
            limit=limit,
            unit=unit,
            spent=spent,
            remaining=_left(spent, limit),
            entries=tuple(_entry(reservation, history, remaining) for reservation, remaining in pairs),
            rows=history.rows,
            head=history.head,
            shares=shares_of(history),
        )


def verify(
    path: str | os.PathLike[str], *, head: str | None = None, kept: Mapping[str, str] | None = None
) -> Verification:
    """Check every row of the ledger at `path` against the chain of hashes.

    Rows cut off the end leave an unbroken chain behind: only a head that was noted elsewhere finds that.

    Args:
        path: the ledger's file or URL.
        head: the head hash noted earlier; it must still be in the chain, else rows were cut off or rewritten.
        kept: further such hashes, by the name of what keeps them.

    Raises:
        ValueError: names the first bad row.
        OSError: there is none, or it cannot be read.
    """
    rows = store_at(path).rows()
    history = _replayed(path, rows)
    chain = {row.hash for row in rows}
    if head is not None and head not in chain:
        raise ValueError(
            f"{path}: row {history.rows + 1} is missing, or earlier rows were rewritten: no row has hash {head}"
        )
    if lost := [name for name, row in (kept or {}).items() if row not in chain]:
        raise ValueError(
            f"{path}: rows were cut off or rewritten, or another ledger paid: no row has the head that {lost[0]} keeps"
            + (f" (nor those of {len(lost) - 1} more)" if lost[1:] else "")
        )
    charges, drawn = len(history.reservations), len(history.spends)
    return Verification(rows=history.rows, charges=charges, drawn=drawn, first=rows[0].hash, head=history.head)


def _history(path: Path | str) -> History:
    return _replayed(path, store_at(path).rows())


def _replayed(path: str | os.PathLike[str], rows: Sequence[Row]) -> History:
    try:
        return replay(rows)
    except ValueError as error:
        raise ValueError(f"{path}: {error}; the ledger was edited, restore it from a copy") from None


def _charges(history: History) -> list[Charge]:
    return [charge_of(reservation) for reservation in history.reservations]


def _left(spent: Amounts, limit: Loss) -> Amounts:
    return {name: value - spent[name] for name, value in parameters(limit).items()}


def _spent(history: History) -> Amounts:
    return total(_charges(history), history.opening.loss, history.opening.unit)


def _afford(history: History, charges: Sequence[Charge], unit: Unit, analyst: str) -> None:
    limit, protected = history.opening.loss, history.opening.unit
    same = unit.relation is protected.relation and {*unit.columns} == {*protected.columns}
    if not same or unit.rows < protected.rows:  # more rows hold for fewer
        raise ValueError(f"the ledger protects {_whom(protected)}; the loss must be stated for that, got {_whom(unit)}")
    after = total([*_charges(history), *charges], limit, protected)
    if not fits(after, limit):
        raise _exceeded("limit", parameters(limit), _spent(history), charges, after)
    share = share_after(history, analyst, charges)
    if share is not None and share.remaining < 0:
        before, name = share_after(history, analyst) or share, limit.names[0]
        whose = f"share of {analyst}" if analyst else "what no analyst has a share of,"
        raise _exceeded(whose, {name: share.limit}, {name: before.spent}, charges, {name: share.spent})


def _exceeded(
    whose: str, limit: Amounts, spent: Amounts, charges: Sequence[Charge], together: Amounts
) -> BudgetExceeded:
    """Return why further charges cannot be paid: what there was, what is spent of it and what was asked."""
    sizes = dict.fromkeys(_shown(parameters(charge.loss)) for charge in charges)
    parts = f" for {len(charges)} parts" if charges[1:] else ""
    return BudgetExceeded(
        f"budget exceeded: {whose} {_shown(limit)}; spent {_shown(spent)}; "
        f"asked {' and '.join(sizes)}{parts}; together {_shown(together)}"
    )


def _whom(unit: Unit) -> str:
    protected = "one row" if unit.column is None else f"a {unit.name} with at most {unit.rows} rows"
    return f"{protected} under {unit.relation}"


def _shown(amounts: Amounts) -> str:
    return ", ".join(f"{name} = {_ceiling(value)}" for name, value in amounts.items())


def _ceiling(value: Fraction) -> str:
    """Return a number >= 0 with 12 digits, rounded up."""
    digits = Context(prec=12, rounding=ROUND_CEILING)
    shown = digits.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(digits)
    return f"{shown:e}" if 0 < shown < Decimal("1e-4") else f"{shown:f}"


def _entry(reservation: Reservation, history: History, remaining: Amounts) -> Entry:
    spend = history.spends.get(reservation.id)
    return Entry(
        reservation=reservation.id,
        time=reservation.time,
        label=reservation.label,
        design=reservation.design,
        loss=reservation.loss,
        partition=reservation.partition,
        confirmed=spend is not None,
        note=None if spend is None else spend.note,
        release=reservation.release,
        spec=reservation.spec,
        who=reservation.who,
        analyst=reservation.analyst,
        remaining=remaining,
    )
