"""What went wrong at Spark, in one line: its own message may quote rows, and is looked at but never shown."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from dpress.core.basics.errors import NotSupported, SchemaMismatch

LOST = "an executor was lost again and again, probably for want of memory; raise spark.executor.memory"
SIGNS = {
    "maxResultSize": "the sums are larger than spark.driver.maxResultSize; raise it, or use `bins`",
    "OutOfMemoryError": "memory ran out; raise spark.driver.memory and spark.executor.memory, or use `bins`",
    "No module named 'dpress'": "the executors have no dpress, which files and records need there (tables of a "
    "DataFrame do not): pack an environment or an image with it, as `Rows in Spark` of the documentation shows",
    "FileNotFoundError": "an executor does not see the files; all must reach them under the same path, as on a shared "
    "file system, or Spark reads them itself: hand over spark.read.parquet(...)",
    "PermissionError": "an executor may not read the files",
    "Cannot run program": "the executors have no Python at the path of PYSPARK_PYTHON; set it to theirs",
    "PYTHON_VERSION_MISMATCH": "the executors run another Python than the driver; set PYSPARK_PYTHON",
    "ExecutorLostFailure": LOST,
    "crashed": LOST,
    "exited unexpectedly": LOST,
}
OTHERWISE = "a task failed at every attempt, or the cluster is gone; Spark's logs say more"


def collected(name: str, frame: Callable[[], Any]) -> pa.Table:
    """Return all rows of a DataFrame; an error of Spark's becomes one line that quotes nothing.

    The original is not even attached as the new error's context.

    Args:
        name: of the rows.
        frame: makes the DataFrame.

    Raises:
        OSError: it failed.
    """
    reason = OTHERWISE
    try:
        return _arrow(frame())
    except (SchemaMismatch, NotSupported):
        raise
    except Exception as error:  # noqa: BLE001  # whatever an engine raises may quote the rows
        message = str(error)
        reason = next((line for sign, line in SIGNS.items() if sign in message), OTHERWISE)
    raise OSError(f"Spark could not count {name}: {reason} (its message is withheld: it may quote rows)")


def _arrow(frame: Any) -> pa.Table:
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415  # of pyspark 3.5, which has no `toArrow`

    batches = frame._collect_as_arrow()  # noqa: SLF001  # there is no other way
    return pa.Table.from_batches(batches, None if batches else to_arrow_schema(frame.schema))
