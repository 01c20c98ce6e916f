"""One test of all intervals together: do as many hold as is stated of them?

Of every case the share of its intervals that hold is one number between 0 and 1. Cases draw their noise by themselves,
so that these numbers are independent, and each has a mean of at least the stated confidence if that is true.
"""

import math
from collections.abc import Sequence

STATED = 0.95
FALSE_ALARM = 1e-6  # of all looks at the cases together


def bound(share: float, cases: int) -> float:
    """Return a bound of the chance that so small a mean share comes of intervals that hold as is stated.

    exp(-cases KL(share, stated)) (Hoeffding 1963, Theorem 1), for independent numbers between 0 and 1.

    >>> bound(0.95, 1000), bound(0.9, 1000) < 1e-7
    (1.0, True)
    """
    if share >= STATED or cases == 0:
        return 1.0
    own = [(share, STATED), (1 - share, 1 - STATED)]
    return math.exp(-cases * sum(p * math.log(p / q) for p, q in own if p))


def too_few(shares: Sequence[float], looks: int = 1) -> bool:
    """Return whether intervals hold too seldom to be what is stated.

    Args:
        shares: of each case's intervals those that hold.
        looks: how often the cases so far are looked at.
    """
    return bool(shares) and bound(sum(shares) / len(shares), len(shares)) < FALSE_ALARM / looks
