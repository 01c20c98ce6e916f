"""Documents of oracles for reports.json, by a program that shares no code with dpress: definitions to numbers."""

import math
from decimal import ROUND_FLOOR, Decimal, getcontext
from fractions import Fraction

getcontext().prec = 120


def text(number):
    return f"{number.numerator}/{number.denominator}"


def loss(epsilon):
    return {"epsilon": text(Fraction(epsilon))}


def truth(epsilon, others=1):
    """Return e^epsilon / (e^epsilon + others) as a multiple of 2^-64, rounded down."""
    own, rest = Fraction(epsilon), Fraction(others)
    odds = (Decimal(own.numerator) / own.denominator).exp()
    share = odds / (odds + Decimal(rest.numerator) / rest.denominator)
    return Fraction(int((share * 2**64).to_integral_value(ROUND_FLOOR)), 2**64)


def krr(size, epsilon):
    return {"method": "krr", "size": size, "loss": loss(epsilon), "p": text(truth(epsilon, size - 1))}


def hadamard(size, epsilon):
    rows = 2 ** math.ceil(math.log2(size))
    return {"method": "hadamard", "size": size, "loss": loss(epsilon), "rows": rows, "p": text(truth(epsilon))}


def pgr(size, epsilon, order, dimension):
    """Return the document with the field of least variance, which is known."""
    all_of_them, on = ((order**t - 1) // (order - 1) for t in (dimension, dimension - 1))
    p = truth(epsilon, Fraction(all_of_them - on, on))
    return {"method": "pgr", "size": size, "loss": loss(epsilon), "order": order, "p": text(p)}


def olh(size, epsilon):
    g = round(math.exp(float(epsilon)) + 1)
    return {"method": "olh", "size": size, "loss": loss(epsilon), "g": g, "p": text(truth(epsilon, g - 1))}


def below_e(epsilon):
    """Return e^epsilon, rounded down far behind the digits that matter."""
    own = Fraction(epsilon)
    return Fraction((Decimal(own.numerator) / own.denominator).exp())


def loloha(size, epsilon, g, lifetime):
    u = Fraction(math.ceil(2**32 / (below_e(lifetime) + g - 1)), 2**32)
    kept, power = 1 - (g - 1) * u, below_e(epsilon)
    odds = (power * (1 - u) - (1 - kept)) / ((g - 1) * (kept - power * u))
    p = Fraction(math.floor(odds / (1 + odds) * 2**64), 2**64)
    return {"method": "loloha", "size": size, "loss": loss(epsilon), "g": g, "other": text(u), "p": text(p)}


def sue(size, epsilon):
    p = truth(Fraction(epsilon) / 2)
    return {"method": "sue", "size": size, "loss": loss(epsilon), "p": text(p), "q": text(1 - p)}


def oue(size, epsilon):
    return {"method": "oue", "size": size, "loss": loss(epsilon), "p": "1/2", "q": text(1 - truth(epsilon))}


def subset_selection(size, epsilon):
    e = math.exp(float(epsilon))

    def total(w):
        """Return the total variance with w values in a report."""
        p = w * e / (w * e + size - w)
        q = (w - p) / (size - 1)
        return (p * (1 - p) + (size - 1) * q * (1 - q)) / (p - q) ** 2

    w = min(range(1, size), key=total)
    p = truth(epsilon, Fraction(size - w, w))
    probabilities = {"p": text(p), "q": text((w - p) / (size - 1))}
    return {"method": "subset_selection", "size": size, "loss": loss(epsilon), "weight": w, **probabilities}


def responses(f, p, q):
    """Return f rounded up to two flips of 2^-32, p down and q up to 2^-64."""
    exact = Fraction(math.ceil(Fraction(f) / 2 * 2**32), 2**31)
    return {"f": text(exact), "p": text(Fraction(p)), "q": text(Fraction(q))}


def rappor(candidates, bits, hashes, cohorts, **rates):
    sizes = {"bits": bits, "hashes": hashes, "cohorts": cohorts}
    return {"method": "rappor", "candidates": candidates, **responses(**rates), **sizes}


def rr_ldp(sizes, **rates):
    return {"method": "rr_ldp", "sizes": sizes, **responses(**rates)}


def pcep(size, rows, levels, regions, seed=bytes(16)):
    probabilities = [text(truth(one)) for one in levels]
    own = {"rows": rows, "regions": regions, "seed": seed.hex(), "probabilities": probabilities}
    return {"method": "pcep", "size": size, "levels": [loss(one) for one in levels], **own}


def safe_regions(side, epsilon, levels, epsilons):
    cells = side * side
    own = {"grid": {"side": side}, "loss": loss(epsilon), "region_levels": levels}
    own |= {"epsilons": [text(Fraction(one)) for one in epsilons], "rows": 8 * cells, "seed": bytes(16).hex()}
    return {"method": "safe_regions", **own, "probabilities": [text(truth(one)) for one in epsilons]}


def disk_reports(side, epsilon, radius):
    near, all_of_them = len(disk(radius)), len(outputs(side, radius))
    share = truth(epsilon, Fraction(all_of_them - near, near))
    return {
        "method": "disk_reports", "grid": {"side": side}, "loss": loss(epsilon), "radius": radius, "truth": text(share),
    }  # fmt: skip


def window_reports(method, levels, groups, epsilon, window):
    others = groups * (levels + window - 1) - window
    share = truth(epsilon, Fraction(others, window))
    return {
        "method": method, "levels": levels, "loss": loss(epsilon), "groups": groups, "window": window,
        "truth": text(share),
    }  # fmt: skip


def circular_reports(levels, groups, epsilon, window):
    share = truth(epsilon, Fraction(groups * levels - window, window))
    return window_reports("circular_wave", levels, groups, epsilon, window) | {"truth": text(share)}


def one_bit(size, epsilon):
    """Return the document whose p is the largest with equal steps, each an even multiple of 2^-64."""
    steps = size - 1
    step = (2 * int(truth(epsilon) * 2**64) - 2**64) // steps // 2 * 2
    return {"method": "one_bit", "size": size, "loss": loss(epsilon), "p": text(Fraction(2**64 + steps * step, 2**65))}


def disk(radius):
    """Return the cells at most `radius` from (0, 0), row by row."""
    ends = range(-radius, radius + 1)
    return [(x, y) for x in ends for y in ends if x * x + y * y <= radius * radius]


def outputs(side, radius):
    """Return the cells at most `radius` from any of the grid, row by row."""
    near = disk(radius)
    return sorted({(x + dx, y + dy) for x in range(side) for y in range(side) for dx, dy in near})


def place(cell, side):
    """Return across and up of a cell: Morton order where the side is a power of two, else row by row."""
    if side & side - 1:
        return divmod(cell, side)
    number = f"{cell:b}".zfill(2 * (side.bit_length() - 1))
    return int("0" + number[::2], 2), int("0" + number[1::2], 2)


def region_lists(own):
    """Return the cells of every safe region, level by level, and the first region of every level."""
    cells, found, starts = own["grid"]["side"] ** 2, [], []
    for level in own["region_levels"]:
        starts.append(len(found))
        each = cells // 4**level
        found += [[*range(start, start + each)] for start in range(0, cells, each)]
    return found, starts


HALF = {"f": "0.5", "p": "0.5", "q": "0.75"}
INSTANCES = [
    krr(5, "1"), krr(300, "2"), krr(70000, "0.5"),
    hadamard(5, "1"), hadamard(1000, "2"),
    olh(6, "1"), olh(40, "6"),
    loloha(6, "1", 2, "2"), loloha(40, "3", 5, "4"),
    pgr(9, "1", 3, 3), pgr(70, "1", 4, 4), pgr(400, "2", 8, 4), pgr(300, "0.5", 3, 6),
    sue(9, "1"),
    oue(9, "1"), oue(100, "4"),
    subset_selection(9, "1"), subset_selection(30, "2"),
    rappor(["a", "b", "é"], 12, 2, 4, **HALF),
    pcep(3, 24, ["1"], [[0, 1, 2]]), pcep(3, 200, ["1", "2"], [[0, 1], [1, 2]]),
    rr_ldp([7], **HALF), rr_ldp([2, 3, 5], f="0.3", p="0.125", q="0.875"),
    window_reports("square_wave", 5, 2, "1", 2), window_reports("square_wave", 300, 1, "0.5", 200),
    window_reports("piecewise", 6, 1, "2", 3), one_bit(5, "1"), one_bit(4096, "3"),
    circular_reports(5, 3, "1", 2), circular_reports(300, 1, "0.5", 120),
    disk_reports(4, "1", 2), disk_reports(3, "4", 1), disk_reports(20, "0.5", 8),
    safe_regions(4, "1", [0, 1], ["1"]), safe_regions(8, "2", [1], ["0.5", "2"]),
]  # fmt: skip
