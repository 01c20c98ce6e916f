"""Why the numbers of a statement err as they do: every query that it asks of a release, explained."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dpress.attributes.domain import Schema
from dpress.query.explained import Explanation, explanation, together
from dpress.query.published_tables import CONFIDENCE
from dpress.query.release import Release
from dpress.query.sql.answer import columns_of_release, grouped, number_of
from dpress.query.sql.reader import statements
from dpress.query.sql.statement import Statement

if TYPE_CHECKING:
    from dpress.query.sql.statements_folder import Statements

Explained = tuple[Explanation, ...]


def of_release(
    release: Release, text: str, *, only: Sequence[int] | None = None, joined: bool = False
) -> list[Explained]:
    """Explain the numbers of every statement of a text; groups that `having` and `limit` leave out are among them.

    Args:
        release: that is asked.
        text: SQL.
        only: the places of the statements, from 0; all unless stated.
        joined: as of `answer.answers`.

    Raises:
        SqlRefusal, ValueError: see `answer.answers`.
    """
    columns = columns_of_release(release, text, joined=joined)
    return [
        together(_each(release, statement, Schema(columns.attributes)))
        for statement in statements(text, columns, only=only)
    ]


def of_statement(folder: "Statements", number: int) -> list[Explained]:
    """Explain the answer to one of the statements that a folder of releases answers; its files have the release's name.

    Args:
        folder: of the releases.
        number: of the statement, from 1.

    Raises:
        ValueError: there is no such statement.
    """
    name = folder.answering(number)
    return [
        _within(name, each) for each in of_release(folder.release(name), folder.sql, only=[number - 1], joined=True)
    ]


def of_further(folder: "Statements", text: str) -> list[Explained]:
    """Explain the answers to further statements, from the first of the releases that has them.

    Raises:
        SqlRefusal, ValueError: no release answers.
    """
    name, explained = folder.first(lambda release: of_release(release, text))
    return [_within(name, each) for each in explained]


def _each(release: Release, statement: Statement, schema: Schema) -> Iterator[Explanation]:
    for _, queries in grouped(statement, schema):
        for number, query in queries:
            result = number_of(release, query, CONFIDENCE)
            yield explanation(release, query, result, number.name, number.factor)


def _within(name: str, explained: Explained) -> Explained:
    """Return explanations whose files lie in the folder of a release."""
    return tuple(
        replace(each, sources=tuple(replace(source, file=f"{name}/{source.file}") for source in each.sources))
        for each in explained
    )
