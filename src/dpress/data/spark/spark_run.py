"""Work in pieces on Spark: a kernel on every piece at some worker, the results in the pieces' order."""

import itertools
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import pyarrow as pa

from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.sources.spark_failure import collected
from dpress.data.sources.spark_session import active_session, quiet
from dpress.data.spark.partial_sums import KINDS

TOGETHER = 256  # pieces of a job, whose results the driver holds at once
NAME = "the pieces"
ANSWERS = "place bigint, result binary, refusal string"
TYPES = {"place": pa.int64(), "result": pa.binary(), "refusal": pa.string()}

T = TypeVar("T")
R = TypeVar("R")


def on_spark(kernel: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
    """Yield the results in the items' order, as `core.reports.pieces.on_threads` does: a job for every TOGETHER items.

    Args:
        kernel: pure; it and its results can be pickled.
        items: that can be pickled; the files that they name are reached by all workers under the same paths.

    Raises:
        NotSupported: pyspark or Java is missing.
        OSError: Spark failed.
        SchemaMismatch, NotSupported: the kernel refused a piece: of several the first.
    """
    remaining = iter(items)
    while some := list(itertools.islice(remaining, TOGETHER)):
        yield from _job(kernel, some)


def _job(kernel: Callable[[T], R], items: list[T]) -> list[R]:
    from pyspark import cloudpickle  # noqa: PLC0415  # optional

    dumps: Callable[[Any], bytes] = cloudpickle.dumps

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for place in (place for batch in batches for place in batch.column(0).to_pylist()):
            result, refusal = None, None
            try:
                result = dumps(kernel(items[place]))
            except (SchemaMismatch, NotSupported) as error:
                refusal = f"{type(error).__name__} {error}"
            row = {"place": place, "result": result, "refusal": refusal}
            yield pa.record_batch({name: pa.array([row[name]], type=kind) for name, kind in TYPES.items()})

    session = active_session()
    with quiet():
        pieces = session.range(0, len(items), 1, len(items))
        answers = collected(NAME, lambda: pieces.mapInArrow(work, ANSWERS)).sort_by("place")
    return [_result(row) for row in answers.to_pylist()]


def _result(row: dict[str, Any]) -> Any:
    if row["refusal"] is not None:
        kind, _, text = row["refusal"].partition(" ")
        raise KINDS[kind](text)
    return pickle.loads(row["result"])  # noqa: S301  # of a worker of ours
