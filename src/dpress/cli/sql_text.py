"""Statements as a command takes them: written out, or in a file."""

from pathlib import Path

from dpress.core.basics import regular_file


def text_of(sql: str) -> str:
    """Return statements as they are, or those of a file that ends in .sql."""
    return regular_file.read(Path(sql)).decode() if sql.endswith(".sql") else sql
