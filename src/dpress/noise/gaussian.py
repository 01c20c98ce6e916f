"""Discrete Gaussian noise: P(X = x) proportional to exp(-x^2 / (2 sigma2)) on the integers.

Paper: Canonne, Kamath, Steinke 2020, Algorithm 3 and Theorem 4.

Flow: discrete Laplace proposals of scale t = floor(sigma) + 1 -> kept with probability
exp(-(|Y| - sigma2/t)^2 / (2 sigma2)) -> the first `size` kept ones.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.rng import Generator
from dpress.noise.bernoulli import exponential_coins
from dpress.noise.laplace import LEAST, DiscreteLaplace, Integers

SMALLEST_SIGMA2 = Fraction(1, 10**6)
LARGEST_SIGMA2 = Fraction(2**94)
BLOCK = 1 << 14
POISSON_FROM = 4
"""From here on the theta series is 1 + 2 exp(-2 pi^2 sigma2) < 1 + 1e-33: sums equal integrals in floats."""
NORMAL_FROM = 2**20
"""From here on the midpoint rule with one correction gives tails to 1e-16."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteGaussian:
    """Gaussian noise on the integers.

    Promise: added to an integer answer of L2 sensitivity s, rho = s^2 / (2 sigma2) zCDP, exactly (every unit, both
        relations, central model); the sampler is exact, no tail is cut.
        Independent draws against squared L2 sensitivity s are also mu-GDP, mu^2 = s / (sigma2 - 1/12 - ...): see
        `losses.gaussian_dp.normal_variance`.
    Error: variance sum x^2 w(x) / sum w(x), w(x) = exp(-x^2 / (2 sigma2)); below sigma2, and equal to it in floats
        once sigma2 >= 4.
    Paper: Canonne, Kamath, Steinke 2020, Theorem 4 (loss), Algorithm 3 (sampler).

    Args:
        sigma2: rational in [1e-6, 2^94].

    >>> DiscreteGaussian(sigma2=Fraction(2)).loss(Fraction(1)).rho
    Fraction(1, 4)
    """

    sigma2: Fraction
    tail: ClassVar[Literal["gaussian"]] = "gaussian"
    order: ClassVar[int] = 2  # of the norm of a change that its loss is about

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma2", check.exact("sigma2", self.sigma2))
        if not SMALLEST_SIGMA2 <= self.sigma2 <= LARGEST_SIGMA2:
            raise NotSupported(f"sigma2 must lie between 1e-6 and 2^94, got sigma2={self.sigma2}")

    @classmethod
    def calibrate(cls, *, rho: check.Number, l2_sensitivity_squared: check.Number) -> "DiscreteGaussian":
        """Return the noise that makes an integer answer rho-zCDP: sigma2 = l2_sensitivity_squared / (2 rho).

        >>> DiscreteGaussian.calibrate(rho=0.5, l2_sensitivity_squared=4)
        DiscreteGaussian(sigma2=Fraction(4, 1))
        """
        rho = check.loss_parameter("rho", rho)
        return cls(sigma2=check.exact("l2_sensitivity_squared", l2_sensitivity_squared) / (2 * rho))

    def loss(self, l2_sensitivity_squared: Fraction) -> ZCDP:
        """Return rho = l2_sensitivity_squared / (2 sigma2)."""
        return ZCDP(rho=l2_sensitivity_squared / (2 * self.sigma2))

    @property
    def description(self) -> str:
        """The distribution with its parameter, in words."""
        return f"discrete Gaussian noise of variance {self.sigma2}"

    @property
    def spread(self) -> Fraction:
        """Sigma2."""
        return self.sigma2

    @property
    def real_variance(self) -> Fraction:
        """The variance of real-valued noise with the same parameter."""
        return self.sigma2

    def textbook_bound(self, number: int, beta: float) -> None:
        """Textbooks have none."""

    def _weights(self) -> npt.NDArray[np.float64]:
        """Return w(1), w(2), ... until they vanish; only for small sigma2."""
        reach = math.ceil(40 * math.sqrt(self.sigma2)) + 1
        return np.exp(-(np.arange(1, reach + 1, dtype=np.float64) ** 2) / (2 * float(self.sigma2)))

    def _total(self) -> float:
        """Return the sum of all weights: directly, or sqrt(2 pi sigma2) by Poisson summation."""
        if self.sigma2 < POISSON_FROM:
            return 1 + 2 * math.fsum(self._weights())
        return math.sqrt(2 * math.pi * self.sigma2)

    @property
    def variance(self) -> float:
        """Sum of x^2 P(X = x); at least LEAST, as its inverse is a weight."""
        if self.sigma2 >= POISSON_FROM:
            return float(self.sigma2)
        weights = self._weights()
        return max(LEAST, 2 * math.fsum(weights * np.arange(1, len(weights) + 1) ** 2) / self._total())

    @property
    def smooth_variance(self) -> float:
        """Sigma2, as if the noise were not discrete: never 0."""
        return float(self.sigma2)

    def pmf(self, x: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return P(X = x), elementwise.

        >>> DiscreteGaussian(sigma2=Fraction(1)).pmf([0, 1]).round(3).tolist()
        [0.399, 0.242]
        """
        squares = np.square(np.asarray(x, dtype=np.float64))
        return np.exp(-squares / (2 * float(self.sigma2))) / self._total()

    def quantile(self, probability: check.Number) -> int:
        """Return the smallest t with P(|X| <= t) >= probability, up to the float rounding of the tail.

        Large sigma2: P(|X| > t) = P(|N| > y (1 + 1/(24 sigma2))) with y = t + 1/2, up to O(sigma2^-2).

        >>> DiscreteGaussian(sigma2=Fraction(100)).quantile(0.95)
        20
        """
        from statistics import NormalDist  # noqa: PLC0415  # brings random; only a quantile needs it

        beyond = float(1 - check.probability("probability", probability))
        if self.sigma2 >= NORMAL_FROM:
            reach = -NormalDist().inv_cdf(beyond / 2) * math.sqrt(self.sigma2)
            return max(0, math.ceil(reach / (1 + 1 / (24 * float(self.sigma2))) - 0.5))
        tails = 2 * np.cumsum(self._weights()[::-1])[::-1] / self._total()
        return int(np.count_nonzero(tails > beyond))

    def _keep(self, proposals: Integers, *, rng: Generator) -> npt.NDArray[np.bool_]:
        """Flip the acceptance coin of every proposal; its exponent is (|y| - sigma2/t)^2 / (2 sigma2).

        The coin allows floats an error of 2^-43 below 46, where |y| <= 10.6 sigma: the difference is off by at most
        21.2 sigma 2^-53, the exponent by 204 2^-53 from that and 138 2^-53 from its own three roundings: 2^-44.6.
        """
        centre = self.sigma2 / (math.isqrt(math.floor(self.sigma2)) + 1)
        gamma = np.square(np.abs(proposals) - float(centre)) / (2 * float(self.sigma2))
        return exponential_coins(
            gamma, lambda lane: (abs(int(proposals[lane])) - centre) ** 2 / (2 * self.sigma2), rng=rng
        )

    def sample(self, size: int, *, rng: Generator) -> Integers:
        """Return `size` independent draws.

        Args:
            size: number of draws.
            rng: the generator; how many words are drawn depends on the draws.

        >>> from dpress.core.basics import rng
        >>> DiscreteGaussian(sigma2=Fraction(9)).sample(8, rng=rng.seeded(1)).tolist()
        [4, 0, 0, 1, 0, 4, -2, -1]
        """
        laplace = DiscreteLaplace(scale=Fraction(math.isqrt(math.floor(self.sigma2)) + 1))
        out = np.empty(size, dtype=np.int64)
        done = 0
        while done < size:
            proposals = laplace.sample(min(BLOCK, 2 * (size - done)), rng=rng)
            kept = proposals[self._keep(proposals, rng=rng)][: size - done]
            out[done : done + len(kept)] = kept
            done += len(kept)
        return out
