"""Reports back to back are read as msgspec reads them one after the other, whatever is done to the bytes."""

import random  # noqa: TID251  # made-up cases, no noise

import msgspec
import numpy as np
import pytest

from dpress.core.basics.errors import ReportRejected
from dpress.core.reports import packed, wire
from dpress.core.reports.wire import Expected, Report

ASK = bytes(range(100, 116))
EXPECTED = Expected(ask=ASK, widths=(3, 0, 300, 70_000), round=7)
TEMPTING = bytes.fromhex("96959790dc00ddc4c5c6c010cccdcececfd0d1d2d37f80ffe0a1b0")  # bytes that mean something here
LONGER = {  # bytes of a report, and the same in a longer form, which msgspec reads and a collector need not
    b"\x96\x02": (
        b"\x96\xcc\x02",
        b"\x96\xcd\x00\x02",
        b"\xdc\x00\x06\x02",
        b"\xdd\x00\x00\x00\x06\x02",
        b"\x96\xd0\x02",
    ),
    b"\xc4\x10": (b"\xc5\x00\x10", b"\xc6\x00\x00\x00\x10"),
    b"\x07": (b"\xcc\x07", b"\xcd\x00\x07", b"\xce\x00\x00\x00\x07", b"\xcf" + bytes(7) + b"\x07"),
}


FIXED = {0xC0: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2,
         0xD2: 4, 0xD3: 8, 0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17}  # fmt: skip
SIZED = {0xC4: (1, 0), 0xC5: (2, 0), 0xC6: (4, 0), 0xC7: (1, 1), 0xC8: (2, 1), 0xC9: (4, 1), 0xD9: (1, 0),
         0xDA: (2, 0), 0xDB: (4, 0)}  # fmt: skip
HOLDING = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}


class Malformed(Exception):  # the reference's own refusal
    pass


def length(data, at=0):
    """Return where the MessagePack value that begins here ends: the format's table of first bytes, and nothing else."""
    if at >= len(data):
        raise Malformed
    first = data[at]
    at += 1
    if first < 0x80 or first >= 0xE0:
        return at
    if first < 0xA0:
        return several(data, at, first % 16 * (2 if first < 0x90 else 1))
    if first < 0xC0:
        return within(data, at + first - 0xA0)
    if first in FIXED:
        return within(data, at + FIXED[first])
    if first in SIZED:
        size, more = SIZED[first]
        return within(data, within(data, at + size) + int.from_bytes(data[at : at + size], "big") + more)
    if first in HOLDING:
        size, each = HOLDING[first]
        return several(data, within(data, at + size), int.from_bytes(data[at : at + size], "big") * each)
    raise Malformed


def within(data, end):
    if end > len(data):
        raise Malformed
    return end


def several(data, at, count):
    if count > len(data) - at:
        raise Malformed
    for _ in range(count):
        at = length(data, at)
    return at


