"""Numbers for people: no more digits than the error warrants, and a privacy loss never shown too small."""

import math
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from dpress.core.basics.losses.any_loss import parameters
from dpress.core.basics.losses.loss import Loss

MINUS = "\N{MINUS SIGN}"
TIMES = " \N{MULTIPLICATION SIGN} "
EXACT = Context(prec=400)  # digits: every float has fewer before the point
FINEST = 1e-6  # of a person, to which a count is rounded however small its error
SYMBOLS: Mapping[str, str] = {
    "epsilon": "ε",
    "rho": "\N{GREEK SMALL LETTER RHO}",
    "mu2": "\N{GREEK SMALL LETTER MU}²",
    "delta": "δ",
}


def unit_for(error: float) -> float:
    """Return the power of ten to which a number with this standard error is rounded: at most a third of the error.

    >>> unit_for(8.0), unit_for(1.4), unit_for(80.0), unit_for(1e-109)
    (1.0, 0.1, 10.0, 1e-06)
    """
    return max(10.0 ** math.floor(math.log10(error / 3)), FINEST) if 0 < error < math.inf else 1.0


def number(value: float, unit: float = 1.0, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a number as a multiple of `unit`, with thousands separators.

    >>> number(-1234.56), number(1234.56, 0.1), number(1234.56, 10.0, ROUND_CEILING)
    ('\N{MINUS SIGN}1,235', '1,234.6', '1,240')
    """
    if math.isinf(value):
        return f"{MINUS}∞" if value < 0 else "∞"
    step = Decimal(f"{unit:g}")
    rounded = EXACT.multiply((Decimal(value) / step).quantize(Decimal(1), rounding, EXACT), step)
    text = f"{abs(rounded):,f}"
    return MINUS + text if rounded < 0 else text


def interval(low: float, high: float, unit: float = 1.0) -> str:
    """Return an interval with its ends rounded outward."""
    return f"{number(low, unit, ROUND_FLOOR)} to {number(high, unit, ROUND_CEILING)}"


def error(value: float) -> str:
    """Return an error with two significant digits, or three before the point.

    >>> error(1.357), error(38.62), error(0)
    ('1.4', '39', '0')
    """
    if math.isinf(value):
        return "not known"
    return number(value, 10.0 ** min(0, math.floor(math.log10(value)) - 1)) if value > 0 else "0"


def stated(value: float, ends: tuple[float, float], deviation: float) -> tuple[str, str, str]:
    """Return a number, its interval and its standard error: all digits are those that the standard error warrants.

    Where no standard error is known, a quarter of the interval is in its place.

    >>> stated(386_621.4, (384_272.1, 388_970.7), 1_085.0), stated(13.6148, (13.536, 13.693), 0.036)
    (('386,600', '384,200 to 389,000', '1,085'), ('13.61', '13.53 to 13.70', '0.036'))
    """
    unit = unit_for(deviation if math.isfinite(deviation) else (ends[1] - ends[0]) / 4)
    text = "not known" if math.isnan(value) else number(value, unit)
    return text, interval(*ends, unit), "not known" if math.isnan(deviation) else error(deviation)


def error_up(value: float) -> str:
    """Return a bound on an error as `error` does, but rounded up, and a whole number as it is.

    >>> error_up(5.0), error_up(5.01), error_up(39.33)
    ('5', '5.1', '40')
    """
    whole = value % 1 == 0
    return number(value, 1.0 if whole else 10.0 ** min(0, math.floor(math.log10(value)) - 1), ROUND_CEILING)


def ceiling(value: Fraction, digits: int = 4) -> str:
    """Return a rational >= 0 with at most this many significant digits, rounded up.

    >>> ceiling(Fraction(1)), ceiling(Fraction(1, 3)), ceiling(Fraction(1, 10**6)), ceiling(Fraction(1000))
    ('1', '0.3334', '0.000001', '1,000')
    """
    return _rounded(value, Context(prec=digits, rounding=ROUND_CEILING))


def floor(value: Fraction, digits: int = 4) -> str:
    """Return a rational >= 0 with at most this many significant digits, rounded down: what is left of a budget.

    >>> floor(Fraction(0)), floor(Fraction(2, 3)), floor(Fraction(99999, 1000))
    ('0', '0.6666', '99.99')
    """
    return _rounded(value, Context(prec=digits, rounding=ROUND_FLOOR))


def _rounded(value: Fraction, context: Context) -> str:
    rounded = context.divide(context.create_decimal(value.numerator), Decimal(value.denominator)).normalize()
    if 0 < value < Fraction(1, 10**6) or value >= 10**9:
        sign, *_ = f"{rounded:e}".split("e")
        return f"{sign}{TIMES}10{_superscript(rounded.adjusted())}"
    return f"{rounded:,f}"


def _superscript(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def loss(value: Loss | None) -> str:
    """Return a privacy loss in the field's notation, never too small, e.g. `ε = 1`."""
    if value is None:
        return "none"
    return amounts(parameters(value))


def amounts(values: Mapping[str, Fraction], written: Callable[[Fraction], str] = ceiling) -> str:
    """Return what was spent in the field's notation, never too small; with `written=floor` what is left of it.

    >>> amounts({"epsilon": Fraction(1, 3), "delta": Fraction(0)})
    'ε = 0.3334, δ = 0'
    """
    return ", ".join(f"{SYMBOLS[name]} = {written(amount)}" for name, amount in values.items())


def percent_up(share: float) -> str:
    """Return a share in percent, rounded up to a tenth.

    >>> percent_up(0.73106), percent_up(0.99999)
    ('73.2 %', '100 %')
    """
    tenths = math.ceil(share * 1000 - 1e-9)
    return f"{tenths / 10:.1f} %" if tenths < 1000 else "100 %"


def percent_down(share: float) -> str:
    """Return a share in percent, rounded down to a tenth."""
    tenths = math.floor(share * 1000 + 1e-9)
    return f"{tenths / 10:.1f} %" if tenths > 0 else "0 %"


def listed(names: list[str]) -> str:
    """Return names as a phrase: `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
