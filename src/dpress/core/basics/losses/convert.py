"""Between zCDP and (epsilon, delta): the tight Renyi conversion, rounded so that it never promises too much.

Paper: Canonne, Kamath and Steinke 2020, Proposition 12 and Corollary 13 (also Balle et al. 2020, Theorem 21).
rho-zCDP is (epsilon, delta)-DP with, for any order alpha > 1,

    epsilon = rho alpha + entry(alpha, delta)
    entry   = (log(1/delta) - log(alpha)) / (alpha - 1) + log(1 - 1/alpha)

Every order gives a valid bound, so the search for a good one needs no care; only the last evaluation is rounded.
The best order is a root of a monotone function:

    d epsilon / d alpha = rho - (log(1/delta) - log alpha) / (alpha - 1)^2

Data flow: rho, delta -> order (decimal bisection) -> epsilon (logarithms bounded, then exact fractions, rounded up).
"""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from dpress.core.basics import check

DIGITS = 50
STEP = Fraction(1, 10**24)
MOST = 900  # of the exponents for which `exp_up` states its error
_SEARCH = Context(prec=DIGITS)
_UP = Context(prec=DIGITS, rounding=ROUND_CEILING)


def log_up(value: Fraction) -> Fraction:
    """Return a rational >= log(value), too large by less than 1e-48 relative.

    `Decimal.ln` is correctly rounded, so the next larger decimal bounds it.

    >>> 0 < log_up(Fraction(2)) - Fraction("0.693147180559945309417232121458") < Fraction(1, 10**29)
    True
    """
    quotient = _UP.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(_UP.next_plus(_UP.ln(quotient)))


def exp_up(value: Fraction) -> Fraction:
    """Return a rational >= exp(value), too large by less than 1e-46 relative for |value| < 1000.

    >>> 0 < exp_up(Fraction(1)) - Fraction("2.718281828459045235360287471352") < Fraction(1, 10**29)
    True
    """
    power = _UP.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(_UP.next_plus(_UP.exp(power)))


def round_up(value: Fraction) -> Fraction:
    """Return the smallest multiple of 1e-24 that is >= value."""
    return math.ceil(value / STEP) * STEP


def round_down(value: Fraction) -> Fraction:
    """Return the largest multiple of 1e-24 that is <= value."""
    return math.floor(value / STEP) * STEP


def entry(order: Fraction, delta: Fraction) -> Fraction:
    """Return the part of epsilon that does not depend on rho, rounded up; never below 0.

    entry = (log(1/delta) - log(alpha)) / (alpha - 1) + log(1 - 1/alpha).
    Paper: Canonne, Kamath and Steinke 2020, Proposition 12.

    >>> round(float(entry(Fraction(6), Fraction(1, 10**6))), 6)
    2.222429
    """
    return max(Fraction(0), _entry(order, delta))


@lru_cache(maxsize=4096)
def response_divergence(epsilon: Fraction, order: Fraction) -> Fraction:
    """Return the Renyi divergence of an order of randomised response, rounded up: the largest under pure epsilon.

    log((exp(alpha e) + exp((1 - alpha) e)) / (1 + exp(e))) / (alpha - 1), which is at most e.
    Paper: Bun and Steinke 2016, Proposition 3.3.

    >>> round(float(response_divergence(Fraction(1, 10), Fraction(22))), 6)
    0.069956
    """
    if order * epsilon > MOST:
        return epsilon
    ratio = (exp_up(order * epsilon) + exp_up((1 - order) * epsilon)) / (1 + 1 / exp_up(-epsilon))
    return min(epsilon, round_up(log_up(ratio) / (order - 1)))


@lru_cache(maxsize=4096)
def best_order(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the order alpha at which the largest rho fits into (epsilon, delta).

    Along the best orders epsilon(alpha) = (log(1/delta) - log alpha) (2 alpha - 1) / (alpha-1)^2 + log(1 - 1/alpha),
    which falls from infinity to log(1 - delta) < 0 as alpha runs from 1 to 1/delta.

    >>> round(float(best_order(Fraction(1), Fraction(1, 10**6))), 2)
    21.98
    """
    with localcontext(_SEARCH):
        target, room = _decimal(epsilon), -_decimal(delta).ln()

        def above(x: Decimal) -> bool:
            return (room - (1 + x).ln()) * (2 * x + 1) / (x * x) + (x / (1 + x)).ln() > target

        low = high = 1 / _decimal(delta) - 1
        while not above(low):
            low /= 2
        return 1 + _bisect(above, low, high)


def epsilon_for(rho: check.Number, delta: check.Number) -> Fraction:
    """Return an epsilon, rounded up, such that rho-zCDP implies (epsilon, delta)-DP.

    epsilon = min over alpha > 1 of rho alpha + entry(alpha, delta), less than 2e-24 above the minimum.
    Paper: Canonne, Kamath and Steinke 2020, Corollary 13.

    >>> round(float(epsilon_for(0.5, 1e-6)), 6)
    5.221534

    Raises:
        ValueError: rho or delta is outside its range.
    """
    return _epsilon(check.loss_parameter("rho", rho), check.probability("delta", delta))


def zcdp_for(epsilon: check.Number, delta: check.Number) -> Fraction:
    """Return a rho, rounded down, such that rho-zCDP implies (epsilon, delta)-DP: a budget turned into noise.

    rho = max over alpha > 1 of (epsilon - entry(alpha, delta)) / alpha; `epsilon_for(rho, delta) <= epsilon` holds,
    and a ledger with the limit (epsilon, delta) has room for exactly this rho.
    Paper: Canonne, Kamath and Steinke 2020, Corollary 13, solved for rho.

    >>> round(float(zcdp_for(1, 1e-6)), 6)
    0.024356

    Raises:
        ValueError: epsilon or delta is outside its range, or no rho >= 1e-9 fits.
    """
    target, slack = check.loss_parameter("epsilon", epsilon), check.probability("delta", delta)
    order = best_order(target, slack)
    rho = round_down((target - entry(order, slack)) / order)
    while rho >= check.SMALLEST_LOSS and _epsilon(rho, slack) > target:
        rho -= STEP
    if rho < check.SMALLEST_LOSS:
        raise ValueError(f"no rho >= 1e-9 fits epsilon={epsilon}, delta={delta}; both must be larger")
    return min(rho, check.LARGEST_LOSS)


def _entry(order: Fraction, delta: Fraction) -> Fraction:
    return (log_up(1 / delta) + log_up(1 / order)) / (order - 1) + log_up(1 - 1 / order)


def _epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    order = _order_at(rho, delta)
    return round_up(max(Fraction(0), rho * order + _entry(order, delta)))


@lru_cache(maxsize=4096)
def _order_at(rho: Fraction, delta: Fraction) -> Fraction:
    """Return the best order for rho: the root of rho x^2 + log(1 + x) = log(1/delta), x = alpha - 1."""
    with localcontext(_SEARCH):
        cost, room = _decimal(rho), -_decimal(delta).ln()
        low, high = min(room / 2, (room / (2 * cost)).sqrt()), (room / cost).sqrt()
        return 1 + _bisect(lambda x: cost * x * x + (1 + x).ln() < room, low, high)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _bisect(below: Callable[[Decimal], bool], low: Decimal, high: Decimal) -> Fraction:
    """Return the point where `below` turns false, to 20 digits, between two positive numbers."""
    while high - low > low.scaleb(-20):
        middle = (low * high).sqrt()
        if not low < middle < high:
            break
        low, high = (middle, high) if below(middle) else (low, middle)
    return Fraction(low.normalize(Context(prec=24)))
