"""Discrete Laplace noise: P(X = x) = (1 - q)/(1 + q) q^|x|, q = exp(-1/scale).

Paper: Ghosh, Roughgarden, Sundararajan 2009 (the geometric mechanism). The digits: with G geometric,
P(G = k) = (1 - q) q^k, the binary digits of G are independent and digit i is 1 with probability
q^(2^i) / (1 + q^(2^i)) = 1 / (1 + exp(2^i / scale)); floor(G / 2^m) is geometric with q^(2^m), independent of them.

Flow: words -> digits by 64-bit thresholds -> two geometrics -> their difference. No branch looks at a digit, so the
time and the number of words depend on size and scale alone (a tie or a value beyond m digits: chance below 2^-57).
"""

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator, Words
from dpress.noise.expansion import WORD, Expansion, decide, exponential_floor, logistic_floor

LEAST = 2.0**-20
"""Counts squared: what is stated of noise that is 0 but with chances below it; an error of a thousandth of a count.

Its inverse is a weight of least squares, whose sums lose as many digits as weights lie apart.
"""

Integers = npt.NDArray[np.int64]

SMALLEST_SCALE = Fraction(1, 1000)
LARGEST_SCALE = Fraction(2**48)
LARGEST_NOISE = 2**62
BLOCK_WORDS = 1 << 19


@dataclass(frozen=True, slots=True, kw_only=True)
class _Digits:
    """The coins of one geometric: `digits` binary digits, lowest first, and last "there is more than that"."""

    digits: int
    coins: tuple[Expansion, ...]
    thresholds: Words


@lru_cache(maxsize=256)
def _digits(scale: Fraction) -> _Digits:
    """Return the coins for `scale`; enough digits that the last coin's first 64 bits are zero."""
    digits = 0
    while exponential_floor(2**digits / scale, WORD):
        digits += 1
    coins = [partial(logistic_floor, 2**digit / scale) for digit in range(digits)]
    coins.append(partial(exponential_floor, 2**digits / scale))
    thresholds = np.array([coin(WORD) for coin in coins], dtype=np.uint64)[:, None]
    thresholds.setflags(write=False)
    return _Digits(digits=digits, coins=tuple(coins), thresholds=thresholds)


def _number(bits: npt.NDArray[np.bool_]) -> npt.NDArray[np.unsignedinteger]:
    """Return the integers whose binary digits are the rows of `bits`, lowest first, in the smallest type."""
    out = np.zeros(bits.shape[1], dtype=np.min_scalar_type(2 ** len(bits) - 1))
    for row in bits[::-1]:
        out += out
        out |= row.view(np.uint8)
    return out


def _more(coin: Expansion, *, rng: Generator) -> int:
    """Return a geometric variable given that it is at least 1: one plus a fresh one, for it has no memory."""
    more = 1
    while decide(int(rng.words(1)[0]), coin, rng=rng):
        more += 1
    return more


def _add_tail(out: Integers, beyond: npt.NDArray[np.bool_], plan: _Digits, *, rng: Generator) -> None:
    """Add 2^digits (H1 - H2), H = floor(G / 2^digits), to the lanes where a geometric goes beyond its digits."""
    for lane in np.flatnonzero(beyond.any(axis=0)):
        first, second = (_more(plan.coins[-1], rng=rng) if more else 0 for more in beyond[:, lane])
        value = int(out[lane]) + ((first - second) << plan.digits)
        if abs(value) >= LARGEST_NOISE:
            raise OverflowError("the noise does not fit 64 bits; this happens with chance below exp(-16384)")
        out[lane] = value


