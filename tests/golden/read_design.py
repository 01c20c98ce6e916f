"""A reader of designs from docs/reference/design.md alone, with the standard library and no word of dpress."""

import datetime as dt
import hashlib
import hmac
import json
import re
from fractions import Fraction

BLANKS = " \t\n\r\f"
BEYOND = 10**999  # stands for an infinity
MISSING, OUTSIDE = object(), object()
ROUND = {"weekday": 7, "month of year": 12}
WRITTEN = re.compile(
    rf"[{BLANKS}]*(?P<day>\d{{4}}-\d\d-\d\d)"
    rf"([ T]([01]\d|2[0-3]):([0-5]\d(:[0-5]\d([.,]\d+)?)?|59:60([.,]\d+)?))?[{BLANKS}]*",
    re.ASCII,
)


def canonical(ask):
    return json.dumps(ask, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def identity(ask):
    return hashlib.sha256(canonical(ask)).hexdigest()


def collection(ask):
    first = ask["rounds"] and ask["rounds"]["collection"]
    return bytes.fromhex(first or identity(ask))[:16]


# --- from a value to a code


def cells(own):
    """Return how many cells stand for values, and the names of those beside them."""
    if own["kind"] in ("categorical", "ordinal"):
        names = [own["other"], own["other"] if own["null"] is None else own["null"]]
        number = len(own["values"])
    elif own["kind"] == "date":
        names = [own["null"]]
        number = ROUND.get(own["cells"]) or dated(own, own["bounds"][1]) + 1
    else:
        names = [own["null"]]
        span = own["bounds"][1] - own["bounds"][0] + 1 if own["kind"] == "integer" else 0
        number = own["bins"] or span or len(own["edges"]) - 1
    return number, [name for name in dict.fromkeys(names) if name not in ("reject", "drop")]


def code(own, value):
    """Return the code of a text, a number, a truth or nothing; a text where a device has nothing to send."""
    if own["kind"] == "strings":
        return candidate(own, value)
    number, beside = cells(own)
    found = (listed if "values" in own else dated if own["kind"] == "date" else placed)(own, value)
    if found not in (MISSING, OUTSIDE):
        return found
    outside = own["other"] if "values" in own else own["outside"]
    null = outside if own["null"] is None else own["null"]
    policy = null if found is MISSING else outside
    return number + beside.index(policy) if policy in beside else policy


def candidate(own, value):
    """Return the code of a string that a device is asked about prefix by prefix."""
    other = len(own["prefixes"]) * 2 ** own["bits"] + len(own["strings"])
    if isinstance(value, float) and value == value // 1 and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, float) or value is None:
        return "reject" if own["null"] == "reject" else other
    text = value if isinstance(value, str) else json.dumps(value)
    held = text.encode("utf-8", "replace")
    if text in own["strings"]:
        return other - len(own["strings"]) + own["strings"].index(text)
    if not 0 < len(held) <= own["longest"] or 0 in held:
        return other
    bits = "".join(f"{byte:08b}" for byte in held.ljust(own["longest"], b"\0"))
    for place, prefix in enumerate(own["prefixes"]):
        if "".join(f"{int(digit, 16):04b}" for digit in prefix)[: own["known"]] == bits[: own["known"]]:
            return place * 2 ** own["bits"] + int("0" + bits[own["known"] :][: own["bits"]], 2)
    return other


def numeral(text):
    """Return the exact number that a text reads as, or None."""
    stripped = text.strip(BLANKS)
    mantissa, _, exponent = stripped.replace("E", "e").partition("e")
    unsigned = mantissa[1:] if mantissa[:1] in ("+", "-") else mantissa
    digits = unsigned.replace(".", "", 1)
    power = exponent[1:] if exponent[:1] in ("+", "-") else exponent
    whole = (
        digits.isascii() and digits.isdigit() and ("e" not in stripped.lower() or (power.isascii() and power.isdigit()))
    )
    return Fraction(stripped) if whole else None


def exact(value):
    if value is None or value != value:  # noqa: PLR0124  # NaN
        return None
    if isinstance(value, str):
        return numeral(value)
    if value in (float("inf"), -float("inf")):
        return Fraction(BEYOND if value > 0 else -BEYOND)
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(int(value))


def dated(own, value):
    """Return the place of a date, counted by days or months since the year 1."""
    match = WRITTEN.fullmatch(value) if isinstance(value, str) else None
    try:
        day = dt.date.fromisoformat(match["day"]) if match else None
    except ValueError:
        return MISSING
    if day is None:
        return MISSING
    low, high = map(dt.date.fromisoformat, own["bounds"] or ["0001-01-01", "9999-12-31"])
    if own["outside"] != "clamp" and not low <= day <= high:
        return OUTSIDE
    first, near = (counted(own["cells"], one) for one in (low, min(max(day, low), high)))
    return near % ROUND[own["cells"]] if own["cells"] in ROUND else near - first


def counted(cells, day):
    days, months = day.toordinal() - 1, 12 * day.year + day.month - 1  # 0001-01-01 was a Monday
    by = {"day": days, "week": days // 7, "month": months, "quarter": months // 3, "year": months // 12}
    return (by | {"whole": 0, "weekday": days, "month of year": months})[cells]


def nearest(found):
    return float(found) if abs(found) < BEYOND else float("inf" if found > 0 else "-inf")


def placed(own, value):
    found = exact(value)
    if found is None:
        return MISSING
    if own["kind"] == "integer":
        low, high = own["bounds"]
        place = found.numerator // found.denominator
    else:
        edges = [float(one) for one in own["edges"] or own["bounds"]]
        low, high, place = edges[0], edges[-1], nearest(found)
    if own["outside"] != "clamp" and not low <= place <= high:
        return OUTSIDE
    place = min(max(place, low), high)
    if own["kind"] == "integer":
        return (place - low) * own["bins"] // (high - low + 1) if own["bins"] else place - low
    if own["bins"]:
        edges = [low + ((high - low) * i) / own["bins"] for i in range(own["bins"])] + [high]
    return max(i for i in range(len(edges) - 1) if edges[i] <= place)


def listed(own, value):
    """Return the place of a value in a list of texts that are no times, of integers, or of booleans."""
    kind, values = type(own["values"][0]), own["values"]
    if value is None or value != value:  # noqa: PLR0124  # NaN
        return MISSING
    if kind is not str and isinstance(value, str):
        found = (
            numeral(value) if kind is int else {"true": 1, "1": 1, "false": 0, "0": 0}.get(value.strip(BLANKS).lower())
        )
        if found is None:
            return MISSING if kind is int else OUTSIDE
        value = found
    if isinstance(value, float) and abs(value) >= 2**53:
        return OUTSIDE
    matches = [place for place, one in enumerate(values) if stands_for(one, value, kind)]
    return min(matches, key=lambda place: (len(str(values[place])), place)) if matches else OUTSIDE


def stands_for(one, value, kind):
    if kind is not str:
        return exact(value) == int(one) if not isinstance(value, Fraction) else value == int(one)
    if isinstance(value, (str, bool)):
        return one == (value if isinstance(value, str) else str(value).lower())
    bare = one.removeprefix("-").partition(".")
    sound = all(part.isascii() and part.isdigit() for part in (bare[0], bare[2] if bare[1] else "0"))
    return sound and (bare[0] == "0" or bare[0][0] != "0") and Fraction(one) == exact(value)


# --- what a device sends


def drawn(ask, secret):
    """Return the report type that a device with a secret answers, and the slot of its first attribute."""
    weights = [one["weight"] for one in ask["report_types"]]
    digest = hmac.digest(secret, b"dpress group    " + collection(ask), "sha256")
    left, place = int.from_bytes(digest[:8], "little") % sum(weights), 0
    while left >= weights[place]:
        left, place = left - weights[place], place + 1
    return place, sum(len(part["axes"]) for one in ask["report_types"][:place] for part in one["parts"])


def flips(secret, key, slot, value, size, f):
    """Return which bits of a value's string are flipped for ever."""
    head = b"dpress permanent" + key + slot.to_bytes(2, "little") + value.to_bytes(4, "little")
    words = b"".join(hmac.digest(secret, head + i.to_bytes(4, "little"), "sha256") for i in range(-(-size // 8)))
    limit = Fraction(f) / 2 * 2**32
    return [int.from_bytes(words[4 * b : 4 * b + 4], "little") < limit for b in range(size)]


def permanent(own, codes, secret, key, slot):
    """Return the bits of `rr_ldp` before the fresh coins."""
    found = []
    for place, (value, size) in enumerate(zip(codes, own["sizes"], strict=True)):
        turned = flips(secret, key, slot + place, value, size, own["f"])
        found += [(b == value) != turned[b] for b in range(size)]
    return found


def packed(bits):
    out = bytearray(-(-len(bits) // 8))
    for v, bit in enumerate(bits):
        out[v // 8] |= bit << v % 8
    return bytes(out)


def number(value, limit):
    return value.to_bytes(max(1, ((limit - 1).bit_length() + 7) // 8), "little")


def krr(own, value, *, coin, other):
    """Return the payload for a 64-bit coin and the place of the other value among the k - 1 others."""
    honest = coin < Fraction(own["p"]) * 2**64
    return number(value if honest else other + (other >= value), own["size"])


def oue(own, value, *, coins):
    """Return the payload for a 64-bit coin for every bit."""
    chances = [Fraction(own["p"] if v == value else own["q"]) * 2**64 for v in range(own["size"])]
    return packed([coin < chance for coin, chance in zip(coins, chances, strict=True)])


def hadamard(own, value, *, coin, row):
    """Return the payload for a 64-bit coin and a row."""
    flipped = coin >= Fraction(own["p"]) * 2**64
    return number(2 * row + (((row & value).bit_count() % 2 == 1) != flipped), 2 * own["rows"])
