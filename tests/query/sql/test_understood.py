"""What a statement asks of a release is what it asks of the rows: the same statement in DuckDB says the same.

The noise of this release is nearly always 0. Groups in which nobody is are in the release, and not in DuckDB's answer.
"""

import datetime as dt
import re
import tomllib
from pathlib import Path

import pytest
from tests.query.sql.visits import by_duckdb, release

PARTS = tomllib.loads(Path(__file__).with_name("understood.toml").read_text(encoding="utf-8"))["part"]
STATEMENTS = [statement for part in PARTS for statement in part["statements"]]


def normal(value: object) -> object:
    """One form of a value, whether a whole number is an integer or not, and whether a day has an hour."""
    if isinstance(value, dt.datetime):
        return value.date()
    return round(float(value), 6) if isinstance(value, int | float) and not isinstance(value, bool) else value


def by_release(statement: str) -> list[tuple]:
    answer = release().sql(statement)
    hidden = re.compile(".*(_error|_low|_high)")
    names = [name for name in answer.table.column_names if not hidden.fullmatch(name)]
    rows = zip(*(answer.table[name].to_pylist() for name in names), strict=True)
    keys = [place for place, name in enumerate(names) if name not in answer.numbers]
    first = len(keys) if keys else None
    return [row for row in rows if first is None or any(value not in (0.0, None) for value in row[first:])]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_release_answers_as_the_rows_do(statement: str) -> None:
    ours, theirs = by_release(statement), by_duckdb(statement)
    assert theirs
    order = (
        (lambda rows: rows)
        if "order by" in statement.rsplit("within group", maxsplit=1)[-1]
        else (lambda rows: sorted(rows, key=str))
    )
    plain = [[tuple(normal(value) for value in row) for row in rows] for rows in (ours, theirs)]
    assert order(plain[0]) == order(plain[1])
