"""What PostgreSQL says of a failure, as one line without its text: that may hold rows, addresses or names."""

import re

import psycopg

from dpress.core.basics.database_url import KEPT_OUT, NO_DATABASE, NO_ENTRY

_LOST = {"57P01", "57P02", "57P03", "57P05", "25P03"}  # the server ends the connection, or is not ready yet
_ROLLED_BACK = ("23", "40")  # classes: another line has this number; the transaction has to be done again
_FULL = r"too many (clients|connections)|remaining connection slots|starting up|shutting down|recovery mode"
_STATES: dict[str, tuple[type[Exception], str]] = {
    "42501": (
        PermissionError,
        "this role may not do that; it needs SELECT and INSERT on dpress_ledger, to create one CREATE on the schema",
    ),
    "25006": (PermissionError, "this server only reads; name the one that writes"),
    "55P03": (TimeoutError, "it was locked by other processes for {seconds:g} s; try again later"),
    "57014": (TimeoutError, "the server cancelled the statement, nothing was added; try again later"),
    "53100": (OSError, "no space left on the server; nothing was added, free some space and ask again"),
    "3F000": (FileNotFoundError, "the schema that the URL names is not there; create it first"),
    "42P01": (ValueError, "the ledger is damaged: a table is missing; restore it from a copy"),
    "42703": (ValueError, "the ledger is damaged: a column is missing; restore it from a copy"),
}
_CONNECTING: tuple[tuple[str, type[Exception], str], ...] = (
    (_FULL, TimeoutError, "the server took no connection for {seconds:g} s; try again later"),
    (NO_DATABASE, FileNotFoundError, "the server has no such database; create it first"),
    (NO_ENTRY, PermissionError, KEPT_OUT),
    ("", ConnectionError, "no connection to the server; check the host, the port and the network"),
)
"""Before a connection stands, an error has no code, only a text: what a server in another language says is the last."""


def passes(error: psycopg.Error, *, answered: bool) -> bool:
    """Say whether the same may succeed a moment later; nothing was added, or it will be looked for.

    Args:
        error: that the driver raised.
        answered: the server let this process in before.
    """
    if (state := error.sqlstate) is not None:
        return state in _LOST or state.startswith(_ROLLED_BACK)
    words, *_ = _at_the_door(error)
    return words == _FULL or (answered and not words and isinstance(error, psycopg.OperationalError))


def refusal(error: psycopg.Error, url: str, *, seconds: float, sent: bool) -> Exception:
    """Return the same failure as one line.

    Args:
        error: that the driver raised.
        url: of the ledger, without a password.
        seconds: it was tried.
        sent: a commit was asked for, and its answer was lost.
    """
    if sent:
        return ConnectionError(
            f"ledger {url}: the connection was lost during a commit, so what was to be added may stand; "
            "look at the ledger before asking again"
        )
    if error.sqlstate is None:
        _, kind, text = _at_the_door(error)
    else:
        other = (OSError, f"PostgreSQL refused with code {error.sqlstate}; nothing was added")
        kind, text = _STATES.get(error.sqlstate, other)
    return kind(f"ledger {url}: {text.format(seconds=seconds)}")


def _at_the_door(error: psycopg.Error) -> tuple[str, type[Exception], str]:
    """Return what kept a process from connecting."""
    reason = str(error)
    return next(refusal for refusal in _CONNECTING if re.search(refusal[0], reason))
