"""Answers statements: every group of every set of keys is asked for each number, as `query` asks a release.

`statement.Statement`, release -> results -> a table of published values -> what `having` and the like leave of it.
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from dpress.attributes.domain import Schema
from dpress.query.boxes import possible
from dpress.query.queries_by import MOST
from dpress.query.query_tree import Condition, Query, both
from dpress.query.release import Release
from dpress.query.result import Result
from dpress.query.sql.columns import Columns
from dpress.query.sql.reader import statements
from dpress.query.sql.sql_refusal import SqlRefusal
from dpress.query.sql.sql_table import SqlTable, column, number_columns
from dpress.query.sql.statement import Group, Number, Statement, Value

OUTWARDS: tuple[Callable[[float], float], ...] = (math.ceil, math.floor, math.ceil)
WAYS: tuple[Callable[[float], float], ...] = (round, *OUTWARDS, *OUTWARDS)
"""How a number, its errors and the ends of its intervals are rounded: outwards, so that they hold what they held."""
Row = dict[str, Any]
Place = tuple[tuple[Value, ...], str]
"""Of a number: the values of its group's keys, and its name."""
Ask = Callable[[Place, Query], Result]


class Unanswered(ValueError):
    """Nothing in a release answers a number of a statement.

    Args:
        message: why, in the words of queries.
        query: the number.
    """

    def __init__(self, message: str, query: Query) -> None:
        """Keep the number beside the message."""
        super().__init__(message)
        self.query = query


def answers(
    release: Release, text: str, confidence: float, *, only: Sequence[int] | None = None, joined: bool = False
) -> tuple[SqlTable, ...]:
    """Return the answer to every statement of a text.

    Error: of every number that of `Release.query` for the same rows; each interval holds by itself.

    Args:
        release: that is asked.
        text: SQL over one table, whose name does not matter.
        confidence: of the intervals.
        only: the places of the statements that are answered, from 0; all unless stated.
        joined: whether the release was planned for these statements, which may be over tables that are joined.

    Raises:
        SqlRefusal: a statement cannot be read, or is of a form that has no answer.
        ValueError: nothing in the release answers it.
    """
    columns = columns_of_release(release, text, joined=joined)
    read = statements(text, columns, only=only)

    def ask(place: Place, query: Query) -> Result:
        del place
        return number_of(release, query, confidence)

    return tuple(answered(statement, Schema(columns.attributes), ask, confidence) for statement in read)


def number_of(release: Release, query: Query, confidence: float) -> Result:
    """Return a number of a statement; see `Release.answered`.

    Raises:
        Unanswered: nothing in the release answers it.
    """
    try:
        return release.answered(query, confidence)
    except ValueError as fault:
        raise Unanswered(str(fault), query) from None


def columns_of_release(release: Release, text: str, *, joined: bool = False) -> Columns:
    """Return the columns that statements over a release have; `joined` as of `answers`."""
    attributes = release.answers.columns or release.schema.tabular
    return Columns(
        text=text,
        attributes=tuple(attributes),
        unit=release.claim.unit.columns,
        joined=joined,
        weight=release.answers.weighted,
    )


def answered(statement: Statement, schema: Schema, ask: Ask, confidence: float) -> SqlTable:
    """Return the answer to a statement.

    Args:
        statement: that was read.
        schema: its columns.
        ask: answers a query; of a number of a group, which it is given as well.
        confidence: of the intervals.

    Raises:
        SqlRefusal: it has too many groups.
        ValueError: a query has no answer.
    """
    groups = sum(math.prod(len(statement.keys[place].values) for place in places) for places in statement.sets)
    if groups > MOST:
        raise SqlRefusal(f"{groups:,} groups, at most {MOST:,}; the release's tables have all", statement.text)
    notes: dict[str, dict[str, None]] = {}  # with the names of the numbers that they are about
    rows, sampled = list[Row](), set[str]()
    for group, queries in grouped(statement, schema):
        row: Row = dict(zip((key.name for key in statement.keys), group.values, strict=True))
        row |= {_all_of(place): place not in group.places for place in range(len(statement.keys))}
        for number, query in queries:
            result = ask((group.values, number.name), query)
            row |= _columns(number, result)
            sampled |= {number.name} if result.sampling is not None else set()
            for note in _notes(result):
                notes.setdefault(note, {})[number.name] = None
        rows.append(row)
    whole, named = _behind(statement, _table(statement, rows)), {(key.name, key.attributes) for key in statement.keys}
    table = _shown(statement, whole, sampled)
    left_out = {
        key.name: whole[_all_of(place)] for place, key in enumerate(statement.keys) if key.name in statement.shown
    }
    return SqlTable(
        statement=statement.text,
        table=table,
        numbers=tuple(number.name for number in statement.numbers if number.name in statement.shown),
        confidence=confidence,
        notes=tuple(_note_of(note, list(names), statement) for note, names in notes.items()),
        left_out=left_out,
        attributes=tuple(each for each in schema.tabular if (each.name, (each.name,)) in named),
    )


