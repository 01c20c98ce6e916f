"""Makes reports.json: packed reports for clients in any language, by a program that shares no code with dpress.

By hand, from this folder: python make_reports.py

Its MessagePack, its payload decoders and its tallies are written from docs/reference/reports.md alone. Every vector is
one report: the collection that receives it, its bytes in hexadecimal, and either what they mean and add to the tally,
or the reason why they are refused.
"""

import hashlib
import hmac
import json
import math
from pathlib import Path

PRIME = 2**31 - 1
SPEC = hashlib.sha256(b"a specification").digest()[:16]
HALF = {"f": "0.5", "p": "0.5", "q": "0.75"}
ORACLES = {
    "krr": [{"size": 5, "epsilon": "1"}, {"size": 300, "epsilon": "2"}, {"size": 70000, "epsilon": "0.5"}],
    "hadamard": [{"size": 5, "epsilon": "1"}, {"size": 1000, "epsilon": "2"}],
    "olh": [{"size": 6, "epsilon": "1"}, {"size": 40, "epsilon": "6"}],
    "sue": [{"size": 9, "epsilon": "1"}],
    "oue": [{"size": 9, "epsilon": "1"}, {"size": 100, "epsilon": "4"}],
    "subset_selection": [{"size": 9, "epsilon": "1"}, {"size": 30, "epsilon": "2"}],
    "rappor": [{"candidates": ["a", "b", "é"], "bits": 12, "hashes": 2, "cohorts": 4, **HALF}],
    "pcep": [
        {"size": 3, "rows": 24, "levels": ["1"], "regions": [[0, 1, 2]]},
        {"size": 3, "rows": 200, "levels": ["1", "2"], "regions": [[0, 1], [1, 2]]},
    ],
    "rr_ldp": [{"sizes": [7], **HALF}, {"sizes": [2, 3, 5], **HALF}],
}


