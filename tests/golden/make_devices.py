"""Devices for reports.json, by a program that shares no code with dpress: value, draws and secret to payload."""

import hashlib
import hmac
import json
from fractions import Fraction

from make_documents import INSTANCES, disk, outputs, place, region_lists
from make_payloads import PRIME, bloom, bucket, digits, dot, ones, scaled, sign_parts, space, stream, width

COLLECTION = hashlib.sha256(b"a collection").digest()[:16]


class Draws:
    """64-bit words that look random, in the order of use; `used` are those that were needed."""

    def __init__(self, name):
        self.name, self.used = name, []

    def words(self, number):
        for _ in range(number):
            start = 8 * len(self.used)
            self.used.append(int.from_bytes(stream(self.name, start + 8)[start:], "little"))
        return self.used[len(self.used) - number :]

    def halves(self, number):
        """Return words of 32 bits, the low half of each word first; an odd number leaves half a word unused."""
        found = [half for word in self.words(-(-number // 2)) for half in (word & 0xFFFFFFFF, word >> 32)]
        return found[:number]

    def small(self, limit, number=1):
        """Return integers below `limit` from words of 32 bits: the high half of the product, unless it is uneven."""
        products = [half * limit for half in self.halves(number)]
        while uneven := [i for i, one in enumerate(products) if one % 2**32 < 2**32 % limit]:
            for i, half in zip(uneven, self.halves(len(uneven)), strict=True):
                products[i] = half * limit
        return [one >> 32 for one in products]

    def below(self, limit):
        (word,) = self.words(1)
        while word >= 2**64 - 2**64 % limit:
            (word,) = self.words(1)
        return word % limit

    def coins(self, p, number=1):
        return [word < Fraction(p) * 2**64 for word in self.words(number)]


def answered(own, values, draws, secret=None, collection=COLLECTION, slot=0):  # noqa: C901, PLR0911, PLR0912  # one for every layout
    """Return the payload that a device with these values sends."""
    method, value, size = own["method"], values[0], width(own)
    if method == "krr":
        return other_or_own(value, own["size"], own["p"], draws).to_bytes(size, "little")
    if method == "hadamard":
        (kept,) = draws.coins(own["p"])
        row = draws.halves(1)[0] % own["rows"]
        negative = (row & value).bit_count() % 2 != (not kept)
        return (2 * row + negative).to_bytes(size, "little")
    if method == "pgr":
        return point(own, value, draws).to_bytes(size, "little")
    if method == "olh":
        a, b, c = draws.small(PRIME, 3)
        y = other_or_own(bucket(value, a, b, c, own["g"]), own["g"], own["p"], draws)
        return b"".join(one.to_bytes(4, "little") for one in (a, b, c)) + y.to_bytes(size - 12, "little")
    if method == "loloha":
        return hashed_for_ever(own, value, draws, secret, collection, slot)
    if method in ("sue", "oue"):
        words = draws.words(own["size"])
        chances = [Fraction(own["p"] if v == value else own["q"]) * 2**64 for v in range(own["size"])]
        return packed_bits([word < chance for word, chance in zip(words, chances, strict=True)])
    if method == "subset_selection":
        return subset(own, value, draws)
    if method in ("square_wave", "piecewise"):
        return in_window(own, value, draws).to_bytes(size, "little")
    if method == "circular_wave":
        return on_circle(own, value, draws).to_bytes(size, "little")
    if method == "one_bit":
        p = Fraction(own["p"])
        return bytes(draws.coins(1 - p + value * (2 * p - 1) / (own["size"] - 1)))
    if method == "disk_reports":
        return near_or_far(own, value, draws).to_bytes(size, "little")
    if method == "pcep":
        return sign(own, value, 0, 0, draws)
    if method == "safe_regions":
        return region_sign(own, value, draws)
    return responded(own, values, draws, secret, collection, slot)


def hashed_for_ever(own, value, draws, secret, collection, slot):
    """Return the seed that the secret draws, and what is left of the cell behind both responses."""
    digest = hmac.digest(secret, b"dpress hash     " + collection + slot.to_bytes(2, "little"), "sha256")
    a, b, c = (int.from_bytes(digest[at : at + 8], "little") % PRIME for at in (0, 8, 16))
    cell = bucket(value, a, b, c, own["g"])
    head = b"dpress permanent" + collection + slot.to_bytes(2, "little") + cell.to_bytes(4, "little") + bytes(4)
    word = int.from_bytes(hmac.digest(secret, head, "sha256")[:4], "little")
    others = [one for one in range(own["g"]) if one != cell]
    place = word // int(Fraction(own["other"]) * 2**32)
    kept = others[place] if place < len(others) else cell
    y = other_or_own(kept, own["g"], own["p"], draws)
    return b"".join(one.to_bytes(4, "little") for one in (a, b, c)) + y.to_bytes(width(own) - 12, "little")


def other_or_own(value, size, p, draws):
    (honest,) = draws.coins(p)
    (other,) = draws.small(size - 1)
    return value if honest else other + (other >= value)


def in_window(own, value, draws):
    group, level = divmod(value, own["levels"])
    row = own["levels"] + own["window"] - 1
    window = [group * row + level + i for i in range(own["window"])]
    (near,) = draws.small(len(window))
    (honest,) = draws.coins(own["truth"])
    (far,) = draws.small(own["groups"] * row - len(window))
    return window[near] if honest else [y for y in range(own["groups"] * row) if y not in window][far]


def on_circle(own, value, draws):
    group, level = divmod(value, own["levels"])
    row = [group * own["levels"] + (level + i) % own["levels"] for i in range(own["levels"])]
    window, others = row[: own["window"]], row[own["window"] :]
    others += [y for y in range(own["groups"] * own["levels"]) if y not in row]
    (near,) = draws.small(len(window))
    (honest,) = draws.coins(own["truth"])
    (far,) = draws.small(len(others))
    return window[near] if honest else others[far]


def packed_bits(bits):
    out = bytearray(-(-len(bits) // 8))
    for v, bit in enumerate(bits):
        out[v // 8] |= bool(bit) << v % 8
    return bytes(out)


def subset(own, value, draws):
    """Return the w values with the smallest words, one's own first or last of all."""
    (included,) = draws.coins(own["p"])
    while True:
        words = draws.halves(own["size"])
        words[value] = 0 if included else 2**32 - 1
        limit = sorted(words)[own["weight"]]
        chosen = [word < limit for word in words]
        if sum(chosen) == own["weight"]:
            return packed_bits(chosen)


def point(own, value, draws):
    """Return the number of a point on the value's hyperplane or off it, by the table of all points."""
    order, table = own["order"], space(own)
    vectors = order ** (len(table[0]) - 1)
    (on,) = draws.coins(own["p"])
    (near,), (far,) = draws.small(vectors - 1), draws.small(vectors)
    rest = digits(near + 1 if on else far, order, len(table[0]) - 1)
    lead = table[value].index(1)
    found = (
        one for one in range(order)
        if dot([*rest[:lead], one, *rest[lead:]], table[value], order) == (0 if on else 1)
    )  # fmt: skip
    vector = [*rest[:lead], next(found), *rest[lead:]]
    return next(i for i, one in enumerate(table) if any(scaled(one, s, order) == vector for s in range(1, order)))


def near_or_far(own, cell, draws):
    side, radius = own["grid"]["side"], own["radius"]
    x, y = place(cell, side)
    known, near = outputs(side, radius), [(x + dx, y + dy) for dx, dy in disk(radius)]
    (first,) = draws.small(len(near))
    (honest,) = draws.coins(own["truth"])
    far = [one for one in known if one not in set(near)]
    (second,) = draws.small(len(far))
    return known.index(near[first] if honest else far[second])


def sign(own, value, region, level, draws):
    row = draws.below(own["rows"])
    (kept,) = draws.coins(own["probabilities"][level])
    size = own["size"] if own["method"] == "pcep" else own["grid"]["side"] ** 2
    negative = (value not in positive(bytes.fromhex(own["seed"]), row, size)) != (not kept)
    numbers = (2 * row + negative, region, level)
    parts = zip(numbers, sign_parts(own), strict=True)
    return b"".join(one.to_bytes(size, "little") for one, (size, _) in parts if size)


def region_sign(own, cell, draws):
    choice = draws.below(len(own["region_levels"]))
    level = draws.below(len(own["epsilons"]))
    lists, starts = region_lists(own)
    region = starts[choice] + cell // len(lists[starts[choice]])
    return sign(own, cell, region, level, draws)


def responded(own, values, draws, secret, collection, slot):
    """Return the fresh response to the permanent one: of a filter, or of every attribute's own bit."""
    threshold = int(Fraction(own["f"]) / 2 * 2**32)
    if own["method"] == "rappor":
        digest = hmac.digest(secret, b"dpress cohort   " + collection, "sha256")
        cohort = int.from_bytes(digest[:8], "little") % own["cohorts"]
        held = set(bloom(own["candidates"][values[0]], cohort, own))
        flipped, size = set(permanent(secret, collection, slot, values[0], own["bits"], threshold)), own["bits"]
        head = cohort.to_bytes(2, "little")
    else:
        held, flipped, size, head = set(), set(), 0, b""
        for axis, (value, each) in enumerate(zip(values, own["sizes"], strict=True)):
            held.add(size + value)
            flipped |= {size + b for b in permanent(secret, collection, slot + axis, value, each, threshold)}
            size += each
    kept = held ^ flipped
    whole = 8 * -(-size // 8)
    ones_, zeros = draws.coins(own["q"], whole), draws.coins(own["p"], whole)
    return head + packed_bits([(ones_ if b in kept else zeros)[b] for b in range(size)])


def devices():
    for own in INSTANCES:
        for salt in range(6):
            name = f"device {json.dumps(own, sort_keys=True)} {salt}"
            values = [int.from_bytes(stream(f"{name} {i}", 4), "big") % size for i, size in enumerate(sizes_of(own))]
            made = {"oracle": own, "values": values}
            draws, secret = Draws(name), None
            if own["method"] in ("rappor", "rr_ldp", "loloha"):
                secret = stream(f"secret {name}", 16 + 8 * salt)
                made |= {"secret": secret.hex(), "collection": COLLECTION.hex(), "slot": 7 * salt}
            payload = answered(own, values, draws, secret, COLLECTION, 7 * salt)
            yield made | {"words": [f"{word:016x}" for word in draws.used], "payload": payload.hex()}


def sizes_of(own):
    """Return how many values each of the device's attributes has; of PCEP those of the first region."""
    if own["method"] == "pcep":
        return [len(own["regions"][0])]
    if own["method"] in ("square_wave", "piecewise", "circular_wave"):
        return [own["groups"] * own["levels"]]
    if own["method"] in ("disk_reports", "safe_regions"):
        return [own["grid"]["side"] ** 2]
    return own.get("sizes") or [own.get("size") or len(own["candidates"])]


# --- what a device derives from its secret, and PCEP's public matrix


def permanent(secret, collection, slot, value, size, threshold):
    head = b"dpress permanent" + collection + slot.to_bytes(2, "little") + value.to_bytes(4, "little")
    blocks = (hmac.digest(secret, head + i.to_bytes(4, "little"), "sha256") for i in range(-(-size // 8)))
    words = b"".join(blocks)
    return [b for b in range(size) if int.from_bytes(words[4 * b : 4 * b + 4], "little") < threshold]


def permanents():
    for number, (secret_size, size, value, slot) in enumerate([(16, 5, 0, 0), (32, 12, 3, 1), (64, 100, 99, 65535)]):
        secret, threshold = stream(f"secret {number}", secret_size), 2**32 // (number + 3)
        digest = hmac.digest(secret, b"dpress cohort   " + COLLECTION, "sha256")
        drawn = hmac.digest(secret, b"dpress group    " + COLLECTION, "sha256")
        yield {
            "secret": secret.hex(), "collection": COLLECTION.hex(), "slot": slot, "value": value, "size": size,
            "threshold": threshold, "flipped": permanent(secret, COLLECTION, slot, value, size, threshold),
            "cohorts": 64, "cohort": int.from_bytes(digest[:8], "little") % 64,
            "weights": 10, "drawn": int.from_bytes(drawn[:8], "little") % 10,
        }  # fmt: skip


def positive(seed, row, size):
    head = b"dpress pcep rows" + seed + row.to_bytes(4, "little")
    found = b"".join(hashlib.sha256(head + i.to_bytes(4, "little")).digest() for i in range(-(-size // 256)))
    return ones(found, size)


def projections():
    for rows, size in ((6, 3), (5, 300)):
        seed = stream(f"seed {size}", 16)
        own = {"seed": seed.hex(), "rows": rows, "size": size}
        yield own | {"positive": [positive(seed, row, size) for row in range(rows)]}
