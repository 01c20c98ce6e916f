"""An upload is checked as its reports would be one by one."""

import msgspec
import pytest
from tests.golden.test_reports import BYTES, VECTORS, door
from tests.release.people import AGE, SEX, spec

from dpress.core.basics import rng
from dpress.core.basics.errors import ReportRejected
from dpress.core.reports import wire
from dpress.core.reports.packed import Packed
from dpress.release.devices.device import device, intake
from dpress.release.devices.upload import check

METHODS = ["krr", "oue", "olh", "hadamard", "subset_selection", "rr_ldp", "rappor", "pcep", "sue", "pgr", "loloha"]


def one_by_one(own, reports):
    """Return what `Intake.accept` says of each: the reports that it takes, and why not the others."""
    taken, refused = [], []
    for packed in reports:
        try:
            own.accept(packed)
            taken.append(packed)
        except ReportRejected as error:
            found = msgspec.msgpack.decode(packed, type=wire.Report)
            refused.append((found.id, wire.OTHER_VERSION if found.version != wire.VERSION else str(error)))
    return taken, refused


def spoiled(packed, place):
    """Return a report with something wrong, by its place; most of them have nothing."""
    found = msgspec.msgpack.decode(packed, type=wire.Report)
    ones = b"\xff" * len(found.payload)
    changes = {
        1: {"version": 1}, 5: {"ask": bytes(16)}, 8: {"round": 1}, 9: {"report_type": 99}, 12: {"report_type": 65535},
        13: {"payload": b""}, 17: {"payload": found.payload + b"\0"}, 19: {"payload": ones}, 23: {"round": 65535},
        29: {"payload": ones, "ask": bytes(16)}, 31: {"version": 127, "round": 3},
    }  # fmt: skip
    return wire.pack(msgspec.structs.replace(found, **changes.get(place % 40, {})))


@pytest.mark.parametrize("split", ["users", "budget"])
@pytest.mark.parametrize("method", METHODS)
def test_the_same_is_refused_for_the_same_reasons(method, split):
    asked = spec(AGE, SEX, method=method, split=split)
    own, sender, generator = intake(asked), device(asked), rng.seeded(5)
    sound = [sender.answer((place % 10, place % 2), rng=generator, once=True) for place in range(120)]
    reports = [spoiled(packed, place) for place, packed in enumerate(sound)]
    taken, refused = one_by_one(own, reports)
    found = check(own, b"".join(reports))
    assert found.accepted == b"".join(taken)
    assert found.reports == len(taken) > 80
    assert list(found.refused) == refused
    assert {wire.OTHER_VERSION, wire.OTHER_ASK, wire.OTHER_ROUND, wire.UNKNOWN_TYPE, wire.WRONG_LENGTH} <= {
        reason for _, reason in refused
    }
    assert check(own, b"".join(sound)).accepted == b"".join(sound)


def verdict(one):
    try:
        found = check(door(one), bytes.fromhex(one["packed"]))
    except ReportRejected:
        return "malformed"
    whole = found.duplicates or found.accepted == bytes.fromhex(one["packed"])
    return "accepted" if whole else found.refused[0][1]


def expected(one):
    reasons = {"form": "malformed", "field": "malformed", "version": wire.OTHER_VERSION}
    return "accepted" if one["accepted"] else reasons.get(one["reason"], one["reason"])


def test_golden_vectors_have_the_same_verdict_in_an_upload():
    """Two reports are no report, but an upload of two; and nothing is one of none, which the service refuses."""
    other = [(one["name"], verdict(one)) for one in VECTORS if verdict(one) != expected(one)]
    assert other == [("two reports", "accepted"), ("cut after 0 bytes", "accepted")]
    assert {one.get("reason") for one in VECTORS} >= {*BYTES}


def test_a_vector_between_others_changes_nothing_about_them():
    first = next(one for one in VECTORS if one["accepted"])
    asked = ("types", "ask", "round")
    same = [one for one in VECTORS if [one[name] for name in asked] == [first[name] for name in asked]]
    alike = [one for one in same if verdict(one) == expected(one)]
    for one in alike:
        body = bytes.fromhex(first["packed"] + one["packed"] + first["packed"])
        if verdict(one) == "malformed":
            with pytest.raises(ReportRejected, match=r"^report [23] of the body"):
                check(door(first), body)
        else:
            found = check(door(first), body)
            assert found.reports + found.duplicates == 2 + (verdict(one) == "accepted"), one["name"]
            assert found.duplicates >= 1
    assert {verdict(one) for one in alike} >= {"accepted", "malformed"}


def test_nothing_of_a_broken_body_is_kept():
    asked = spec(AGE, method="krr")
    own, packed = intake(asked), device(asked).answer((3,), rng=rng.seeded(1))
    with pytest.raises(ReportRejected, match=r"^report 3 of the body is truncated"):
        check(own, packed + packed + packed[:-1])
    twice = check(own, packed + packed)
    assert (twice.accepted, twice.reports, twice.duplicates) == (packed, 1, 1)


def test_the_ids_of_refused_reports_are_cut_out_once(monkeypatch):
    """An upload of many refused reports costs no more for each of them than one of few."""
    cut, real = [], Packed._cut
    monkeypatch.setattr(Packed, "_cut", lambda own, *given: cut.append(len(own)) or real(own, *given))
    asked = spec(AGE, method="krr")
    one = msgspec.msgpack.decode(device(asked).answer((3,), rng=rng.seeded(1)), type=wire.Report)
    for count in (3, 300):
        cut.clear()
        bodies = [wire.pack(msgspec.structs.replace(one, payload=bytes(place % 5 + 2))) for place in range(count)]
        assert len(check(intake(asked), b"".join(bodies)).refused) == count
        assert len(cut) <= 4