def _draw(out: Integers, words: Words, plan: _Digits, *, rng: Generator) -> None:
    """Fill `out` with noise; `words` is scratch with a row per lane's coin, first and second geometric."""
    rng.fill(words)
    bits = words < plan.thresholds
    if (words == plan.thresholds).any():
        for which, coin, lane in np.argwhere(words == plan.thresholds):
            bits[which, coin, lane] = decide(int(words[which, coin, lane]), plan.coins[coin], rng=rng)
    np.subtract(_number(bits[0, :-1]), _number(bits[1, :-1]), out=out, dtype=np.int64)
    beyond = bits[:, -1]
    if beyond.any():
        _add_tail(out, beyond, plan, rng=rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteLaplace:
    """Two-sided geometric noise on the integers.

    Promise: added to an integer answer of L1 sensitivity s, epsilon = s / scale, exactly (every unit, both
        relations, central model); the sampler is exact, no tail is cut.
    Error: variance 2q / (1 - q)^2, q = exp(-1/scale); about 2 scale^2.
    Paper: Ghosh, Roughgarden, Sundararajan 2009, Section 2; digits as in this file's heading.

    Args:
        scale: rational in [1/1000, 2^48].

    >>> DiscreteLaplace(scale=Fraction(2)).loss(Fraction(1)).epsilon
    Fraction(1, 2)
    """

    scale: Fraction
    tail: ClassVar[Literal["laplace"]] = "laplace"
    order: ClassVar[int] = 1  # of the norm of a change that its loss is about

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check.exact("scale", self.scale))
        if not SMALLEST_SCALE <= self.scale <= LARGEST_SCALE:
            raise NotSupported(f"scale must lie between 1/1000 and 2^48, got scale={self.scale}")

    @classmethod
    def calibrate(cls, *, epsilon: check.Number, l1_sensitivity: check.Number) -> "DiscreteLaplace":
        """Return the noise that makes an integer answer epsilon-DP: scale = l1_sensitivity / epsilon.

        >>> DiscreteLaplace.calibrate(epsilon=0.1, l1_sensitivity=2)
        DiscreteLaplace(scale=Fraction(20, 1))
        """
        epsilon = check.loss_parameter("epsilon", epsilon)
        return cls(scale=check.exact("l1_sensitivity", l1_sensitivity) / epsilon)

    def loss(self, l1_sensitivity: Fraction) -> PureDP:
        """Return epsilon = l1_sensitivity / scale."""
        return PureDP(epsilon=l1_sensitivity / self.scale)

    @property
    def description(self) -> str:
        """The distribution with its parameter, in words."""
        return f"discrete Laplace noise of scale {self.scale}"

    @property
    def spread(self) -> Fraction:
        """The scale."""
        return self.scale

    @property
    def real_variance(self) -> Fraction:
        """The variance of real-valued noise of the same scale."""
        return 2 * self.scale**2

    def textbook_bound(self, number: int, beta: float) -> float:
        """Return the bound of textbooks on so many of them at once, which all keep with probability 1 - beta."""
        return float(self.scale) * math.log(number / beta)

    @property
    def variance(self) -> float:
        """2q / (1 - q)^2; at least LEAST, as its inverse is a weight."""
        rate = float(1 / self.scale)
        return max(LEAST, 2.0 * math.exp(-rate) / math.expm1(-rate) ** 2)

    @property
    def smooth_variance(self) -> float:
        """2 scale^2, as if the noise were not discrete: never 0."""
        return 2 * float(self.scale) ** 2

    def pmf(self, x: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return P(X = x), elementwise.

        >>> DiscreteLaplace(scale=Fraction(1)).pmf([0, 1]).round(3).tolist()
        [0.462, 0.17]
        """
        rate = float(1 / self.scale)
        return math.tanh(rate / 2) * np.exp(-rate * np.abs(np.asarray(x, dtype=np.float64)))

    def quantile(self, probability: check.Number) -> int:
        """Return the smallest t with P(|X| <= t) >= probability, from P(|X| > t) = 2 q^(t + 1) / (1 + q).

        >>> DiscreteLaplace(scale=Fraction(1)).quantile(0.95)
        3
        """
        beyond = 1 - check.probability("probability", probability)
        context = Context(prec=60)
        log_q = context.divide(Decimal(-self.scale.denominator), Decimal(self.scale.numerator))
        q = context.exp(log_q)
        ratio = context.divide(Decimal(beyond.numerator), Decimal(2 * beyond.denominator))
        steps = context.divide(context.ln(context.multiply(ratio, context.add(q, Decimal(1)))), log_q)
        return max(0, math.ceil(steps) - 1)

    def sample(self, size: int, *, rng: Generator) -> Integers:
        """Return `size` independent draws.

        Args:
            size: number of draws.
            rng: the generator; gives 2 (digits + 1) words a draw, with 2^digits >= 44.4 scale.

        >>> from dpress.core.basics import rng
        >>> DiscreteLaplace(scale=Fraction(3)).sample(8, rng=rng.seeded(1)).tolist()
        [-2, 0, -10, -7, -9, 3, 0, 2]
        """
        plan = _digits(self.scale)
        out = np.empty(size, dtype=np.int64)
        rows = 2 * (plan.digits + 1)
        block = BLOCK_WORDS // rows
        scratch = np.empty(rows * min(size, block), dtype=np.uint64)
        for start in range(0, size, block):
            lanes = min(block, size - start)
            words = scratch[: rows * lanes].reshape(2, plan.digits + 1, lanes)
            _draw(out[start : start + lanes], words, plan, rng=rng)
        return out
