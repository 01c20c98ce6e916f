"""A column of persons as what its values are compared by: 64-bit words, or bytes; the same person has the same, always.

Arrow column -> its type says how -> words where 64 bits hold every value, else bytes. Nothing is hashed here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.arrow.objects import KIND, TEXT, is_ours
from dpress.attributes.value import Kind
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec.inferred import has_lost_digits, is_inferred

Words = npt.NDArray[np.uint64]
TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
NO_WORDS: Words = np.zeros(0, dtype=np.uint64)
NO_BYTES = np.zeros(0, dtype=np.uint8)
NO_ENDS = np.zeros(0, dtype=np.uint64)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonColumn:
    """The persons of some rows: `words`, or the bytes `content[ends[i] : ends[i + 1]]`, whichever are given.

    Args:
        words: shape (rows,), empty where the persons are bytes.
        content: the bytes of all rows.
        ends: shape (rows + 1,), empty where the persons are words.
    """

    words: Words = field(default_factory=lambda: NO_WORDS)
    content: npt.NDArray[np.uint8] = field(default_factory=lambda: NO_BYTES)
    ends: npt.NDArray[np.uint64] = field(default_factory=lambda: NO_ENDS)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return max(self.words.size, self.ends.size - 1)


def person_column(name: str, values: pa.Array) -> PersonColumn:
    """Return the persons of a column by value: two rows of one type have one person where their values are equal.

    Texts are equal byte by byte, floats as numbers (-0.0 is 0.0), decimals of one scale as their digits.

    Args:
        name: of the column.
        values: of any type that `persons.identity` names, or a dictionary of one.

    Raises:
        SchemaMismatch: a value is missing or NaN, or an object that is a float of 2^53 or more; or no value of this
            type has one text.
    """
    if not len(values):
        return PersonColumn()
    if isinstance(values, pa.ExtensionArray):
        values = values.storage if values.type.extension_name in ("arrow.uuid", "arrow.json") else values
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if is_ours(values.type):
        parts = dict(zip((field.name for field in values.type), values.flatten(), strict=True))
        if pc.any(pc.equal(parts[KIND], int(Kind.ROUNDED))).as_py():
            raise no_digits(name)
        values = parts[TEXT]
    if pa.types.is_null(values.type):
        raise no_person(name)
    persons = _converted(name, values)
    if values.null_count:
        raise no_person(name)
    return persons


def persons_of(columns: Sequence[str], batch: pa.RecordBatch) -> PersonColumn:
    """Return the persons of some rows: by one column, or by several together.

    Of several every value stands at its length or its width, one after the other: ("a", "bc") is not ("ab", "c").

    Raises:
        SchemaMismatch: see `person_column`; where any part is missing there is no person. Or a library has made floats
            of the persons, for which integers of 2^53 and more may have been merged.
    """
    for name in columns:
        if is_inferred(batch.schema.field(name)) and has_lost_digits(batch.column(name)):
            raise no_digits(name)
    persons = [person_column(name, batch.column(name)) for name in columns]
    if len(persons) == 1 or not batch.num_rows:
        return persons[0]
    parts = [part for column in persons for part in _measured(column)]
    return _bytes(pc.binary_join_element_wise(*parts, pa.scalar(b"", pa.large_binary())))


def _measured(column: PersonColumn) -> list[pa.Array]:
    """Return what tells persons apart in a list of several: words, or texts after their lengths; shape (rows,) each."""
    words = column.words if column.words.size else np.diff(column.ends)
    width, rows = words.itemsize, words.size
    ends = np.arange(0, width * (rows + 1), width, dtype=np.int64)
    fixed = pa.Array.from_buffers(pa.large_binary(), rows, [None, pa.py_buffer(ends), pa.py_buffer(words)])
    if column.words.size:
        return [fixed]
    buffers = [None, pa.py_buffer(column.ends.astype(np.int64)), pa.py_buffer(column.content)]
    return [fixed, pa.Array.from_buffers(pa.large_binary(), rows, buffers)]


def no_person(name: str) -> SchemaMismatch:
    """Return the refusal of a row without a person."""
    return SchemaMismatch(f"a row has no {name!r}; every row needs its person")


def no_digits(name: str) -> SchemaMismatch:
    """Return the refusal of persons of whom several may have become one before they were read."""
    return SchemaMismatch(
        f"{name!r} has a float of 2^53 or more, which may stand for several persons; give them as integers or texts"
    )


def _converted(name: str, values: pa.Array) -> PersonColumn:
    kind, types = values.type, pa.types
    if types.is_date(kind) or types.is_time(kind) or types.is_timestamp(kind):
        values = values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if types.is_integer(values.type) or types.is_boolean(kind):
        return _words(values)
    if types.is_floating(kind):
        return _floats(name, values)
    if types.is_decimal(kind) or types.is_fixed_size_binary(kind):
        return _fixed(values)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        values = values.cast(pa.binary())
    if any(is_text(values.type) for is_text in TEXTS):
        return _bytes(values.cast(pa.large_binary()))
    raise SchemaMismatch(f"the column {name!r} of type {kind} names no persons; convert it to text first")


def _words(values: pa.Array) -> PersonColumn:
    """Return integers as words; negative ones in two's complement."""
    unsigned = pa.types.is_unsigned_integer(values.type) or pa.types.is_boolean(values.type)
    whole = values.fill_null(False if pa.types.is_boolean(values.type) else 0)
    numbers = np.asarray(whole.to_numpy(zero_copy_only=False))
    wide = numbers.astype(np.uint64 if unsigned else np.int64, copy=False)
    return PersonColumn(words=np.ascontiguousarray(wide).view(np.uint64))


def _floats(name: str, values: pa.Array) -> PersonColumn:
    numbers = np.asarray(values.to_numpy(zero_copy_only=False)).astype(np.float64)
    if np.isnan(numbers).any():
        raise no_person(name)
    return PersonColumn(words=(numbers + 0.0).view(np.uint64))  # -0.0 + 0.0 is 0.0


def _fixed(values: pa.Array) -> PersonColumn:
    """Return values that all have as many bytes."""
    width, buffer = values.type.bit_width // 8, values.buffers()[1]
    content = NO_BYTES if buffer is None else np.frombuffer(buffer, dtype=np.uint8)
    begin = values.offset * width
    ends = np.arange(begin, begin + width * len(values) + 1, width, dtype=np.uint64)
    return PersonColumn(content=content, ends=ends)


def _bytes(values: pa.Array) -> PersonColumn:
    """Return texts or bytes of any length, without a copy of what they hold."""
    _, ends, content = values.buffers()
    places = np.frombuffer(ends, dtype=np.uint64)[values.offset : values.offset + len(values) + 1]
    return PersonColumn(content=NO_BYTES if content is None else np.frombuffer(content, dtype=np.uint8), ends=places)
