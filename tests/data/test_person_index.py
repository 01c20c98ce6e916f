"""Persons have one number each, by value, whatever the hash of their words or bytes."""

import datetime as dt
import itertools
import uuid
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from nasty_values import NASTY

from dpress.attributes.arrow import objects
from dpress.attributes.value import Kind, read, written
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.persons import person_kernels
from dpress.data.persons.person_columns import person_column
from dpress.data.persons.person_index import HASHES, PersonIndex

DAY = dt.date(2020, 1, 1)
MOMENT = dt.datetime(2020, 1, 1, 12, 0, 0, 1)
TEXTS = ["a", "A", "a ", " a", "ä", "a\u0308", "", "\x00", "a\x00", "1", "1.0", "b" * 300, "b" * 299 + "c", "a"]
NUMBERS = [7.0, 7.5, -0.0, 0.0, 5e-324, -5e-324, 1e300, float("inf"), float("-inf"), 2.0**53, 2.0**53 + 2, 7.0, 0.1]
WIDE = (Decimal(10) ** 50, Decimal(10) ** 50 + 1)
UUIDS = pa.array([uuid.UUID(int=number).bytes for number in (1, 2, 1)], pa.binary(16))
COLUMNS = {
    "texts": pa.array(TEXTS),
    "large texts": pa.array(TEXTS, pa.large_string()),
    "text views": pa.array(TEXTS, pa.string_view()),
    "dictionary": pa.array(TEXTS).dictionary_encode(),
    "bytes": pa.array([one.encode() for one in TEXTS]),
    "byte views": pa.array([one.encode() for one in TEXTS], pa.binary_view()),
    "of four bytes": pa.array([b"abcd", b"abce", b"\0\0\0\0", b"abcd"], pa.binary(4)),
    "floats": pa.array(NUMBERS),
    "short floats": pa.array([0.1, -0.0, 0.0, 7.0, 0.1], pa.float32()),
    "half floats": pa.array(np.array([0.5, -0.0, 0.0, 0.5], dtype=np.float16)),
    "integers": pa.array([0, -1, 1, 2**63 - 1, -(2**63), 2**53, 2**53 + 1, -1]),
    "unsigned": pa.array([0, 2**64 - 1, 2**63, 2**63 + 1, 2**64 - 1], pa.uint64()),
    "bytes of integers": pa.array([-1, 1, -128, 127, -1], pa.int8()),
    "truths": pa.array([True, False, True]),
    "decimals": pa.array([Decimal("7.00"), Decimal("7.01"), Decimal(-7), Decimal(7)], pa.decimal128(38, 2)),
    "wide decimals": pa.array([*WIDE, Decimal(-1), Decimal(-1)], pa.decimal256(60, 2)),
    "days": pa.array([DAY, DAY + dt.timedelta(1), DAY]),
    "moments": pa.array([MOMENT, MOMENT + dt.timedelta(microseconds=1), MOMENT]),
    "nanoseconds": pa.array([0, 1, 2**62, 1], pa.timestamp("ns")),
    "instants": pa.array([MOMENT, MOMENT + dt.timedelta(hours=1), MOMENT], pa.timestamp("us", "Europe/Berlin")),
    "clocks": pa.array([dt.time(1), dt.time(1, 0, 1), dt.time(1)]),
    "short clocks": pa.array([dt.time(1), dt.time(1, 0, 1), dt.time(1)], pa.time32("s")),
    "uuids": pa.ExtensionArray.from_storage(pa.uuid(), UUIDS),
    "objects": objects.column([one for one in NASTY if (held := read(one)) and held.kind is not Kind.ROUNDED]),
}  # fmt: skip


def numbers(values, *, index=None, low=0, high=HASHES):
    return (index or PersonIndex(key=3, low=low, high=high)).numbers(person_column("uid", values)).tolist()


def first_seen(names):
    """Return the number of each by the order in which they first appear: the definition, by a Python dict."""
    known = {}
    return [known.setdefault(name, len(known)) for name in names]


def reference(values):
    """Return how the persons of a column are numbered, by what each value is as a Python object."""
    if objects.is_ours(values.type):
        return first_seen(one[objects.TEXT] for one in values.to_pylist())
    if pa.types.is_timestamp(values.type):
        return first_seen(values.view(pa.int64()).to_pylist())
    return first_seen(written(read(one)) for one in values.to_pylist())


