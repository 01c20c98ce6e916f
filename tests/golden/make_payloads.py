"""MessagePack and payloads for reports.json, by a program that shares no code with dpress: bytes to their meaning."""

import hashlib
import math

from make_documents import outputs, region_lists

PRIME = 2**31 - 1
HASHED = ("olh", "loloha")  # reports of a seed and a cell


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


def width(own):
    method = own["method"]
    if method == "rappor":
        return 2 + -(-own["bits"] // 8)
    if method in ("pcep", "safe_regions"):
        return sum(size for size, _ in sign_parts(own))
    if (limit := number_limit(own)) is not None:
        return 12 * (method in HASHED) + number_bytes(limit)
    return -(-bits_of(own) // 8)


def bits_of(own):
    return sum(own.get("sizes", [own.get("size")]))


def choices_of(own):
    """Return how many regions and how many levels a report of a sign names."""
    if own["method"] == "safe_regions":
        return len(region_lists(own)[0]), len(own["epsilons"])
    return len(own["regions"]), len(own["levels"])


def sign_parts(own):
    choices = zip(choices_of(own), ("unknown region", "unknown level"), strict=True)
    parts = [(number_bytes(2 * own["rows"]), "out of range")]
    return parts + [(number_bytes(number) if number > 1 else 0, reason) for number, reason in choices]


def sign_limits(own):
    return (2 * own["rows"], *choices_of(own))


def meaning(own, payload):  # noqa: PLR0911  # one for every layout
    """Return (fault or None, what the payload says, what it adds to the tally)."""
    method, little = own["method"], int.from_bytes(payload, "little")
    if method in ("krr", "disk_reports"):
        k = own["size"] if method == "krr" else len(outputs(own["grid"]["side"], own["radius"]))
        return "out of range" if little >= k else None, {"value": little}, {little: 1}
    if method in ("square_wave", "piecewise", "circular_wave", "one_bit"):
        return "out of range" if little >= number_limit(own) else None, {"value": little}, {little: 1}
    if method == "hadamard":
        row, sign = little >> 1, -1 if little & 1 else 1
        return "out of range" if row >= own["rows"] else None, {"row": row, "sign": sign}, {row: sign}
    if method == "pgr":
        return "out of range" if little >= len(space(own)) else None, {"point": little}, {little: 1}
    if method in HASHED:
        g = own["g"]
        a, b, c, y = (int.from_bytes(payload[at : at + 4], "little") for at in (0, 4, 8, 12))
        if max(a, b, c) >= PRIME or y >= g:
            return "out of range", {}, {}
        held = [v for v in range(own["size"]) if bucket(v, a, b, c, g) == y]
        return None, {"a": a, "b": b, "c": c, "bucket": y, "supports": held}, dict.fromkeys(held, 1)
    if method == "rappor":
        return rappor_meaning(own, payload)
    if method in ("pcep", "safe_regions"):
        return sign_meaning(own, payload)
    size = bits_of(own)
    held = ones(payload, size)
    wrong = "padding" if padding(payload, size) else None
    if method == "subset_selection" and wrong is None and len(held) != own["weight"]:
        wrong = "weight"
    return wrong, {"bits": held}, dict.fromkeys(held, 1)


def bucket(v, a, b, c, g):
    return (c * v * v + a * v + b) % PRIME * g // 2**31


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


def sign_meaning(own, payload):
    found, start = [], 0
    for size, _ in sign_parts(own):
        found.append(int.from_bytes(payload[start : start + size], "little"))
        start += size
    number, region, level = found
    limits = sign_limits(own)
    faults = [reason for (_, reason), one, limit in zip(sign_parts(own), found, limits, strict=True) if one >= limit]
    row, sign = number >> 1, -1 if number & 1 else 1
    start = (region * limits[2] + level) * (own["rows"] + 1)
    said = {"row": row, "sign": sign, "region": region, "level": level}
    return (faults or [None])[0], said, {start + row: sign, start + own["rows"]: 1}


def number_limit(own):
    """Return the first number that the last field of a payload cannot be; None where it is no number."""
    if own["method"] == "disk_reports":
        return len(outputs(own["grid"]["side"], own["radius"]))
    if own["method"] in ("square_wave", "piecewise"):
        return own["groups"] * (own["levels"] + own["window"] - 1)
    if own["method"] == "circular_wave":
        return own["groups"] * own["levels"]
    if own["method"] == "pgr":
        return len(space(own))
    return {
        "krr": own.get("size"),
        "one_bit": 2,
        "hadamard": 2 * own.get("rows", 0),
        "olh": own.get("g"),
        "loloha": own.get("g"),
    }.get(own["method"])


# --- projective spaces


def digits(number, order, size):
    return [number // order**place % order for place in reversed(range(size))]


def multiplied(one, other, order):
    """Return a product in the field: modulo a prime; of polynomials over bits modulo x^2 + x + 1 or x^3 + x + 1."""
    if order not in (4, 8):
        return one * other % order
    product = 0
    for bit in range(3):
        product ^= (one << bit) * (other >> bit & 1)
    for bit in (4, 3, 2):
        if product >> bit & 1 and 1 << bit >= order:
            product ^= {4: 0b111, 8: 0b1011}[order] << bit - (2 if order == 4 else 3)
    return product


def dot(one, other, order):
    total = 0
    for product in (multiplied(a, b, order) for a, b in zip(one, other, strict=True)):
        total = total ^ product if order in (4, 8) else (total + product) % order
    return total


def scaled(vector, scale, order):
    return [multiplied(scale, one, order) for one in vector]


def space(own):
    """Return all points in their order: those that begin with most zeros first, then by their digits."""
    size, order = 1, own["order"]
    while (order**size - 1) // (order - 1) < own["size"]:
        size += 1
    return [
        [*[0] * (size - 1 - tail), 1, *digits(rest, order, tail)] for tail in range(size) for rest in range(order**tail)
    ]
