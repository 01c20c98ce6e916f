"""The candidates of a round: codes against whole numbers and by hand, one value like a column of them, and faults."""

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from dpress.attributes.text.attribute import StringCandidates, bits_of, bytes_of, cut, padded
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec import codec

TEXTS = ["", "a", "at", "ate", "atlas", "é", "eé", "日本", "a\0", "zzzzzz", "0", "true", "12", "\udc80", "aé"]


def made(**own):
    given = {"longest": 5, "known": 0, "bits": 12, "prefixes": ("",), "strings": ()} | own
    return StringCandidates(name="w", **given)


LATER = made(known=19, bits=5, prefixes=("617440", "617460", "c3a900"), strings=("0", "a"))
LAST = made(known=40, bits=0, prefixes=(), strings=("12", "atlas", "é"))


def by_hand(own, text):
    """Return the code by the whole number that a string's bytes are."""
    held = text.encode(errors="surrogatepass")
    unfit = not held or len(held) > own.longest or b"\0" in held or "\ud800" <= text[:1] <= "\udfff"
    if unfit:
        return own.size - 1
    total = 8 * own.longest
    number = int.from_bytes(held.ljust(own.longest, b"\0"), "big")
    for place, prefix in enumerate(own.prefixes):
        head = int(prefix or "0", 16) >> (-own.known % 8)
        if number >> (total - own.known) == head:
            return (place << own.bits) + ((number >> (total - own.known - own.bits)) & ((1 << own.bits) - 1))
    if text in own.strings:
        return own.size - 1 - len(own.strings) + own.strings.index(text)
    return own.size - 1


@pytest.mark.parametrize("own", [made(), LATER, LAST], ids=["first", "later", "last"])
def test_one_value_and_a_column_have_the_code_by_hand(own):
    expected = [by_hand(own, text) for text in TEXTS]
    assert [own.codes(text)[0] for text in TEXTS] == expected
    assert len(set(expected)) > 3
    sound = [one for one in TEXTS if one != "\udc80"]
    for kind in (pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int8(), pa.string())):
        column = pa.array([one.encode() for one in sound] if kind == pa.binary() else sound, kind)
        batch = pa.record_batch({"w": column}).slice(2)
        assert codec.encode(pa_schema(own), batch)[0].tolist() == [by_hand(own, one) for one in sound[2:]]


def pa_schema(own):
    from dpress.attributes.domain import Schema  # beside its only use

    return Schema((own,))


def test_bytes_that_are_no_utf_8_and_missing_values_count_with_the_rest_and_may_be_refused():
    rest = LAST.size - 1
    batch = pa.record_batch({"w": pa.array([b"\xff", b"12", None, b"\xc3\xa9"], pa.binary())})
    assert codec.encode(pa_schema(LAST), batch)[0].tolist() == [rest, 0, rest, 2]
    strict = msgspec.structs.replace(LAST, null="reject")
    with pytest.raises(SchemaMismatch, match="attribute w: a value is missing"):
        codec.encode(pa_schema(strict), batch)
    numbers = pa.record_batch({"w": pa.array([12, 7], pa.int16())})
    assert codec.encode(pa_schema(strict), numbers)[0].tolist() == [0, rest]
    assert [LAST.codes(one)[0] for one in (12, 12.0, 12.5, None, True)] == [0, 0, rest, rest, rest]
    floats = pa.record_batch({"w": pa.array([12.0, 12.5, None])})  # libraries make them of integers
    assert codec.encode(pa_schema(LAST), floats)[0].tolist() == [0, rest, rest]


def test_bits_are_those_of_the_whole_number():
    rows = padded([b"\xa5\x3c\xff", b"\x01"], 4)
    for start, bits in ((0, 0), (0, 8), (3, 11), (7, 24), (20, 12), (31, 1)):
        for row, text in zip(bits_of(rows, start, bits), (0xA53CFF00, 0x01000000), strict=True):
            assert row == text >> (32 - start - bits) & ((1 << bits) - 1)
    assert cut(rows, 12).tolist() == [[0xA5, 0x30], [0x01, 0]]
    assert rows.tolist()[0] == [0xA5, 0x3C, 0xFF, 0]
    assert bytes_of("\ud800", 8) == b""
    assert np.array_equal(cut(rows, 0), np.zeros((2, 1)))


@pytest.mark.parametrize(
    ("own", "fault"),
    [
        ({"longest": 33}, "`longest` must lie between 1 and 32 bytes"),
        ({"known": 36}, "`known` and `bits` must be bits of the longest string"),
        ({"bits": 25}, "expected at most 16,777,216 candidates"),
        ({"bits": 24}, "expected at most 16,777,216 candidates"),
        ({"prefixes": ("", "")}, "`prefixes` must be 0 bits each"),
        ({"known": 8, "prefixes": ("6",)}, "`prefixes` must be 8 bits each"),
        ({"known": 8, "prefixes": ("6A",)}, "`prefixes` must be 8 bits each"),
        ({"known": 8, "prefixes": ("62", "61")}, "`prefixes` must be 8 bits each, in order"),
        ({"known": 8, "prefixes": ("00",)}, "without a zero byte"),
        ({"known": 4, "prefixes": ("61",)}, "`prefixes` must be 4 bits each"),
        ({"known": 16, "prefixes": (), "strings": ("b", "a")}, "in the order of their bytes"),
        ({"known": 16, "prefixes": (), "strings": ("ab",)}, "`strings` must end within 16 bits"),
        ({"known": 16, "prefixes": (), "strings": ("",)}, "`strings` must end within 16 bits"),
        ({"other": "drop"}, "`other` must name the rest where values are discovered, not drop it"),
    ],
)
def test_candidates_that_would_be_coded_in_two_ways_are_refused(own, fault):
    with pytest.raises(ValueError, match=fault):
        made(**own)
