"""Lazy frames, datasets and readers of other libraries as streams of Arrow batches; none is collected as a whole."""

from collections.abc import Iterator
from typing import Any

import narwhals as nw
import pyarrow as pa

from dpress.data.sources import frames
from dpress.data.sources.source import BATCH_ROWS
from dpress.data.sources.stream_rows import StreamRows


def stream_of(data: Any) -> StreamRows | None:
    """Return a stream of what is one: a polars LazyFrame, an ibis table, a dataset, a scanner or a reader of Arrow.

    Whatever else has `__arrow_c_stream__` and is no frame that narwhals knows gives its rows once, like a reader.
    """
    kinds = {f"{base.__module__.split('.')[0]}.{base.__name__}" for base in type(data).__mro__}
    if "polars.LazyFrame" in kinds:
        return _stream("the lazy frame", data.collect_schema().names(), lambda columns: _polars(data, columns))
    if "ibis.Table" in kinds:
        read = lambda columns: iter(data.select(columns).to_pyarrow_batches(chunk_size=BATCH_ROWS))  # noqa: E731
        return _stream("the ibis table", data.columns, read)
    if "pyarrow.Dataset" in kinds:
        read = lambda columns: data.to_batches(columns=columns, batch_size=BATCH_ROWS)  # noqa: E731
        return _stream("the dataset", data.schema.names, read)
    if "pyarrow.Scanner" in kinds:
        return _stream("the scanner", data.projected_schema.names, lambda _: data.to_batches())
    if hasattr(data, "__arrow_c_stream__") and not _is_frame(data):
        reader = data if isinstance(data, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(data)
        return _stream("the reader", reader.schema.names, lambda _: iter(reader), once=True)
    return None


def _stream(name: str, present: Any, stream: Any, *, once: bool = False) -> StreamRows:
    return StreamRows(name=name, present=tuple(map(str, present)), stream=stream, once=once)


def _polars(data: Any, columns: list[str]) -> Iterator[pa.RecordBatch]:
    for frame in data.select(columns).collect_batches(chunk_size=BATCH_ROWS):
        yield from frames.arrow(nw.from_native(frame), columns).to_batches()


def _is_frame(data: Any) -> bool:
    try:
        nw.from_native(frames.each_once(data))
    except TypeError:
        return False
    return True
