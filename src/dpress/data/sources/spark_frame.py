"""Rows of a Spark DataFrame, as its session plans them; they reach this process only where they are asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dpress.data.sources.source import BATCH_ROWS, check_columns, without_quotes

NAME = "the Spark DataFrame"


def is_spark_frame(data: Any) -> bool:
    """Return whether data are a Spark DataFrame, without importing Spark."""
    kinds = type(data).__mro__
    return any(kind.__module__.startswith("pyspark.sql.") and kind.__name__ == "DataFrame" for kind in kinds)


@dataclass(frozen=True, slots=True)
class SparkFrame:
    """A DataFrame of Spark.

    Args:
        frame: of a session.
    """

    frame: Any

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return NAME

    @property
    def stable(self) -> bool:
        """False: Spark may return rows in another order."""
        return False

    @property
    def portable(self) -> bool:
        """False: a plan belongs to its session."""
        return False

    def stamp(self) -> None:
        """Return nothing: what a plan reads may change unseen."""

    def columns(self) -> list[str]:
        """Return the names of all columns."""
        return without_quotes(NAME, lambda: [str(name) for name in self.frame.columns])

    def parts(self, columns: Sequence[str]) -> Sequence["SparkPart"]:
        """Return all rows."""
        check_columns(NAME, columns, self.columns())
        return [SparkPart(frame=self.frame, columns=tuple(columns))]


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkPart:
    """All rows of a DataFrame.

    Args:
        frame: of a session.
        columns: that are read.
    """

    frame: Any
    columns: tuple[str, ...]

    def chosen(self) -> Any:
        """Return the DataFrame of these columns alone."""
        return self.frame.select(*("`" + name.replace("`", "``") + "`" for name in self.columns))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows; all of them reach this process."""
        from dpress.data.spark.spark_session import quiet  # noqa: PLC0415  # only with Spark

        with quiet():
            table = without_quotes(NAME, lambda: self.chosen().toArrow())
        yield from table.to_batches(max_chunksize=BATCH_ROWS)