def reference(body):
    """Return the reports one after the other, and whether all of them are written in the shortest form."""
    found, at, shortest = [], 0, True
    try:
        while at < len(body):
            end = length(body, at)
            found.append(msgspec.msgpack.decode(body[at:end], type=Report))
            shortest &= wire.pack(found[-1]) == body[at:end]
            at = end
    except (Malformed, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None, True
    return found, shortest


def fields(body):
    """Return what `packed.parse` finds, or None where it refuses."""
    try:
        own = packed.parse(body)
    except ReportRejected:
        return None
    columns = [own.column(which).tolist() for which in range(6)]
    asks, ids = own.asks, own.ids
    return [
        Report(
            version=version, ask=bytes(asks[one]), id=bytes(ids[one]), round=number, report_type=of,
            payload=body[payload:end],
        )
        for one, (_, end, version, number, of, payload) in enumerate(zip(*columns, strict=True))
    ]  # fmt: skip


def check_read_alike(body):
    """Accept only what msgspec accepts, as the same fields, and all of it in the shortest form; return which it was."""
    own, (theirs, shortest) = fields(body), reference(body)
    if own is not None:
        assert own == theirs
        assert shortest
    elif theirs is not None:
        assert not shortest or max(one.version for one in theirs) > 127  # a version of two bytes is none of ours
    return "accepted" if own is not None else "longer" if theirs is not None else "refused"


def report(draw, **changed):
    kind = draw.randrange(3)
    width = draw.choice([0, 1, 2, 3, 70, 200, 255, 256, 300]) if draw.random() < 0.5 else EXPECTED.widths[kind]
    number = 7 if draw.random() < 0.7 else draw.choice([0, 127, 128, 255, 256, 65535])
    given = {
        "ask": ASK,
        "id": draw.randbytes(16),
        "round": number,
        "report_type": kind,
        "payload": draw.randbytes(width),
    }
    return Report(**{**given, **changed})


def good(draw):
    return b"".join(wire.pack(report(draw)) for _ in range(draw.randrange(1, 5)))


def flip(draw, data, at):
    data[at] ^= 1 << draw.randrange(8)


def overwrite(draw, data, at):
    data[at] = draw.choice(TEMPTING)


def insert(draw, data, at):
    data[at:at] = bytes([draw.choice(TEMPTING)])


def drop(draw, data, at):
    del data[at : at + draw.randrange(1, 4)]


def cut(draw, data, at):  # noqa: ARG001  # one signature for all
    del data[at:]


def repeat(draw, data, at):
    data[at:at] = data[at : at + draw.randrange(60)]


def lengthen(draw, data, at):
    short = draw.choice(list(LONGER))
    if (place := data.find(short, at)) >= 0:
        data[place : place + len(short)] = draw.choice(LONGER[short])


def claim_length(draw, data, at):
    data[at : at + 5] = b"\xc6" + draw.choice([1, 300, 2**31 - 1, 2**31, 2**32 - 1]).to_bytes(4, "big")


MUTATIONS = (flip, overwrite, insert, drop, cut, repeat, lengthen, claim_length)


def mutated(draw, body):
    """Return the body with one or a few things done to it."""
    data = bytearray(body)
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        if data:
            draw.choice(MUTATIONS)(draw, data, draw.randrange(len(data)))
    return bytes(data)


def mutations(seed, count):
    draw = random.Random(seed)
    outcomes = {"accepted": 0, "refused": 0, "longer": 0}
    while sum(outcomes.values()) < count:
        body = good(draw)
        assert fields(body) is not None
        for _ in range(50):
            outcomes[check_read_alike(mutated(draw, body))] += 1
    return outcomes


@pytest.mark.parametrize(
    ("seed", "count"),
    [
        (1, 300),
        pytest.param(2, 30_000, marks=pytest.mark.slow),
        pytest.param(3, 200_000, marks=[pytest.mark.slow, pytest.mark.long]),
    ],
)
def test_whatever_is_done_to_the_bytes_is_read_alike_or_refused(seed, count):
    outcomes = mutations(seed, count)
    assert min(outcomes.values()) > count / 100  # all three happen: the reference has something to say


def test_another_reader_would_be_caught(monkeypatch):
    """The control: a parser that takes longer forms, or one that looks at no lengths, is not read alike."""
    draw = random.Random(5)
    body = wire.pack(report(draw, round=7))
    longer = body.replace(b"\xc4\x10", b"\xc5\x00\x10", 1)
    check_read_alike(longer)
    monkeypatch.setattr(packed, "parse", lambda _, real=packed.parse: real(body))
    with pytest.raises(AssertionError):
        check_read_alike(longer)
    with pytest.raises(AssertionError):
        check_read_alike(body[:-1])


@pytest.mark.parametrize("width", [0, 1, 255, 256, 65535, 65536, 70_000])
@pytest.mark.parametrize("number", [0, 127, 128, 255, 256, 65535])
def test_the_edges_of_every_form(width, number):
    body = wire.pack(Report(ask=ASK, id=bytes(16), round=number, report_type=number, payload=bytes(width)))
    (found,) = fields(body + body)[1:]
    assert (found.round, found.report_type, len(found.payload)) == (number, number, width)
    for missing in {1, 2, max(width // 2, 1), len(body) - 1}:
        assert fields(body + body[: len(body) - missing]) is None
    assert fields(body + b"\x00") is None


def test_nothing_is_no_report():
    assert len(packed.parse(b"")) == 0
    assert packed.parse(b"").ids.shape == packed.parse(b"").asks.shape == (0, 16)


def test_the_first_report_that_is_wrong_is_named():
    body = good(random.Random(1))
    count = len(packed.parse(body))
    with pytest.raises(ReportRejected, match=f"^report {count + 1} of the body is truncated or not in the layout"):
        packed.parse(body + b"\x96\x02")


@pytest.mark.parametrize("mixed", [False, True])
def test_what_reports_say_is_told_apart(mixed):
    draw = random.Random(8)
    if mixed:
        reports = [report(draw) for _ in range(200)]
    else:
        reports = [report(draw, round=7, report_type=0, payload=draw.randbytes(3)) for _ in range(200)]
    reports[7] = msgspec.structs.replace(reports[7], version=3)
    reports[9] = msgspec.structs.replace(reports[9], ask=bytes(16))
    reports[11] = msgspec.structs.replace(reports[11], report_type=4)
    found = packed.faults(packed.parse(b"".join(map(wire.pack, reports))), EXPECTED)

    def said(one):
        if one.version != 2:
            return wire.OTHER_VERSION
        try:
            EXPECTED.check(one)
        except ReportRejected as error:
            return str(error)
        return None

    first = [next((reason for reason, wrong in found.items() if wrong[one]), None) for one in range(len(reports))]
    assert first == [said(one) for one in reports]
    assert {wire.OTHER_VERSION, wire.OTHER_ASK, wire.UNKNOWN_TYPE, None} <= set(first)


@pytest.mark.parametrize("width", [0, 3, 9])
def test_reports_are_cut_out_whole(width):
    draw = random.Random(4)
    each = [wire.pack(report(draw, payload=draw.randbytes(width), round=draw.choice([1, 7, 300]))) for _ in range(9)]
    own = packed.parse(b"".join(each))
    chosen = np.arange(9) % 3 != 1
    assert own.only(chosen) == b"".join(one for one, keep in zip(each, chosen, strict=True) if keep)
    assert own.only(np.ones(9, dtype=bool)) == b"".join(each)
    assert own.only(np.zeros(9, dtype=bool)) == b""
    rows = own.payloads(chosen, width)
    assert [bytes(row) for row in rows] == [
        one[len(one) - width :] for one, keep in zip(each, chosen, strict=True) if keep
    ]
    assert (own.widths == width).all()
