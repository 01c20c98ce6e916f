"""The shares of a ledger's limit that its analysts have: together within it, each spent by its analyst alone.

A share is an amount of the limit's first parameter. What no analyst has a share of pays for charges without an analyst,
so that nobody's share can be spent by somebody else. Every share is priced by itself, as if there were no other charge:
the price of all charges together is at most the sum of those prices.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics import check
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.near import meant
from dpress.ledger.compose import Charge, total
from dpress.ledger.event import History, Opening, Rationals, Reservation

NOBODY = ""  # stands for the analyst of a charge that names none


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What an analyst may spend and has spent, in the limit's first parameter, exact."""

    limit: Fraction
    spent: Fraction

    @property
    def remaining(self) -> Fraction:
        """What is left of it."""
        return self.limit - self.spent


def written_shares(analysts: Mapping[str, check.Number], limit: Loss) -> Rationals:
    """Return shares as the first fact of a ledger keeps them.

    Args:
        analysts: the share of each, by name.
        limit: of the ledger.

    Raises:
        ValueError: a name is none, a share is no amount, or together they are more than the limit.

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> written_shares({"ada": 0.5, "ben": "1/4"}, PureDP(epsilon=1))
    {'ada': '1/2', 'ben': '1/4'}
    """
    name = limit.names[0]
    for analyst in analysts:
        check.line("analyst", analyst)
        if not analyst.strip():
            raise ValueError("an analyst needs a name, such as ada=0.5")
    shares = {analyst: check.loss_parameter(name, share) for analyst, share in analysts.items()}
    if (together := sum(shares.values(), Fraction(0))) > limit.amount:
        raise ValueError(
            f"the analysts' shares are {name} = {check.float_up(together):g} together, more than the limit of "
            f"{name} = {check.float_up(limit.amount):g}"
        )
    return {analyst: f"{share.numerator}/{share.denominator}" for analyst, share in shares.items()}


def charge_of(reservation: Reservation) -> Charge:
    """Return what a reservation costs, as `compose` adds it up."""
    return Charge(loss=reservation.loss, partition=reservation.partition, touched=reservation.touched)


def limits_of(opening: Opening) -> dict[str, Fraction]:
    """Return the share of every analyst, and of `NOBODY` what is left beside them; empty where there are no shares."""
    shares = {analyst: Fraction(share) for analyst, share in opening.analysts.items()}
    return shares and {**shares, NOBODY: opening.loss.amount - sum(shares.values())}


def share_after(history: History, analyst: str, charges: Sequence[Charge] = ()) -> Share | None:
    """Return an analyst's share as it is once further charges are made; None where the ledger has no shares.

    Raises:
        ValueError: the ledger has no such analyst, or cannot pay for such a loss.
    """
    limits = limits_of(history.opening)
    if analyst not in limits:
        if not limits and analyst == NOBODY:
            return None
        names = [name for name in limits if name != NOBODY]
        listed = f"its analysts are {', '.join(names)}" if names else "dpress ledger create --analyst gives shares"
        raise ValueError(f"the ledger has no share for the analyst {analyst!r}; {listed}{meant(analyst, names)}")
    of_analyst = [kept.analyst == analyst for kept in history.reservations] + [True] * len(charges)
    limit, unit = history.opening.loss, history.opening.unit
    every = [*(charge_of(kept) for kept in history.reservations), *charges]
    spent = total(every, limit, unit, of_analyst.__getitem__)[limit.names[0]] if any(of_analyst) else Fraction(0)
    return Share(limit=limits[analyst], spent=spent)


def shares_of(history: History) -> dict[str, Share]:
    """Return the share of every analyst, and of `NOBODY`; empty where there are no shares."""
    return {
        analyst: share for analyst in limits_of(history.opening) if (share := share_after(history, analyst)) is not None
    }
