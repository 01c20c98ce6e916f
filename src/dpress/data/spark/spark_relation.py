"""A DataFrame as a relation that statements are written about, and statements that its own session runs."""

import secrets
from collections.abc import Sequence
from typing import Any

from dpress.data.sources.spark_frame import SparkFrame
from dpress.data.spark.spark_failure import without_message
from dpress.data.spark.spark_session import quiet
from dpress.data.sql.coded_rows import Relation

NAME = f"dpress_{secrets.token_hex(16)}"  # of the rows in a statement: no text of a specification contains it


def relation_of(source: SparkFrame, columns: Sequence[str]) -> Relation:
    """Return some columns of a DataFrame as a relation."""
    schema = without_message(source.name, lambda: source.frame.schema)
    declared = {name: schema[name].dataType.simpleString() for name in columns}
    return Relation(query=f"SELECT * FROM {NAME}", declared=declared, dialect="spark")  # noqa: S608  # a name of ours


def result(source: SparkFrame, statement: str) -> Any:
    """Return the DataFrame of a statement about `relation_of(source, ...)`; nothing is counted yet.

    Raises:
        OSError: Spark refuses it.
    """
    marked = statement.replace("{", "{{").replace("}", "}}").replace(NAME, f"{{{NAME}}}")
    with quiet():
        return without_message(source.name, lambda: source.frame.sparkSession.sql(marked, **{NAME: source.frame}))
