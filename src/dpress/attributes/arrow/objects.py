"""Columns whose values each have a type of their own, as Python objects have, in one Arrow type that hides none.

objects -> what each one is, alone (`attributes.value`) -> a struct of its kind and its text -> each by itself again.
"""

import contextlib
import json
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.attributes.value import EXACT, Kind, Value, read, text_of, written

KIND, TEXT = "dpress_kind", "dpress_text"
UNKNOWN = len(Kind)  # a text that cannot be written in UTF-8: no listed value and no number, yet not missing
SET = UNKNOWN + 1  # a set of values, as a JSON list of their kinds and texts: missing to all but who asks for sets
NOTHING = (UNKNOWN, "")  # in a set what is no value: an other one, as what is not listed
SETS = (list, tuple, set, frozenset, np.ndarray)
TYPE = pa.struct([(KIND, pa.int8()), (TEXT, pa.string())])


def column(values: Sequence[Any], reading: Callable[[Any], Value | None] = read) -> pa.Array:
    """Return Python objects as texts where they are nothing else, otherwise as values of our own type.

    Both give every value the same cell.

    Args:
        values: the objects.
        reading: says what one is; None where it is missing. A text is itself.
    """
    with contextlib.suppress(TypeError, UnicodeEncodeError, pa.ArrowInvalid):  # of what is no text in UTF-8
        return pa.array(values, type=pa.string(), from_pandas=True)
    stored = [_stored_set(value) if isinstance(value, SETS) else _stored(reading(value)) for value in values]
    kinds = pa.array([None if pair is None else pair[0] for pair in stored], type=pa.int8())
    texts = pa.array([None if pair is None else pair[1] for pair in stored], type=pa.string())
    return pa.StructArray.from_arrays([kinds, texts], names=[KIND, TEXT], mask=kinds.is_null())


def _stored_set(value: Any) -> tuple[int, str]:
    return SET, json.dumps([_stored(read(member)) or NOTHING for member in value if member is not None])


def sets(values: pa.Array, split: Callable[[str], list[str]]) -> pa.Array:
    """Return the sets of a column of our own type as lists of that type; null where a value is missing.

    Args:
        values: the column.
        split: gives the values of a set that is one text; any other value is alone.
    """
    kinds, texts_, there = (part.to_pylist() for part in (values.field(KIND), values.field(TEXT), values.is_valid()))
    rows = zip(kinds, texts_, there, strict=True)
    held = [_members(kind, text, split) if valid else None for kind, text, valid in rows]
    return pa.array(held, type=pa.list_(TYPE))


def _members(kind: int, text: str, split: Callable[[str], list[str]]) -> list[tuple[int, str]]:
    if kind == SET:
        return [(member_kind, content) for member_kind, content in json.loads(text)]
    return [(kind, part) for part in split(text)] if kind in (Kind.TEXT, UNKNOWN) else [(kind, text)]


def together(parts: Iterable[pa.Array]) -> pa.ChunkedArray:
    """Return columns that `column` made, one after the other, as one of one type."""
    columns = list(parts)
    if len({part.type for part in columns}) > 1:
        columns = [part if is_ours(part.type) else _as_ours(part) for part in columns]
    return pa.chunked_array(columns)


def is_ours(kind: pa.DataType) -> bool:
    """Return whether a column's type is the one that `column` makes, also after an engine has passed it on."""
    return bool(pa.types.is_struct(kind)) and [field.name for field in kind] == [KIND, TEXT]


def each(values: pa.Array, function: Callable[[Value], float], missing: float) -> npt.NDArray[Any]:
    """Return a function of every value of our own type, made once for each different one.

    Args:
        values: a column of our own type.
        function: the function.
        missing: what stands where a value is missing.
    """
    kinds = values.field(KIND).to_pylist()
    texts = values.field(TEXT).to_pylist()
    valid = values.is_valid().to_pylist()
    by_key: dict[tuple[int, str], float] = {}
    out = np.full(len(values), missing)
    for place, key in enumerate(zip(kinds, texts, strict=True)):
        if valid[place] and key[0] != SET:
            if key not in by_key:
                by_key[key] = function(_restored(*key))
            out[place] = by_key[key]
    return out


def with_numbers(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    """Return a batch in which some columns, numbers that an engine has written as text, are values of our own type."""
    for name in columns:
        held = _as_ours(batch.column(name).cast(pa.string()), Kind.NUMBER)
        batch = batch.set_column(batch.schema.get_field_index(name), name, held)
    return batch


def with_large(column: pa.Array) -> pa.Array:
    """Return 64-bit integers, none missing, as values of our own type in which those of 2^53 and more are large.

    Those equal no listed value, as a float that stands for them would; persons still differ in every digit.
    """
    numbers = np.asarray(column)
    kinds = np.where((numbers >= EXACT) | (numbers <= -EXACT), int(Kind.LARGE), int(Kind.NUMBER)).astype(np.int8)
    return pa.StructArray.from_arrays([pa.array(kinds), column.cast(pa.string())], names=[KIND, TEXT])


def written_out(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return integers that an engine has written as text as values of our own type."""
    return pa.chunked_array([_as_ours(chunk.cast(pa.string()), Kind.NUMBER) for chunk in texts.chunks])


def _as_ours(texts: pa.Array, kind: Kind = Kind.TEXT) -> pa.Array:
    kinds = pa.array(np.full(len(texts), int(kind), dtype=np.int8))
    return pa.StructArray.from_arrays([kinds, texts], names=[KIND, TEXT], mask=texts.is_null())


def _stored(value: Value | None) -> tuple[int, str] | None:
    if value is None:
        return None
    text = written(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        return UNKNOWN, ascii(text)
    return int(value.kind), text


def _restored(kind: int, text: str) -> Value:
    if kind == UNKNOWN:
        return Value(Kind.TEXT, "\ud800")  # which no specification lists: it is UTF-8
    if kind in (Kind.NUMBER, Kind.ROUNDED, Kind.LARGE):
        return Value(Kind(kind), Decimal(text))
    if kind == Kind.TEXT:
        return Value(Kind.TEXT, text)
    return Value(Kind(kind), text == "true" if kind == Kind.TRUTH else int(text))


def texts(values: pa.Array) -> pa.Array:
    """Return the texts, integers and truths of our own type as texts; null for every other value."""
    pairs = zip(
        values.field(KIND).to_pylist(), values.field(TEXT).to_pylist(), values.is_valid().to_pylist(), strict=True
    )
    named = (Kind.TEXT, Kind.NUMBER, Kind.TRUTH)
    held = [(kind, text) if valid and kind in named else None for kind, text, valid in pairs]
    written_as = {pair: text_of(_restored(*pair)) for pair in set(held) if pair is not None}
    return pa.array([None if pair is None else written_as[pair] for pair in held], type=pa.large_string())


def once_each(column: pa.Array, text: Callable[[Any], str | None]) -> pa.Array:
    """Return a text for every value of a column, made once for each different one."""
    encoded = column.dictionary_encode("encode")
    return pa.array([text(value) for value in encoded.dictionary.to_pylist()], pa.large_string()).take(encoded.indices)
