"""Checks of public arguments: exact rationals in their allowed range, or one clear line."""

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

Number = int | float | str | Decimal | Fraction

SMALLEST_LOSS = Fraction(1, 10**9)
LARGEST_LOSS = Fraction(1000)
LARGEST_BITS = 1328  # of 10^400
LONGEST_NUMBER = 1000  # characters of a number that is written out
LONGEST_LINE = 200  # characters of a name that a person gives
LARGEST_EXPONENT = 400  # of ten: beyond every float, and small enough to hold as an exact integer


def exact(name: str, value: Number) -> Fraction:
    """Return `value` as the rational its shortest decimal form names, so that 0.1 means 1/10.

    Raises:
        ValueError: `value` is not a finite number.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal, Fraction)):
        raise ValueError(f"{name} must be a number, got {name}={value!r}")
    if isinstance(value, int) and abs(value) >> LARGEST_BITS:
        raise ValueError(f"{name} must be below 10^{LARGEST_EXPONENT}, got {name} with {value.bit_length():,} bits")
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    text = str(value)
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"{name} must be a number of at most {LONGEST_NUMBER} characters, got {len(text):,} of them")
    top, _, bottom = text.partition("/")
    try:
        numbers = [Decimal(top), Decimal(bottom or 1)]
        if all(number.is_finite() and abs(number.adjusted()) <= LARGEST_EXPONENT for number in numbers):
            return Fraction(numbers[0]) / Fraction(numbers[1])
    except ArithmeticError:
        pass
    raise ValueError(f"{name} must be a finite number, got {name}={value}")


def loss_parameter(name: str, value: Number) -> Fraction:
    """Return a privacy parameter (epsilon or rho) as an exact rational in [1e-9, 1000]."""
    number = exact(name, value)
    if number <= 0:
        raise ValueError(f"{name} must be > 0, got {name}={value}")
    if not SMALLEST_LOSS <= number <= LARGEST_LOSS:
        raise ValueError(f"{name} must lie between 1e-9 and 1000, got {name}={value}")
    return number


def probability(name: str, value: Number) -> Fraction:
    """Return `value` as an exact rational strictly between 0 and 1."""
    number = exact(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {name}={value}")
    return number


def count(name: str, value: int, *, least: int = 1) -> int:
    """Return `value` if it is an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        again = "" if name.startswith("$") else f"{name}="  # a place in a spec is named once
        raise ValueError(f"{name} must be an integer >= {least}, got {again}{value!r}")
    return value


def shares(name: str, values: Iterable[Number]) -> tuple[Fraction, ...]:
    """Return positive exact shares that add up to one."""
    numbers = tuple(exact(name, value) for value in values)
    if not numbers or min(numbers) <= 0 or sum(numbers) != 1:
        raise ValueError(f"{name} must be positive and add up to 1, got {[str(number) for number in numbers]}")
    return numbers


def line(name: str, text: str) -> str:
    """Return `text` if it is one printable line of at most 200 characters."""
    if not isinstance(text, str) or len(text) > LONGEST_LINE or not text.isprintable():
        raise ValueError(f"{name} must be printable text on one line, of at most {LONGEST_LINE} characters")
    return text


def float_up(value: Fraction) -> float:
    """Return the smallest float >= `value`: how a privacy loss is shown, never too small."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def float_down(value: Fraction) -> float:
    """Return the largest float <= `value`: how what is left of a budget is shown, never too large."""
    return 0.0 - float_up(-value)
