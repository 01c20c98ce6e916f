"""What `--sql` prints and writes: a table for every statement, and where a statement is refused, its place."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dpress.cli import reasons
from dpress.cli.output import counting, print_json, print_table
from dpress.cli.sql_text import marked, text_of
from dpress.core.basics.new_path import new_file
from dpress.query.load import load_release
from dpress.query.sql.explained_statements import Explained, of_further, of_release, of_statement
from dpress.query.sql.sql_table import FREE, SqlTable
from dpress.query.sql.statements_folder import is_statements, load_statements, sql_tables


def show(
    release: str,
    sql: str | None,
    statement: int | None,
    confidence: float,
    *,
    csv: str | None,
    parquet: str | None,
    titles: bool,
    explain: bool,
    as_json: bool,
) -> None:
    """Answer statements about a release.

    Args:
        release: its folder, or that of releases which answer statements.
        sql: the statements, or a file of them.
        statement: instead, the number of one that the folder answers.
        confidence: of the intervals.
        csv: a new file for the answer.
        parquet: another one.
        titles: whether the CSV has titles.
        explain: whether every answer is explained.
        as_json: whether JSON is printed.

    Raises:
        ValueError: a statement is refused; its place is shown first.
    """
    for path in (csv, parquet):
        if path is not None:
            new_file(path, "an answer is")
    with marked(quiet=as_json), counting(quiet=as_json):
        tables = _answered(release, sql, statement, confidence)
        explained = _explained(release, sql, statement) if explain else [()] * len(tables)
    if len(tables) > 1 and (csv or parquet):
        raise ValueError(f"a file holds the answer to one statement, got {len(tables)}")
    _write(tables[0], csv, parquet, titles=titles)
    if as_json:
        print_json([plain_answer(*each) for each in zip(tables, explained, strict=True)])
        return
    for table, each in zip(tables, explained, strict=True):
        print_answer(table)
        if explain:
            click.echo()
            reasons.show(each)
    click.echo(FREE)


def _answered(release: str, sql: str | None, statement: int | None, confidence: float) -> Sequence[SqlTable]:
    """Return the answers, from one release or from those of statements."""
    if sql is None:
        return [load_statements(release).answer(statement or 0, confidence=confidence)]
    return sql_tables(release, text_of(sql), confidence=confidence)


def _explained(release: str, sql: str | None, statement: int | None) -> list[Explained]:
    """Return why the answers err as they do, of each statement in turn."""
    if sql is None:
        return of_statement(load_statements(release), statement or 0)
    if is_statements(release):
        return of_further(load_statements(release), text_of(sql))
    return of_release(load_release(release), text_of(sql))


def _write(table: SqlTable, csv: str | None, parquet: str | None, *, titles: bool) -> None:
    if csv is not None:
        Path(csv).write_bytes(table.to_csv(titles=titles))
    if parquet is not None:
        import pyarrow.parquet as pq  # noqa: PLC0415  # slow to load, and seldom asked for

        pq.write_table(table.table, parquet)


def print_answer(table: SqlTable) -> None:
    """Print a table: every number with its standard error and its interval in a column each."""
    print_table(table.table.column_names, table.rows, numbers=table.number_places)
    for note in table.notes:
        click.echo(note)


def plain_answer(table: SqlTable, explained: Explained = ()) -> dict[str, Any]:
    """Return an answer for JSON: null where nothing is known."""
    rows: Sequence[dict[str, Any]] = table.table.to_pylist()
    return {
        "statement": table.statement,
        "confidence": table.confidence,
        "rows": [{name: _finite(value) for name, value in row.items()} for row in rows],
        "notes": [*table.notes],
        "charged": 0,
        **({"explained": [*map(reasons.plain, explained)]} if explained else {}),
    }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
