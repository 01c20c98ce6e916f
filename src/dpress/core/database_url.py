"""URLs of PostgreSQL, which hold no password: it comes from libpq's own places."""

import re
from urllib.parse import unquote

from dpress.core.extras import load

SCHEMES = ("postgresql", "postgres")
LIMITS = {"connect_timeout": 10, "keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3}
"""Seconds for a server to answer at first, and until a lost one is noticed, unless the URL says."""


def is_postgres(text: str) -> bool:
    """Say whether a text is meant as a URL of PostgreSQL.

    >>> is_postgres("postgresql://host/database"), is_postgres("budget.db")
    (True, False)
    """
    return text.partition(":")[0] in SCHEMES


def connectable(url: str, what: str) -> str:
    """Return what libpq connects to, with limits to the time that a server may be silent.

    Args:
        url: `postgresql://...`; what it leaves out comes from libpq's own places.
        what: is kept there, for messages: "the ledger".

    Raises:
        ValueError: the URL holds a password, or is none; it is not shown.
        NotSupported: the driver is not installed.
    """
    if _holds_password(url):
        raise ValueError(f"the URL of {what} holds a password; put it into PGSERVICEFILE, PGPASSFILE or PGPASSWORD")
    psycopg = load("psycopg", extra="postgres", need=f"{what} in PostgreSQL needs")
    try:
        stated = psycopg.conninfo.conninfo_to_dict(url)
        missing = {name: value for name, value in LIMITS.items() if name not in stated}
        found: str = psycopg.conninfo.make_conninfo(url, **missing)
    except psycopg.ProgrammingError:
        raise ValueError(f"the URL of {what} is no URL of PostgreSQL: postgresql://USER@HOST/DATABASE") from None
    return found


def _holds_password(url: str) -> bool:
    """Say whether a URL holds a password, as libpq reads it or as somebody may have meant it.

    libpq ends the user's part at an `@` before any `/`; a password with a `/` in it is found by the last `@` before
    the query. The name of a parameter may be written in per cent signs.
    """
    rest = url.partition("://")[2]
    as_read, as_meant = re.match(r"[^@/]*:[^@/]+@", rest), re.search(":.+@", rest.partition("?")[0])
    return bool(as_read or as_meant) or "password=" in unquote(rest)
