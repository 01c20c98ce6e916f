"""Data frames and relations as Arrow tables of the columns that are read, no value's type inferred from another's.

pyarrow, DuckDB and polars declare a column's type, which is public, but for polars' objects. pandas infers: where a
column holds objects, or values that would be objects in other company, each is read by itself (`codec.objects`);
integers that would be floats in other company are read as these floats where those have lost digits.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.arrow import objects
from dpress.attributes.value import EXACT, Kind, Value, read
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec import inferred

ROWS = 1 << 17  # objects that are turned into columns at a time
DECLARED = re.compile(r"(String|Arrow|Boolean|U?Int\d+|Float\d+)Dtype")  # pandas types whose values are all of one


def frame_of(data: Any) -> Any:
    """Return a frame that narwhals knows.

    Raises:
        SchemaMismatch: it is none.
    """
    try:
        frame = nw.from_native(each_once(data))
        pandas = frame.implementation.is_pandas_like()
        named = not pandas or all(isinstance(name, str) for name in frame.to_native().columns)
        return frame if named else nw.from_native(frame.to_native().rename(columns=str))
    except TypeError:
        raise SchemaMismatch(
            f"data must be a path or a pandas, polars, pyarrow or DuckDB table, got {type(data).__name__}"
        ) from None


def names_of(data: Any) -> list[str]:
    """Return the names of all columns of what a library holds, one of them as often as it occurs."""
    native = nw.to_native(data, pass_through=True)
    return [str(name) for name in (native.column_names if hasattr(native, "column_names") else native.columns)]


def each_once(data: Any) -> Any:
    """Return a table without the columns whose name several have: whoever needs one of them is refused by its name."""
    native = nw.to_native(data, pass_through=True)
    if not hasattr(native, "columns"):
        return data
    names = names_of(data)
    kept = [place for place, name in enumerate(names) if names.count(name) == 1]
    if len(kept) == len(names):
        return data
    return native.select(kept) if hasattr(native, "column_names") else native.iloc[:, kept]


def arrow(frame: Any, columns: Sequence[str]) -> pa.Table:
    """Return some columns of a frame."""
    chosen = frame.select(list(columns))
    if frame.implementation.is_pandas_like():
        pandas = chosen.to_pandas()
        held = [_column(pandas[name]) for name in columns]
        fields = [inferred.field(name, column.type) for name, column in zip(columns, held, strict=True)]
        return pa.Table.from_arrays(held, schema=pa.schema(fields))
    types = frame.collect_schema()
    wide = [name for name in columns if _wide(types[name], frame.implementation)]
    chosen = chosen.with_columns(nw.col(name).cast(nw.String) for name in wide) if wide else chosen
    eager = chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen
    table = eager.to_arrow()
    for place, name in enumerate(columns):
        if name in wide:
            table = table.set_column(place, name, objects.written_out(table[name]))
        elif types[name] == nw.Object:
            table = table.set_column(place, name, _each(eager[name].to_list()))
    return table


def _wide(kind: Any, library: Any) -> bool:
    """Return whether integers of more than 64 bits would reach Arrow as others, or not at all."""
    return bool(kind == nw.UInt128 or (kind == nw.Int128 and library.is_polars()))


def _column(series: Any) -> pa.ChunkedArray:
    """Return a pandas column: numbers and texts as they are, everything else value by value."""
    kind = series.dtype
    if hasattr(series, "cat"):
        return _categorical(series)
    plain = isinstance(kind, np.dtype) and kind.kind in "iufb" and kind.itemsize <= 8
    if (plain or DECLARED.fullmatch(type(kind).__name__)) and (declared := _declared(series)) is not None:
        return _integers(declared) if plain and kind.kind in "iu" else declared
    return _each(series.to_numpy(dtype=object), _as_a_float)


def _each(values: Any, reading: Callable[[Any], Value | None] = read) -> pa.ChunkedArray:
    """Return a sequence of objects, each read by itself."""
    starts = range(0, max(1, len(values)), ROWS)
    return objects.together(objects.column(values[start : start + ROWS], reading) for start in starts)


def _as_a_float(value: Any) -> Value | None:
    """Return what a value is; of an integer of 64 bits what a float of it would be, but for the digits.

    These tell persons apart. Longer integers are objects in any company.
    """
    plain = read(value)
    if plain is None or not isinstance(value, (int, np.integer)):
        return plain
    large = abs(int(value)) >= EXACT and -(1 << 63) <= int(value) < 1 << 64
    return Value(Kind.LARGE, plain.content) if large else plain


def _integers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return pandas' own integers, which a missing value would make floats: see `_as_a_float`."""
    ends = pc.min_max(column).as_py()
    if all(end is None or abs(end) < EXACT for end in ends.values()):
        return column
    return pa.chunked_array([objects.with_large(chunk) for chunk in column.chunks])


def _declared(series: Any) -> pa.ChunkedArray | None:
    try:
        column = pa.array(series, from_pandas=True)
    except UnicodeEncodeError:  # a text that Arrow cannot hold: each by itself
        return None
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _categorical(series: Any) -> pa.ChunkedArray:
    places = np.asarray(series.cat.codes, dtype=np.int64)
    values = objects.column(list(series.cat.categories.astype(object)), _as_a_float)
    indices = pa.array(places, mask=places < 0)
    if objects.is_ours(values.type):
        return pa.chunked_array([values.take(indices)])
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, values)])
