"""URLs of PostgreSQL, which hold no password: it comes from libpq's own places."""

import re
from urllib.parse import unquote

from dpress.core.basics.extras import load

SCHEMES = ("postgresql", "postgres")
CONNECTION = re.compile(r"\s*(\w+\s*=.*\s)?password\s*=", re.DOTALL)  # as libpq writes it without a URL
LIMITS = {"connect_timeout": 10, "keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3}
"""Seconds for a server to answer at first, and until a lost one is noticed, unless the URL says."""
NO_DATABASE = r'database ".*" does not exist'
NO_ENTRY = r"authentication failed|no password|pg_hba|permission denied|role .* (does not exist|is not permitted)"
"""What a server writes to whom it lets not in: before a connection stands, an error has no code, only a text."""
KEPT_OUT = "the server lets this role not in; passwords come from PGPASSFILE, PGSERVICEFILE or PGPASSWORD"


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
    check_no_password(url, what)
    psycopg = load("psycopg", extra="postgres", need=f"{what} in PostgreSQL needs")
    try:
        stated = psycopg.conninfo.conninfo_to_dict(url)
        missing = {name: value for name, value in LIMITS.items() if name not in stated}
        address: str = psycopg.conninfo.make_conninfo(url, **missing)
    except psycopg.ProgrammingError:
        raise ValueError(f"the URL of {what} is no URL of PostgreSQL: postgresql://USER@HOST/DATABASE") from None
    return address


def check_no_password(url: str, what: str) -> None:
    """Refuse a URL that holds a password, of whatever scheme: it would be kept and shown wherever the URL is.

    Args:
        url: or anything else that names a place.
        what: is there, for messages: "the rows".

    Raises:
        ValueError: it holds one; it is not shown.
    """
    if holds_password(url):
        mysql = url.startswith(("mysql:", "mariadb:"))
        places = "MYSQL_PWD or ~/.my.cnf" if mysql else "PGSERVICEFILE, PGPASSFILE or PGPASSWORD"
        raise ValueError(f"the URL of {what} holds a password; put it into {places}")


def holds_password(url: str) -> bool:
    """Say whether a URL holds a password, as libpq reads it or as somebody may have meant it.

    libpq ends the user's part at an `@` before any `/`; a password with a `/` in it is found by the last `@` before
    the query. The name of a parameter may be written in per cent signs. `name=value` is how libpq writes it without
    a URL. What comes behind a host and is no port is a password whose `@` is not typed yet.

    >>> [holds_password(f"postgresql://{one}") for one in ("ann:pw@host/db", "ann@host:5432/db", "ann:p")]
    [True, False, True]
    """
    _, separator, rest = url.partition("://")
    if not separator:
        return bool(CONNECTION.match(url))
    before = rest.partition("?")[0]
    as_read, as_meant = re.match(r"[^@/]*:[^@/]+@", rest), re.search(":.+@", before)
    typed = is_postgres(url) and re.fullmatch(r"[^@/:\[\]]+:(?!\d*([#,]|$))[^/]*", before)
    return bool(as_read or as_meant or typed) or "password=" in unquote(rest)


def mentions_password(text: str) -> bool:
    """Say whether a text for people holds a URL with a password.

    >>> mentions_password("see https://example.org:80/x, ask ann@example.org"), mentions_password("from db://a:pw@h/x")
    (False, True)
    """
    return any(
        re.match(r"[^@/]*:[^@/]+@", rest) or "password=" in unquote(rest)
        for _, separator, rest in (word.partition("://") for word in text.split())
        if separator
    )
