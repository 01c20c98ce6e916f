"""The table or view of a database that a source names behind `#`, and nothing else: a query is none.

shop.duckdb#visits -> the database and the name -> the name as SQL has it.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.near import meant
from dpress.data.sources.sql_text import quoted

PART = r'"(?:[^"]|"")+"|[^\s".,;()]+'
NAME = re.compile(rf"(?:{PART})(?:\.(?:{PART}))*")
SEVERAL = re.compile(r"\sjoin\s|,", re.IGNORECASE)
QUERY = re.compile(r"\s*(select|with|from|values|table)\s", re.IGNORECASE)
SHOWN = 20  # tables that a message names
WHY = (
    "a query is not read, for it may mix the rows of several persons unseen: make a view whose rows are each one "
    "person's own, with the `unit` column, and name that"
)


def relation(name: str, database: str) -> str:
    """Return a name as SQL has it, in the capitals that it is given in.

    >>> relation("ward.visits", "shop.duckdb"), relation('"a b"', "shop.duckdb")
    ('"ward"."visits"', '"a b"')

    Args:
        name: of a table or view, behind that of its schema and a point; in double quotes where it has other signs;
            empty where none was named, which is refused when its columns are asked for.
        database: that it is in, for the message.

    Raises:
        SchemaMismatch: it is no name.
    """
    return ".".join(map(quoted, parts(name, database)))


def parts(name: str, database: str) -> list[str]:
    """Return the parts of a name, without quotes; see `relation`."""
    if name and not NAME.fullmatch(name):
        raise SchemaMismatch(
            f'expected the name of a table or view behind "#" of {database}, in double quotes if it has blanks; {WHY}'
        )
    return [_plain(part) for part in re.findall(PART, name)]


def split(data: str) -> tuple[str, str]:
    """Return where rows are, and the name of the table or sheet there; empty where none is named.

    >>> split("shop.duckdb#visits"), split("rows.csv"), split('a.db#"b#c"')
    (('shop.duckdb', 'visits'), ('rows.csv', ''), ('a.db', '"b#c"'))
    """
    place, _, name = data.partition("#")
    return place, name


def is_joined(name: str) -> bool:
    """Return whether several tables stand behind `#`.

    >>> is_joined("visits join persons using (person_id)"), is_joined('"a join b"')
    (True, False)
    """
    return SEVERAL.search(re.sub('"[^"]*"', "", name)) is not None


def missing(name: str, database: str, present: Sequence[str]) -> str:
    """Return what to say where a database has no such table, or none was named; the names of tables are public.

    >>> missing("visit", "shop.duckdb", ["visits"])
    "shop.duckdb has no table or view 'visit' that can be read; it has visits; did you mean 'visits'?"
    """
    there = ", ".join(present[:SHOWN]) + (", ..." if len(present) > SHOWN else "") if present else "none"
    if not name:
        return f'{database}: expected the name of a table or view behind "#", as in {database}#visits; it has {there}'
    return f"{database} has no table or view {name!r} that can be read; it has {there}{meant(name, present)}"


def check_query(data: str) -> None:
    """Refuse a query where rows are to be named; a file that is there may be called "table 1.csv".

    Raises:
        SchemaMismatch: it is one.
    """
    if QUERY.match(data) and not Path(data).exists():
        raise SchemaMismatch(f"expected a file, a folder or a database as the source of rows; {WHY}")


def _plain(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part
