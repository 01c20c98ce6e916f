"""Statements as a command takes them, written out or in a file, and where one is refused."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import click

from dpress.core.basics import regular_file
from dpress.query.sql.sql_refusal import SqlRefusal


def text_of(sql: str) -> str:
    """Return statements as they are, or those of a file that ends in .sql."""
    return regular_file.read(Path(sql)).decode() if sql.endswith(".sql") else sql


@contextlib.contextmanager
def marked(*, quiet: bool) -> Iterator[None]:
    """Show the line of a statement that is refused, with a mark below the place, before the refusal."""
    try:
        yield
    except SqlRefusal as refusal:
        if refusal.caret and not quiet:
            click.echo(refusal.caret, err=True)
        raise
