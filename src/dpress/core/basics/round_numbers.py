"""Numbers that bounds may be chosen from, before anything is known of the values between them."""

import math

MOST = 257  # with the bounds: so many edges are looked up where the rows are
EVEN = 1 << 5  # parts of one width
STEPS = 1 << 3  # in every octave
OCTAVES = 28
APART = 2.0**-26  # of the number
QUARTERS = 1 << 2  # of an octave of distances


def round_numbers(low: float, high: float) -> tuple[float, ...]:
    """Return the bounds and at most 255 numbers between them, increasing: public, whatever the values are.

    They are the edges of 32 parts of one width, and numbers of three binary digits after the first, with their signs,
    down to 2^-28 of the larger bound (2^-14 where the bounds are of one size and different signs). So the largest of
    them that is not above a value is less than it by an eighth of it, or a 32nd of the width, at most.

    >>> found = round_numbers(0.0, 1e9)
    >>> len(found), found[:3], [one for one in found if 60_000 < one < 80_000]
    (256, (0.0, 4.0, 4.5), [61440.0, 65536.0, 73728.0])

    Args:
        low: finite.
        high: above it.
    """
    largest = max(abs(low), abs(high))
    even = [low + (high - low) * part / EVEN for part in range(EVEN)] + [high]
    top = math.frexp(largest)[1]
    among: list[float] = []
    for octave in range(top - 1, top - 1 - OCTAVES, -1):
        sizes = [sign * math.ldexp(1 + step / STEPS, octave) for step in range(STEPS) for sign in (-1, 1)]
        inside = (size for size in sizes if low < size < high)
        more = [size for size in inside if min(abs(size - edge) for edge in even) > APART * abs(size)]
        if len(even) + len(among) + len(more) > MOST:
            break
        among += more
    return tuple(sorted([*even, *among]))


def origin_of(low: float, high: float) -> float:
    """Return the number between two bounds that is nearest to zero."""
    return min(max(0.0, low), high)


def halvings(low: float, high: float) -> tuple[float, ...]:
    """Return the distance of the further bound from their origin, and the 28 powers of two below it, decreasing.

    >>> halvings(-60.0, 1440.0)[:4]
    (1440.0, 1024.0, 512.0, 256.0)
    """
    origin = origin_of(low, high)
    furthest = max(high - origin, origin - low)
    fraction, top = math.frexp(furthest)
    top -= fraction == 1 / 2
    return (furthest, *(math.ldexp(1.0, octave) for octave in range(top - 1, top - 1 - OCTAVES, -1)))


def round_distances(low: float, high: float) -> tuple[float, ...]:
    """Return the bounds, their origin, and at most 224 numbers at round distances from it, increasing.

    A distance is a power of two times 1, 1.25, 1.5 or 1.75: so are the eighths of a power of two up to itself, and
    quarters of it beyond. Both bounds have numbers down to 2^-28 of the further one, whatever their signs.

    >>> [number for number in round_distances(-60.0, 1440.0) if abs(number) > 30]
    [-60.0, -56.0, -48.0, -40.0, -32.0, 32.0, 40.0, 48.0, 56.0, 64.0, 80.0, 96.0, 112.0, 128.0, 160.0, 192.0, 224.0, \
256.0, 320.0, 384.0, 448.0, 512.0, 640.0, 768.0, 896.0, 1024.0, 1280.0, 1440.0]

    Args:
        low: finite.
        high: above it.
    """
    origin, furthest = origin_of(low, high), halvings(low, high)
    sizes = [size * (1 + part / QUARTERS) for size in furthest[1:] for part in range(QUARTERS)]
    inside = {
        number
        for size in sizes
        for number in (origin - size, origin + size)
        if low < number < high and min(number - low, high - number) > APART * size
    }
    return tuple(sorted({low, high, origin, *inside}))
