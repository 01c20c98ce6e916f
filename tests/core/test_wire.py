"""The bytes of a report; tests/golden/test_reports.py holds the vectors of an independent program."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpress.core.basics.errors import ReportRejected
from dpress.core.reports import wire
from dpress.core.reports.wire import Expected, Report

ASK = bytes(range(16))
EXPECTED = Expected(ask=ASK, widths=(1, 300), round=7)


def report(**changed):
    return Report(**{"ask": ASK, "id": bytes(16), "round": 7, "payload": b"\2", **changed})


def refusal(data):
    try:
        wire.unpack(data)
    except ReportRejected as error:
        return str(error)
    return None


@given(
    st.binary(min_size=16, max_size=16),
    st.binary(min_size=16, max_size=16),
    st.integers(0, 65535),
    st.integers(0, 65535),
    st.binary(max_size=400),
)
@settings(max_examples=100, deadline=None)
def test_what_is_packed_is_unpacked(ask, identity, at, report_type, payload):
    sent = report(ask=ask, id=identity, round=at, report_type=report_type, payload=payload)
    assert wire.unpack(wire.pack(sent)) == sent


@given(st.binary(max_size=80))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_a_report_or_refused_in_one_line(data):
    assert refusal(data) is None or re.fullmatch("(a field|the report) [^\n]+", refusal(data))


@given(st.integers(0, 42), st.integers(1, 255))
@settings(max_examples=200, deadline=None)
def test_one_changed_byte_is_no_crash(place, flip):
    data = bytearray(wire.pack(report()))
    assert len(data) == 43
    data[place % len(data)] ^= flip
    said = refusal(bytes(data))
    assert wire.unpack(bytes(data)) != report() if said is None else "\n" not in said


def test_a_report_of_the_collection_is_let_through():
    assert EXPECTED.check(report()) is None
    assert EXPECTED.check(report(report_type=1, payload=bytes(300))) is None


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"ask": bytes(16)}, wire.OTHER_ASK),
        ({"ask": ASK[::-1]}, wire.OTHER_ASK),
        ({"round": 0}, wire.OTHER_ROUND),
        ({"report_type": 2}, wire.UNKNOWN_TYPE),
        ({"report_type": 65535}, wire.UNKNOWN_TYPE),
        ({"payload": b""}, wire.WRONG_LENGTH),
        ({"payload": bytes(300)}, wire.WRONG_LENGTH),
        ({"report_type": 1}, wire.WRONG_LENGTH),
        ({"ask": bytes(16), "report_type": 9}, wire.OTHER_ASK),  # the first fault
    ],
)
def test_a_report_of_another_collection_is_refused(changed, reason):
    with pytest.raises(ReportRejected) as caught:
        EXPECTED.check(report(**changed))
    assert str(caught.value) == reason