def stream(name, size):
    """Return bytes that look random and are the same every day."""
    blocks = (hashlib.sha256(f"{name} {i}".encode()).digest() for i in range(size // 32 + 1))
    return b"".join(blocks)[:size]


# --- MessagePack, as far as a report needs it


def pack_integer(number):
    for mark, size, limit in ((None, 1, 128), (0xCC, 1, 2**8), (0xCD, 2, 2**16), (0xCE, 4, 2**32)):
        if number < limit:
            return bytes([number]) if mark is None else bytes([mark]) + number.to_bytes(size, "big")
    raise ValueError


def pack_bytes(data):
    mark, size = (0xC4, 1) if len(data) < 2**8 else (0xC5, 2) if len(data) < 2**16 else (0xC6, 4)
    return bytes([mark]) + len(data).to_bytes(size, "big") + data


def pack_text(text):
    data = text.encode()
    return (bytes([0xA0 | len(data)]) if len(data) < 32 else bytes([0xD9, len(data)])) + data


def pack(fields):
    kinds = {int: pack_integer, bytes: pack_bytes, str: pack_text}
    return bytes([0x90 | len(fields)]) + b"".join(kinds[type(one)](one) for one in fields)


def unpack(data):
    """Return the fields, or raise ValueError where this is no array of integers, bytes and text, and nothing else."""
    if not data or data[0] & 0xF0 != 0x90:
        raise ValueError("no array")
    place, fields = 1, []

    def take(size):
        nonlocal place
        if place + size > len(data):
            raise ValueError("truncated")
        place += size
        return data[place - size : place]

    for _ in range(data[0] & 0x0F):
        mark = take(1)[0]
        if mark < 0x80:
            fields.append(mark)
        elif mark in (0xCC, 0xCD, 0xCE):
            fields.append(int.from_bytes(take(1 << mark - 0xCC), "big"))
        elif mark in (0xC4, 0xC5, 0xC6):
            fields.append(take(int.from_bytes(take(1 << mark - 0xC4), "big")))
        elif mark & 0xE0 == 0xA0:
            fields.append(take(mark & 0x1F).decode())
        else:
            raise ValueError("another type")
    if place != len(data):
        raise ValueError("trailing bytes")
    return fields


# --- payloads


def number_bytes(numbers):
    return max(1, math.ceil(math.log2(numbers) / 8)) if numbers > 1 else 1


def ones(data, size):
    return [v for v in range(size) if data[v // 8] >> v % 8 & 1]


def padding(data, size):
    return any(data[v // 8] >> v % 8 & 1 for v in range(size, 8 * len(data)))


def buckets(own):
    return round(math.exp(float(own["epsilon"])) + 1)


def rows_of(own):
    return 2 ** math.ceil(math.log2(own["size"]))


def weight(own):
    """Return w with the smallest total variance, by trying all."""
    k, e = own["size"], math.exp(float(own["epsilon"]))

    def total(w):
        p = w * e / (w * e + k - w)
        q = (w - p) / (k - 1)
        return (p * (1 - p) + (k - 1) * q * (1 - q)) / (p - q) ** 2

    return min(range(1, k), key=total)


def width(method, own):
    if method == "krr":
        return number_bytes(own["size"])
    if method == "hadamard":
        return number_bytes(2 * rows_of(own))
    if method == "olh":
        return 12 + number_bytes(buckets(own))
    if method == "rappor":
        return 2 + -(-own["bits"] // 8)
    if method == "pcep":
        return sum(size for size, _ in pcep_parts(own))
    return -(-sum(own.get("sizes", [own.get("size")])) // 8)


def pcep_parts(own):
    choices = [(len(own[name]), f"unknown {name[:-1]}") for name in ("regions", "levels")]
    parts = [(number_bytes(2 * own["rows"]), "out of range")]
    return parts + [(number_bytes(number) if number > 1 else 0, reason) for number, reason in choices]


def meaning(method, own, payload):  # noqa: PLR0911  # one for every layout
    """Return (fault or None, what the payload says, what it adds to the tally)."""
    little = int.from_bytes(payload, "little")
    if method == "krr":
        k = own["size"]
        return "out of range" if little >= k else None, {"value": little}, {little: 1}
    if method == "hadamard":
        row, sign = little >> 1, -1 if little & 1 else 1
        return "out of range" if row >= rows_of(own) else None, {"row": row, "sign": sign}, {row: sign}
    if method == "olh":
        g = buckets(own)
        a, b, c, y = (int.from_bytes(payload[at : at + 4], "little") for at in (0, 4, 8, 12))
        if max(a, b, c) >= PRIME or y >= g:
            return "out of range", {}, {}
        held = [v for v in range(own["size"]) if (c * v * v + a * v + b) % PRIME * g // 2**31 == y]
        return None, {"a": a, "b": b, "c": c, "bucket": y, "supports": held}, dict.fromkeys(held, 1)
    if method == "rappor":
        return rappor_meaning(own, payload)
    if method == "pcep":
        return pcep_meaning(own, payload)
    size = sum(own.get("sizes", [own.get("size")]))
    held = ones(payload, size)
    wrong = "padding" if padding(payload, size) else None
    if method == "subset_selection" and wrong is None and len(held) != weight(own):
        wrong = "weight"
    return wrong, {"bits": held}, dict.fromkeys(held, 1)


def rappor_meaning(own, payload):
    cohort, held, m = int.from_bytes(payload[:2], "little"), ones(payload[2:], own["bits"]), own["bits"]
    wrong = "unknown cohort" if cohort >= own["cohorts"] else "padding" if padding(payload[2:], m) else None
    start = cohort * (m + 1)
    blooms = {one: bloom(one, cohort, own) for one in own["candidates"]}
    return wrong, {"cohort": cohort, "bits": held, "blooms": blooms}, {start + v: 1 for v in [*held, m]}


def bloom(candidate, cohort, own):
    head = b"dpress bloom bit" + cohort.to_bytes(2, "little")
    digests = [
        hashlib.sha256(head + i.to_bytes(2, "little") + candidate.encode()).digest() for i in range(own["hashes"])
    ]
    return sorted({int.from_bytes(one[:8], "little") % own["bits"] for one in digests})


def pcep_meaning(own, payload):
    found, place = [], 0
    for size, _ in pcep_parts(own):
        found.append(int.from_bytes(payload[place : place + size], "little"))
        place += size
    number, region, level = found
    limits = (2 * own["rows"], len(own["regions"]), len(own["levels"]))
    faults = [reason for (_, reason), one, limit in zip(pcep_parts(own), found, limits, strict=True) if one >= limit]
    row, sign = number >> 1, -1 if number & 1 else 1
    start = (region * len(own["levels"]) + level) * (own["rows"] + 1)
    said = {"row": row, "sign": sign, "region": region, "level": level}
    return (faults or [None])[0], said, {start + row: sign, start + own["rows"]: 1}


# --- vectors


def some_payload(method, own, salt):
    """Return a payload that the method could send: pseudo-random bytes, set right."""
    name = f"{method} {sorted(own)} {salt}"
    for attempt in range(10_000):
        payload = bytearray(stream(f"{name} {attempt}", width(method, own)))
        if method == "subset_selection":
            chosen = sorted(range(own["size"]), key=lambda v: stream(f"{name} {v}", 8))[: weight(own)]
            payload = bytearray(len(payload))
            for v in chosen:
                payload[v // 8] |= 1 << v % 8
        if method == "pcep":
            limits = (2 * own["rows"], len(own["regions"]), len(own["levels"]))
            numbers = [int.from_bytes(stream(f"{name} {i}", 4), "big") % limit for i, limit in enumerate(limits)]
            sizes = [size for size, _ in pcep_parts(own)]
            payload = b"".join(one.to_bytes(n, "little") for one, n in zip(numbers, sizes, strict=True) if n)
        if method in ("krr", "hadamard", "olh"):
            limit = {"krr": own["size"], "hadamard": 2 * rows_of(own)}.get(method) or buckets(own)
            tail = payload[12:] if method == "olh" else payload
            number = int.from_bytes(tail, "little") % limit
            payload[len(payload) - len(tail) :] = number.to_bytes(len(tail), "little")
        if method == "rappor":
            payload[:2] = (payload[0] % own["cohorts"]).to_bytes(2, "little")
        if meaning(method, own, bytes(payload))[0] is None:
            return bytes(payload)
    raise ValueError(name)


def bad_payloads(method, own):
    """Yield payloads that the method cannot have sent."""
    good, size = some_payload(method, own, "bad"), width(method, own)
    yield "too short", good[:-1]
    yield "too long", good + b"\0"
    if method == "olh":
        yield "a is P", PRIME.to_bytes(4, "little") + good[4:]
        yield "b is P", good[:4] + PRIME.to_bytes(4, "little") + good[8:]
        yield "c is P", good[:8] + PRIME.to_bytes(4, "little") + good[12:]
        yield "bucket", good[:12] + buckets(own).to_bytes(size - 12, "little")
    elif method in ("krr", "hadamard"):
        yield "first beyond", (own["size"] if method == "krr" else 2 * rows_of(own)).to_bytes(size, "little")
    elif method == "rappor":
        yield "cohort", own["cohorts"].to_bytes(2, "little") + good[2:]
        yield "padding", good[:-1] + bytes([good[-1] | 0x80])
    elif method == "pcep":
        first = number_bytes(2 * own["rows"])
        yield "row", (2 * own["rows"]).to_bytes(first, "little") + good[first:]
        if len(own["levels"]) > 1:
            yield "region", good[:first] + b"\x02" + good[first + 1 :]
            yield "level", good[:-1] + b"\x02"
    else:
        if sum(own.get("sizes", [own.get("size")])) % 8:
            yield "padding", good[:-1] + bytes([good[-1] | 0x80])
        if method == "subset_selection":
            yield "weight", bytes(size)


def vector(name, method, own, packed, *, reason=None, round_number=0):
    made = {"name": name, "spec": SPEC.hex(), "method": method, "parameters": own, "round": round_number}
    made |= {"widths": [width(method, own)], "packed": packed.hex()}
    if reason is not None:
        return made | {"accepted": False, "reason": reason}
    version, spec, sender, identity, at, question, payload = unpack(packed)
    assert (version, spec, sender, at, question) == (1, SPEC, method, round_number, 0)
    fault, said, tally = meaning(method, own, payload)
    if len(payload) != width(method, own) or fault is not None:
        return made | {"accepted": False, "reason": "length of the payload" if fault is None else fault}
    fields = {"version": 1, "id": identity.hex(), "question": 0, "payload": payload.hex()}
    return made | {
        "accepted": True,
        "report": fields,
        "meaning": said,
        "tally": {str(at): n for at, n in tally.items()},
    }


def fields_of(method, payload, /, **changed):
    names = ("version", "spec", "method", "id", "round", "question", "payload")
    standard = (1, SPEC, method, stream(f"id {method} {payload.hex()}", 16), 0, 0, payload)
    return list((dict(zip(names, standard, strict=True)) | changed).values())


def by_payload():
    for method, instances in ORACLES.items():
        for own in instances:
            for salt in range(4):
                payload = some_payload(method, own, salt)
                yield vector(f"{method}: sound", method, own, pack(fields_of(method, payload)))
            for name, payload in bad_payloads(method, own):
                packed = pack(fields_of(method, payload))
                wrong = "length of the payload" if len(payload) != width(method, own) else None
                yield vector(f"{method}: {name}", method, own, packed, reason=wrong)


def by_field():
    """Yield what is wrong outside the payload."""
    own, method, payload = ORACLES["krr"][0], "krr", b"\x03"

    def made(name, reason, packed=None, **changed):
        return vector(
            name, method, own, pack(fields_of(method, payload, **changed)) if packed is None else packed, reason=reason
        )

    good = pack(fields_of(method, payload))
    yield made("version 2", "version", version=2)
    yield made("version 0", "field", version=0)
    yield made("version 256", "field", version=256)
    yield made("another specification", "another specification", spec=bytes(16))
    yield made("another method", "another method", method="oue")
    yield made("a method that there is not", "another method", method="nothing")
    yield made("no method", "field", method="")
    yield made("a long method", "field", method="k" * 65)
    yield made("another round", "another round", round=1)
    yield made("a round beyond 16 bits", "field", round=65536)
    yield made("unknown question", "unknown question", question=1)
    yield made("a question beyond 16 bits", "field", question=65536)
    yield made("a short hash", "field", spec=SPEC[:-1])
    yield made("a short id", "field", id=bytes(15))
    yield made("a long id", "field", id=bytes(17))
    yield made("an id of text", "field", id="0123456789abcdef")
    yield made("a payload of text", "field", payload="3")
    yield made("a payload that is a number", "field", payload=3)
    yield made("a method of bytes", "field", method=b"krr")
    yield made("a round of text", "field", round="0")
    yield made("an empty payload", "length of the payload", payload=b"")
    yield made("trailing byte", "form", good + b"\0")
    yield made("two reports", "form", good + good)
    for cut in (0, 1, 2, len(good) // 2, len(good) - 1):
        yield made(f"cut after {cut} bytes", "form", good[:cut])
    yield made("six fields", "field", b"\x96" + pack(fields_of(method, payload))[1:-3])
    yield made("eight fields", "field", b"\x98" + good[1:] + b"\0")
    yield made("a map", "field", b"\x81\xa1a\x01")
    yield made("not MessagePack", "form", b"\xc1" + good[1:])
    yield made("JSON", "field", b'{"version": 1}')
    yield made("null payload", "field", good[:-3] + b"\xc0")
    yield made(
        "negative round",
        "field",
        pack(fields_of(method, payload)[:4]).replace(b"\x94", b"\x97", 1) + b"\xff\0\xc4\x01\x03",
    )
    yield made("a method that is no UTF-8", "field", good.replace(b"krr", b"kr\xff"))
    yield made("version true", "field", b"\x97\xc3" + good[2:])
    yield vector("round 65535", method, own, pack(fields_of(method, payload, round=65535)), round_number=65535)
    yield vector("round 300", method, own, pack(fields_of(method, payload, round=300)), round_number=300)


# --- what a device derives from its secret, and PCEP's public matrix


def permanent(secret, spec, question, value, size, threshold):
    head = b"dpress permanent" + spec + question.to_bytes(2, "little") + value.to_bytes(4, "little")
    blocks = (hmac.digest(secret, head + i.to_bytes(4, "little"), "sha256") for i in range(-(-size // 8)))
    text = b"".join(blocks)
    return [b for b in range(size) if int.from_bytes(text[4 * b : 4 * b + 4], "little") < threshold]


def permanents():
    for place, (secret_size, size, value, question) in enumerate([(16, 5, 0, 0), (32, 12, 3, 1), (64, 100, 99, 65535)]):
        secret, threshold = stream(f"secret {place}", secret_size), 2**32 // (place + 3)
        digest = hmac.digest(secret, b"dpress cohort   " + SPEC, "sha256")
        yield {
            "secret": secret.hex(), "spec": SPEC.hex(), "question": question, "value": value, "size": size,
            "threshold": threshold, "flipped": permanent(secret, SPEC, question, value, size, threshold),
            "cohorts": 64, "cohort": int.from_bytes(digest[:8], "little") % 64,
        }  # fmt: skip


def projections():
    for rows, size in ((6, 3), (5, 300)):
        seed = stream(f"seed {size}", 16)
        positive = []
        for j in range(rows):
            head = b"dpress pcep rows" + seed + j.to_bytes(4, "little")
            text = b"".join(hashlib.sha256(head + i.to_bytes(4, "little")).digest() for i in range(-(-size // 256)))
            positive.append(ones(text, size))
        yield {"seed": seed.hex(), "rows": rows, "size": size, "positive": positive}


golden = {
    "made_by": "make_reports.py, layout version 1",
    "vectors": [*by_payload(), *by_field()],
    "permanent": [*permanents()],
    "projections": [*projections()],
}
if __name__ == "__main__":
    lines = {name: ",\n".join(map(json.dumps, own)) for name, own in golden.items() if isinstance(own, list)}
    body = "".join(f',\n"{name}": [\n{text}\n]' for name, text in lines.items())
    Path(__file__).with_name("reports.json").write_text(f'{{"made_by": {json.dumps(golden["made_by"])}{body}\n}}\n')