@pytest.mark.parametrize("name", COLUMNS)
def test_persons_are_equal_by_value(name):
    """Also in parts that begin anywhere in a buffer, and in an order that shares no buffer."""
    values = COLUMNS[name]
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    assert 1 < len(set(reference(values))) < len(values)
    assert numbers(values) == reference(values)
    assert numbers(values.slice(1)) == reference(values.slice(1))
    index = PersonIndex(key=5)
    parts = [one for start in range(len(values)) for one in numbers(values.slice(start, 1), index=index)]
    assert parts == reference(values)
    turned = pa.concat_arrays([values.slice(row, 1) for row in range(len(values))[::-1]])
    assert numbers(turned) == reference(turned)


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.decimal128(38, 3)])
def test_many_persons_are_found_again_while_the_index_grows(kind):
    drawn = np.random.default_rng(1).integers(0, 5000, 30_000)  # noqa: TID251  # made-up rows, no noise
    names = pa.array(drawn.tolist()).cast(kind)
    index = PersonIndex(key=7)
    found = [one for start in range(0, 30_000, 1111) for one in numbers(names.slice(start, 1111), index=index)]
    assert found == first_seen(drawn.tolist())
    assert index.persons == len(set(drawn.tolist()))
    assert numbers(names, index=index) == found


@pytest.mark.parametrize("kind", [pa.string(), pa.int64()])
def test_ranges_of_the_hash_part_the_persons(kind):
    names = pa.array([number % 300 for number in range(3000)]).cast(kind)
    ends = [0, HASHES // 3, HASHES // 2, HASHES]
    parts = [np.array(numbers(names, low=low, high=high)) for low, high in itertools.pairwise(ends)]
    assert (sum((part >= 0).astype(int) for part in parts) == 1).all()
    assert sum(len(set(part.tolist()) - {-1}) for part in parts) == 300
    assert all((part >= 0).any() for part in parts)


def collided(texts, *, compare):
    """Return the numbers of texts that all have one hash."""
    column = person_column("uid", pa.array(texts))
    rows = (np.full(len(texts), 9, dtype=np.uint64), column.content, column.ends)
    stored = (np.zeros((64, 2), np.uint64), np.zeros(1000, np.uint8), np.zeros(100, np.uint64))
    out = np.empty(len(texts), dtype=np.int64)
    persons = person_kernels.find(rows, (np.uint64(0), np.uint64(HASHES)), stored, 0, out)
    if compare:
        persons = person_kernels.compare(rows, stored, persons, out)
    return persons, out.tolist()


def test_texts_with_one_hash_are_different_persons():
    """The control trusts the hash, and merges them."""
    texts = ["a", "b", "a", "", "b", "ab", "", "c", "a"]
    assert collided(texts, compare=True) == (5, first_seen(texts))
    assert collided(texts, compare=False)[0] == 1


def test_words_are_hashed_one_to_one():
    """The hash of words is undone, step by step."""

    def undone(word):
        for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
            word ^= (word >> shift) ^ (word >> 2 * shift)
            word = word * pow(factor, -1, 1 << 64) % (1 << 64)
        return word

    words, key = np.array([0, 1, 2**63, 2**64 - 1, 0x0123456789ABCDEF], dtype=np.uint64), 0xFEDCBA9876543210
    out = np.empty_like(words)
    person_kernels.hash_words(words, np.uint64(key), out)
    assert [undone((undone(int(one)) - key) % (1 << 64)) ^ key for one in out] == words.tolist()


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1.0, float("nan")]),
        pa.array([1, None]),
        pa.array(["a", None]),
        pa.array(["a", None]).dictionary_encode(),
        pa.array([None, Decimal(1)]),
        pa.array([None, DAY]),
        pa.array([None, True]),
        pa.nulls(2),
        objects.column([1, None]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None])),
    ],
)
def test_a_row_without_a_person_is_refused(values):
    with pytest.raises(SchemaMismatch, match="a row has no 'uid'; every row needs its person"):
        person_column("uid", values)


@pytest.mark.parametrize("value", [2.0**53, -1e300, float("inf"), np.float32(1e30)])
def test_an_object_that_is_a_float_without_its_last_digits_names_no_person(value):
    with pytest.raises(SchemaMismatch, match=r"'uid' has a float of 2\^53 or more"):
        person_column("uid", objects.column([1, "a", value]))
    assert person_column("uid", objects.column([1, "a", 2.0**53 - 1, 2**53])).rows == 4


@pytest.mark.parametrize("values", [[[1]], [{"a": 1}], [dt.timedelta(1)]])
def test_a_type_that_names_no_persons_is_refused(values):
    with pytest.raises(SchemaMismatch, match=r"the column 'uid' of type .* names no persons; convert it to text"):
        person_column("uid", pa.array(values))


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.list_(pa.int8()), pa.string_view()])
def test_no_rows_are_no_persons(kind):
    assert numbers(pa.array([], kind)) == []
