"""Makes reports.json: packed reports for clients in any language, by a program that shares no code with dpress.

By hand, from this folder: python make_reports.py

Its MessagePack, its payload decoders, its tallies and its devices are written from docs/reference/reports.md alone.
`vectors`: one report each, the oracles of the collection that receives it, its bytes in hexadecimal, and either what
they mean and add to the tally, or the reason why they are refused. `devices`: one value each, what the device draws
(64-bit words in the order of use, a secret) and the exact payload. `asks`: what devices are asked, its canonical text,
its hash, and whole answers. `dates`: attributes of days, values and their codes. `wrong`: documents of oracles that no
device may act on.
"""

import hashlib
import json
from pathlib import Path

from make_asks import asks, wrong
from make_dates import dates
from make_devices import devices, permanents, projections
from make_documents import INSTANCES, krr, oue
from make_payloads import (
    HASHED,
    PRIME,
    bits_of,
    choices_of,
    meaning,
    number_bytes,
    number_limit,
    pack,
    sign_limits,
    sign_parts,
    stream,
    unpack,
    width,
)

STORED = Path(__file__).parents[2] / "src" / "dpress" / "vectors" / "reports.json"
ASK = hashlib.sha256(b"an ask").digest()[:16]


def some_payload(own, salt):
    """Return a payload that the method could send: pseudo-random bytes, set right."""
    method = own["method"]
    name = f"{method} {sorted(own)} {salt}"
    for attempt in range(10_000):
        payload = bytearray(stream(f"{name} {attempt}", width(own)))
        if method == "subset_selection":
            chosen = sorted(range(own["size"]), key=lambda v: stream(f"{name} {v}", 8))[: own["weight"]]
            payload = bytearray(len(payload))
            for v in chosen:
                payload[v // 8] |= 1 << v % 8
        if method in ("pcep", "safe_regions"):
            numbers = [
                int.from_bytes(stream(f"{name} {i}", 4), "big") % limit for i, limit in enumerate(sign_limits(own))
            ]
            sizes = [size for size, _ in sign_parts(own)]
            payload = b"".join(one.to_bytes(n, "little") for one, n in zip(numbers, sizes, strict=True) if n)
        if (limit := number_limit(own)) is not None:
            tail = payload[12:] if method in HASHED else payload
            number = int.from_bytes(tail, "little") % limit
            payload[len(payload) - len(tail) :] = number.to_bytes(len(tail), "little")
        if method == "rappor":
            payload[:2] = (payload[0] % own["cohorts"]).to_bytes(2, "little")
        if meaning(own, bytes(payload))[0] is None:
            return bytes(payload)
    raise ValueError(name)


def bad_payloads(own):
    """Yield payloads that the method cannot have sent."""
    method, good, size = own["method"], some_payload(own, "bad"), width(own)
    yield "too short", good[:-1]
    yield "too long", good + b"\0"
    if method in HASHED:
        yield "a is P", PRIME.to_bytes(4, "little") + good[4:]
        yield "b is P", good[:4] + PRIME.to_bytes(4, "little") + good[8:]
        yield "c is P", good[:8] + PRIME.to_bytes(4, "little") + good[12:]
        yield "bucket", good[:12] + own["g"].to_bytes(size - 12, "little")
    elif (limit := number_limit(own)) is not None:
        yield "first beyond", limit.to_bytes(size, "little")
    elif method == "rappor":
        yield "cohort", own["cohorts"].to_bytes(2, "little") + good[2:]
        yield "padding", good[:-1] + bytes([good[-1] | 0x80])
    elif method in ("pcep", "safe_regions"):
        first = number_bytes(2 * own["rows"])
        if 2 * own["rows"] < 256**first:
            yield "row", (2 * own["rows"]).to_bytes(first, "little") + good[first:]
        regions, levels = choices_of(own)
        if regions > 1:
            yield "region", good[:first] + bytes([regions]) + good[first + 1 :]
        if levels > 1:
            yield "level", good[:-1] + bytes([levels])
    else:
        if bits_of(own) % 8:
            yield "padding", good[:-1] + bytes([good[-1] | 0x80])
        if method == "subset_selection":
            yield "weight", bytes(size)


def vector(name, types, packed, *, reason=None, round_number=0):
    """Return one report to a collection of report types, each a list of oracles."""
    made = {"name": name, "ask": ASK.hex(), "types": types, "round": round_number, "packed": packed.hex()}
    if reason is not None:
        return made | {"accepted": False, "reason": reason}
    version, ask, identity, at, report_type, payload = unpack(packed)
    assert (version, ask, at) == (2, ASK, round_number)
    said, tally, start, first = [], {}, 0, 0
    for own in types[report_type]:
        fault, meant, added = meaning(own, payload[start : start + width(own)])
        if fault is not None:
            return made | {"accepted": False, "reason": fault}
        said.append(meant)
        tally |= {first + at: n for at, n in added.items()}
        start, first = start + width(own), first + tally_size(own)
    tally[first] = 1
    fields = {"version": 2, "id": identity.hex(), "report_type": report_type, "payload": payload.hex()}
    tallied = {str(at): n for at, n in tally.items()}
    return made | {"accepted": True, "report": fields, "meaning": said, "tally": tallied}


def tally_size(own):
    """Return how many numbers the reports of an oracle add up to."""
    method = own["method"]
    if method == "hadamard":
        return own["rows"]
    if method in ("disk_reports", "pgr", "square_wave", "piecewise", "circular_wave", "one_bit"):
        return number_limit(own)
    if method == "rappor":
        return own["cohorts"] * (own["bits"] + 1)
    if method in ("pcep", "safe_regions"):
        regions, levels = choices_of(own)
        return regions * levels * (own["rows"] + 1)
    return bits_of(own)


def fields_of(payload, /, **changed):
    names = ("version", "ask", "id", "round", "report_type", "payload")
    standard = (2, ASK, stream(f"id {payload.hex()}", 16), 0, 0, payload)
    return list((dict(zip(names, standard, strict=True)) | changed).values())


def by_payload():
    for own in INSTANCES:
        method = own["method"]
        for salt in range(4):
            yield vector(f"{method}: sound", [[own]], pack(fields_of(some_payload(own, salt))))
        for name, payload in bad_payloads(own):
            wrong = "length of the payload" if len(payload) != width(own) else meaning(own, payload)[0]
            yield vector(f"{method}: {name}", [[own]], pack(fields_of(payload)), reason=wrong)


def by_type():
    """Yield reports to a collection of two types, one of them of two parts."""
    types = [[krr(5, "1")], [krr(300, "2"), oue(9, "1")]]
    both = [some_payload(own, "part") for own in types[1]]
    yield vector("the first type", types, pack(fields_of(b"\4")))
    yield vector("the second type", types, pack(fields_of(b"".join(both), report_type=1)))
    fits = "length of the payload"
    yield vector("the first type's payload under the second", types, pack(fields_of(b"\4", report_type=1)), reason=fits)
    yield vector("the second type's payload under the first", types, pack(fields_of(b"".join(both))), reason=fits)
    yield vector("a part left out", types, pack(fields_of(both[0], report_type=1)), reason=fits)
    beyond = (300).to_bytes(2, "little") + both[1]
    yield vector("a bad first part", types, pack(fields_of(beyond, report_type=1)), reason="out of range")
    padded = both[0] + both[1][:-1] + bytes([both[1][-1] | 0x80])
    yield vector("a bad last part", types, pack(fields_of(padded, report_type=1)), reason="padding")
    yield vector("a third type", types, pack(fields_of(b"\4", report_type=2)), reason="unknown report type")


def by_field():
    """Yield what is wrong outside the payload."""
    types, payload = [[INSTANCES[0]]], b"\x03"

    def made(name, reason, packed=None, **changed):
        own = pack(fields_of(payload, **changed)) if packed is None else packed
        return vector(name, types, own, reason=reason)

    good = pack(fields_of(payload))
    yield made("version 1", "version", version=1)
    yield made("version 3", "version", version=3)
    yield made("version 0", "field", version=0)
    yield made("version 256", "field", version=256)
    yield made("another collection", "another collection", ask=bytes(16))
    yield made("one byte of the collection", "another collection", ask=ASK[:-1] + bytes([ASK[-1] ^ 1]))
    yield made("another round", "another round", round=1)
    yield made("a round beyond 16 bits", "field", round=65536)
    yield made("unknown report type", "unknown report type", report_type=1)
    yield made("a report type beyond 16 bits", "field", report_type=65536)
    yield made("a short hash", "field", ask=ASK[:-1])
    yield made("a long hash", "field", ask=ASK + b"\0")
    yield made("a hash of text", "field", ask="0123456789abcdef")
    yield made("a short id", "field", id=bytes(15))
    yield made("a long id", "field", id=bytes(17))
    yield made("an id of text", "field", id="0123456789abcdef")
    yield made("a payload of text", "field", payload="3")
    yield made("a payload that is a number", "field", payload=3)
    yield made("a round of text", "field", round="0")
    yield made("a round of bytes", "field", round=b"\0")
    yield made("an empty payload", "length of the payload", payload=b"")
    yield made("trailing byte", "form", good + b"\0")
    yield made("two reports", "form", good + good)
    for cut in (0, 1, 2, len(good) // 2, len(good) - 1):
        yield made(f"cut after {cut} bytes", "form", good[:cut])
    yield made("five fields", "field", b"\x95" + good[1:-3])
    yield made("seven fields", "field", b"\x97" + good[1:] + b"\0")
    old = [1, ASK, "krr", stream("id", 16), 0, 0, payload]
    yield made("a report of version 1", "field", pack(old))
    yield made("a report of version 1 that says 2", "field", pack([2, *old[1:]]))
    yield made("a map", "field", b"\x81\xa1a\x01")
    yield made("not MessagePack", "form", b"\xc1" + good[1:])
    yield made("JSON", "field", b'{"version": 2}')
    yield made("null payload", "field", good[:-3] + b"\xc0")
    head = pack(fields_of(payload)[:3]).replace(b"\x93", b"\x96", 1)
    yield made("negative round", "field", head + b"\xff\0\xc4\x01\x03")
    yield made("version true", "field", b"\x96\xc3" + good[2:])
    for number in (65535, 300):
        packed = pack(fields_of(payload, round=number))
        yield vector(f"round {number}", types, packed, round_number=number)


golden = {
    "made_by": "make_reports.py, layout version 2",
    "vectors": [*by_payload(), *by_type(), *by_field()],
    "devices": [*devices()],
    "wrong": [*wrong()],
    "asks": [*asks()],
    "dates": [*dates()],
    "permanent": [*permanents()],
    "projections": [*projections()],
}
if __name__ == "__main__":
    lines = {name: ",\n".join(map(json.dumps, own)) for name, own in golden.items() if isinstance(own, list)}
    body = "".join(f',\n"{name}": [\n{text}\n]' for name, text in lines.items())
    STORED.write_text(f'{{"made_by": {json.dumps(golden["made_by"])}{body}\n}}\n')
