"""Prepare, charge, draw, write: the one order in which all that draws of a table is run.

`prepare`, which may refuse the rows -> the charge -> `draw` -> the ledger confirms it -> `finish`, which writes.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dpress.core.basics import rng as generators
from dpress.core.basics.claim import Unit
from dpress.core.basics.clock import now
from dpress.core.basics.errors import BudgetExceeded, SchemaMismatch
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.refusal import LeftBehind
from dpress.core.basics.rng import Generator
from dpress.ledger.ledger import Ledger, Verification, verify

if TYPE_CHECKING:
    from dpress.release.curator.unfinished import Unfinished

Output = TypeVar("Output")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What pays, and for what.

    Args:
        ledger: that pays; a place where there is none yet, which gets one; None where nothing guards the table.
        limit: of a new ledger.
        price: what is charged.
        unit: whom the promise protects.
        line: what the ledger writes beside the charge, as `Ledger.reserve` takes it.
    """

    ledger: Ledger | str | Path | None
    limit: Loss
    price: Loss
    unit: Unit
    line: Mapping[str, Any]

    def stands(self, kept: "Unfinished | None") -> str:
        """Return what a failure after the charge leaves behind."""
        words = f"the charge of {describe(self.price)} stands"
        return words if kept is None else f"{words}, and publishing it again finishes it without another"

    def charged(self, ledger: Ledger, ticket: str, kept: "Unfinished | None") -> str:
        """Charge a ledger, unless the ticket was paid for, and return the reservation.

        Raises:
            BudgetExceeded, ValueError, OSError: see `Ledger.reserve`; or the ticket is of another charge.
        """
        if not ticket or (before := ledger.paid(ticket)) is None:
            try:
                return ledger.reserve(self.price, self.unit, ticket=ticket, **self.line)
            except (BudgetExceeded, ValueError):  # nothing was charged, and nothing is kept
                if kept is not None:
                    kept.remove()
                raise
        if (before.loss, before.design) != (self.price, self.line["design"]):
            raise ValueError(f"reservation {ticket} of {ledger.path} paid for another release")
        return ticket

    def opened(self) -> Ledger | None:
        """Return the ledger, a new one where there is none yet."""
        if self.ledger is None or isinstance(self.ledger, Ledger):
            return self.ledger
        try:
            return Ledger.create(self.ledger, limit=self.limit, unit=self.unit)
        except FileExistsError:  # another process was faster; its ledger decides
            return Ledger.open(self.ledger)


def paid(
    prepare: Callable[[], Callable[[Generator], Output]],
    account: Account,
    finish: Callable[[Output, Generator, Verification | None], Result],
    *,
    rng: Generator | None = None,
    kept: "Unfinished | None" = None,
) -> Result:
    """Return what `finish` makes of what was drawn, which was charged before; what is charged stands from then on.

    Args:
        prepare: reads the rows, draws nothing, and returns what draws; where it refuses, nothing is charged.
        account: pays.
        finish: takes what was drawn, the generator, and the ledger as it is then, where there is one.
        rng: left out, a secure generator.
        kept: what finishes a release that was stopped; None where nothing does, and where there is a generator.

    Raises:
        BudgetExceeded: the ledger cannot pay; nothing was charged or drawn.
        ValueError: `rng` is no generator of ours; nothing was read or charged.
    """
    if rng is not None:
        generators.or_secure(rng)  # refuses it before anything is read
    with _noting("nothing was charged", KeyboardInterrupt, MemoryError), _going_on(kept):
        draw = prepare()
    generator, ticket = (generators.or_secure(rng), "") if kept is None else kept.draws()
    ledger, stands = account.opened(), account.stands(kept)
    with _noting("nothing was written" if ledger is None else stands, KeyboardInterrupt):
        reservation = None if ledger is None else account.charged(ledger, ticket, kept)
        with _noting(stands, Exception):
            output = _drawn(draw, generator, stands)
            then = _confirmed(ledger, reservation, stands) if ledger and reservation else None
            finished = finish(output, generator, then)
    if kept is not None:
        kept.remove()
    return finished


@contextlib.contextmanager
def _going_on(kept: "Unfinished | None") -> Iterator[None]:
    """Say of a count that is stopped whether it goes on; keep nothing of rows that are refused."""
    try:
        yield
    except ValueError:
        if kept is not None and not kept.drawing:
            kept.remove()
        raise
    except BaseException as stop:
        if kept is not None and kept.begun and not kept.drawing:
            stop.add_note(LeftBehind("publishing it again goes on with the count"))
        raise


@contextlib.contextmanager
def _noting(words: str, *causes: type[BaseException]) -> Iterator[None]:
    """Say of an interruption or a failure what it leaves behind, unless its message does."""
    try:
        yield
    except causes as stop:
        if words not in str(stop):
            stop.add_note(LeftBehind(words))
        raise


def _drawn(draw: Callable[[Generator], Output], rng: Generator, stands: str) -> Output:
    """Return what was drawn; where the rows cannot be read a second time, say that the charge stands."""
    try:
        return draw(rng)
    except (OSError, SchemaMismatch) as error:
        raise type(error)(f"{error}; noise may have been drawn, so {stands}") from None


def _confirmed(ledger: Ledger, reservation: str, stands: str) -> Verification:
    """Confirm that noise was drawn; return the ledger as it is then."""
    try:
        if (entry := ledger.paid(reservation)) is None or not entry.confirmed:
            ledger.spend(reservation, now())
        return verify(ledger.path)
    except OSError as error:
        raise OSError(f"{error}; noise was drawn, so {stands}") from None
