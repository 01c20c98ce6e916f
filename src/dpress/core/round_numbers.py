"""Numbers that bounds may be chosen from, before anything is known of the values between them."""

import math

MOST = 257  # with the bounds: so many edges are looked up where the rows are
EVEN = 1 << 5  # parts of one width
STEPS = 1 << 3  # in every octave
OCTAVES = 28
APART = 2.0**-26  # of the number


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
        inside = (one for one in sizes if low < one < high)
        more = [one for one in inside if min(abs(one - edge) for edge in even) > APART * abs(one)]
        if len(even) + len(among) + len(more) > MOST:
            break
        among += more
    return tuple(sorted([*even, *among]))