def grouped(statement: Statement, schema: Schema) -> Iterator[tuple[Group, list[tuple[Number, Query]]]]:
    """Yield every group, with each number and the query that it is the answer to."""
    for group in statement.groups():
        where = group.where
        if group.places and where is not None and not possible(schema, where):  # as SQL has no row of such a group
            continue
        queries = (replace(number.query, where=_joined(number.query.where, where)) for number in statement.numbers)
        yield group, list(zip(statement.numbers, queries, strict=True))


def _joined(rows: Condition | None, others: Condition | None) -> Condition | None:
    return others if rows is None else both(rows, others)


def _notes(result: Result) -> Iterator[str]:
    """Yield what is to be known of a result: its note, and that its interval holds what cells leave open."""
    if result.note:
        yield result.note
    if result.bin_width:
        yield "Numbers are known to within their cells, and intervals hold wherever in them they lie."


def _note_of(note: str, names: Sequence[str], statement: Statement) -> str:
    """Return a note, with the numbers that it is about where it is not about all."""
    return note if len(names) == len(statement.numbers) else f"{', '.join(names)}: {note}"


def _columns(number: Number, result: Result) -> Row:
    """Return a number with its errors and intervals, times its factor; None where nothing is known."""
    spreads = [(result.standard_error, result.interval), (math.nan, (math.nan, math.nan))]
    if result.sampling is not None and result.population is not None:
        spreads[1] = result.sampling, result.population
    values = [number.factor * result.value]
    for error, ends in spreads:
        values += [abs(number.factor) * error, *sorted(number.factor * end for end in ends)]
    columns = zip(number_columns(number.name, sampled=True), values, WAYS, strict=True)
    return {name: _rounded(value, number.places, way) for name, value, way in columns}


def _rounded(value: float, places: int | None, way: Callable[[float], float]) -> float | None:
    """Return a number to some decimal places; None where it is none."""
    if not math.isfinite(value):
        return None
    return value if places is None else float(round(way(round(value * 10.0**places, 9)) / 10.0**places, max(places, 0)))


def _table(statement: Statement, rows: Sequence[Row]) -> pa.Table:
    """Return all rows with all columns, also those that are not shown."""
    keys = {key.name: column([row[key.name] for row in rows]) for key in statement.keys}
    for place in range(len(statement.keys)):
        keys[_all_of(place)] = pa.array([row[_all_of(place)] for row in rows], type=pa.bool_())
    names = [name for number in statement.numbers for name in number_columns(number.name, sampled=True)]
    return pa.table(keys | {name: pa.array([row[name] for row in rows], type=pa.float64()) for name in names})


def _behind(statement: Statement, table: pa.Table) -> pa.Table:
    """Return what `having`, `order by` and `limit` leave."""
    if statement.behind:
        import duckdb  # noqa: PLC0415  # only where the published values are ordered or left out

        with duckdb.connect() as connection:
            connection.register("answers", table)
            table = connection.sql(f"SELECT * FROM answers {statement.behind}").to_arrow_table()  # noqa: S608  # of the tree
    return table


def _all_of(place: int) -> str:
    """Return the column that says in which rows a key is left out, so that they are about all its values."""
    return f"\N{FULL BLOCK} all {place}"


def _shown(statement: Statement, table: pa.Table, sampled: Collection[str]) -> pa.Table:
    """Return the columns that are shown; of some numbers with the error of sampling."""
    keys = {key.name for key in statement.keys}
    return table.select(
        [
            name
            for each in statement.shown
            for name in ((each,) if each in keys else number_columns(each, sampled=each in sampled))
        ]
    )
