"""The time that a release, and an entry of a ledger, is stamped with."""

import datetime as dt


def now() -> str:
    """Return the time in UTC, ISO 8601, to the second."""
    return dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds")
