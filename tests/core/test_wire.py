"""The bytes of a report; tests/golden/test_reports.py holds the vectors of an independent program."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpress.core import wire
from dpress.core.errors import ReportRejected
from dpress.core.wire import Expected, Report

SPEC = bytes(range(16))
EXPECTED = Expected(spec=SPEC, method="krr", widths=(1, 300), round=7)


def report(**changed):
    return Report(**{"spec": SPEC, "method": "krr", "id": bytes(16), "round": 7, "payload": b"\2", **changed})


def refusal(data):
    try:
        wire.unpack(data)
    except ReportRejected as error:
        return str(error)
    return None


@given(
    st.binary(min_size=16, max_size=16),
    st.text(min_size=1, max_size=16),
    st.integers(0, 65535),
    st.integers(0, 65535),
    st.binary(max_size=400),
)
@settings(max_examples=100, deadline=None)
def test_what_is_packed_is_unpacked(identity, method, at, question, payload):
    sent = report(id=identity, method=method, round=at, question=question, payload=payload)
    assert wire.unpack(wire.pack(sent)) == sent


@given(st.binary(max_size=80))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_a_report_or_refused_in_one_line(data):
    assert refusal(data) is None or re.fullmatch("(a field|the report) [^\n]+", refusal(data))


@given(st.integers(0, 46), st.integers(1, 255))
@settings(max_examples=200, deadline=None)
def test_one_changed_byte_is_no_crash(place, flip):
    data = bytearray(wire.pack(report()))
    data[place % len(data)] ^= flip
    said = refusal(bytes(data))
    assert wire.unpack(bytes(data)) != report() if said is None else "\n" not in said


def test_a_report_of_the_collection_is_let_through():
    assert EXPECTED.check(report()) is None
    assert EXPECTED.check(report(question=1, payload=bytes(300))) is None


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"spec": bytes(16)}, wire.OTHER_SPEC),
        ({"method": "oue"}, wire.OTHER_METHOD),
        ({"round": 0}, wire.OTHER_ROUND),
        ({"question": 2}, wire.UNKNOWN_QUESTION),
        ({"question": 65535}, wire.UNKNOWN_QUESTION),
        ({"payload": b""}, wire.WRONG_LENGTH),
        ({"payload": bytes(300)}, wire.WRONG_LENGTH),
        ({"question": 1}, wire.WRONG_LENGTH),
        ({"spec": bytes(16), "question": 9}, wire.OTHER_SPEC),  # the first fault
    ],
)
def test_a_report_of_another_collection_is_refused(changed, reason):
    with pytest.raises(ReportRejected) as caught:
        EXPECTED.check(report(**changed))
    assert str(caught.value) == reason
