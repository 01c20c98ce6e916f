"""Gaussian differential privacy, mu^2: what discrete Gaussian noise keeps, at what (epsilon, delta) costs exactly."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from dpress.core.basics import check
from dpress.core.basics.losses.loss import Amounts, Choosing, Loss
from dpress.core.basics.losses.pure import PI_UP

LEAST_VARIANCE = Fraction(1, 6)  # of the normal noise that discrete noise stands for
ROOT_STEPS = 1 << 80


@dataclass(frozen=True, slots=True, init=False)
class GaussianDP:
    """Gaussian differential privacy: no test tells neighbours apart better than N(0, 1) from N(mu, 1).

    Paper: Dong, Roth, Su 2022, Definition 2.1. Composition adds mu^2 (Corollary 3.3), also where every mechanism is
    chosen after the answers of those before, and so is when to stop (Smith, Thakurta 2022; Koskela, Tobaben, Honkela
    2023): it is a privacy filter.

    Args:
        mu2: mu^2, in [1e-9, 1000]; kept as an exact rational.

    >>> GaussianDP(mu2="1/18").mu2
    Fraction(1, 18)
    """

    form: ClassVar[str] = "gaussian"
    variant: ClassVar[str] = "Gaussian DP"
    names: ClassVar[tuple[str, ...]] = ("mu2",)
    definition: ClassVar[str] = (
        "Gaussian differential privacy: any test that tells two neighbouring tables apart errs at least as often as "
        "the best test that tells a normal number of mean 0 from one of mean μ, both of variance 1."
    )
    for_groups: ClassVar[str] = "g² μ² allows, where μ²"
    for_contents: ClassVar[str] = "μ² counts fourfold, {}"
    additive: ClassVar[bool] = True
    tail: ClassVar[Literal["gaussian"]] = "gaussian"
    order: ClassVar[Literal[2]] = 2
    choosing: ClassVar[Choosing] = "the exponential mechanism"
    pays: ClassVar[str] = "mu2 or epsilon"
    needs_delta: ClassVar[bool] = True
    delta: ClassVar[Fraction] = Fraction(0)
    as_epsilon: ClassVar[None] = None

    mu2: Fraction

    def __init__(self, *, mu2: check.Number) -> None:
        object.__setattr__(self, "mu2", check.loss_parameter("mu2", mu2))

    @property
    def amount(self) -> Fraction:
        """Mu squared."""
        return self.mu2

    @property
    def replaced(self) -> Fraction:
        """Four times mu^2."""
        return 4 * self.mu2

    @property
    def as_rho(self) -> Fraction:
        """Half of mu^2: the Renyi divergences are at most those of the normal numbers (Dong, Roth, Su 2022, B.3)."""
        return self.mu2 / 2

    @property
    def as_mu2(self) -> Fraction:
        """Mu squared."""
        return self.mu2

    @property
    def payable(self) -> "tuple[GaussianDP]":
        """Itself."""
        return (self,)

    def of(self, amount: Fraction) -> "GaussianDP":
        """Return Gaussian differential privacy of another mu^2."""
        return GaussianDP(mu2=amount)

    def spread(self, sensitivity: Fraction) -> Fraction:
        """Return the sigma2 of discrete Gaussian noise that hides what normal noise of variance v = s / mu^2 hides.

        sigma2 = v^2 / (v - 1/12), v at least 1/6: see `normal_variance`, its inverse.

        >>> round(float(GaussianDP(mu2="1/18").spread(Fraction(1))), 6)
        18.083721
        """
        variance = max(sensitivity / self.mu2, LEAST_VARIANCE)
        return variance**2 / (variance - Fraction(1, 12))

    def cost(self, spread: Fraction, sensitivity: Fraction) -> Fraction:
        """Return s / v, v the `normal_variance` of discrete Gaussian noise."""
        return sensitivity / normal_variance(spread)

    def choice_range(self, choices: int, steps: int) -> Fraction:
        """Return the largest e, in whole steps, whose choices cost pi e^2 / 8 each."""
        square = 8 * self.mu2 / (choices * PI_UP)
        return Fraction(math.isqrt(square.numerator * steps**2 // square.denominator), steps)

    def choice_cost(self, width: Fraction) -> Fraction:
        """Return pi e^2 / 8, rounded up, for log ratios with a range of e.

        The least mu is h(e / 2) - h(-e / 2) with h(x) the normal quantile of 1 / (1 + exp(-x)), whose slope is at most
        that at 0, sqrt(2 pi) / 4: docs/explanations/proofs/gaussian-noise.md.
        """
        return PI_UP * width**2 / 8

    def together(self, others: "Sequence[GaussianDP]") -> "GaussianDP":
        """Return the sum of all mu^2 (Dong, Roth, Su 2022, Corollary 3.3)."""
        return GaussianDP(mu2=self.mu2 + sum(loss.mu2 for loss in others))

    def group(self, size: int) -> "GaussianDP":
        """Return size^2 mu^2 (Dong, Roth, Su 2022, Theorem 2.14)."""
        return GaussianDP(mu2=size * size * self.mu2)

    def price(self, loss: Loss) -> Amounts | None:
        """Return the mu^2 that follows from it."""
        return None if loss.as_mu2 is None else {"mu2": loss.as_mu2}

    def fixed(self, losses: Sequence[Loss]) -> Amounts:  # noqa: ARG002  # the same for all
        """Return nothing."""
        return {"mu2": Fraction(0)}

    def at(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        """Return the epsilon that follows at a delta, rounded up."""
        from dpress.core.basics.losses.gaussian_profile import gaussian_epsilon  # noqa: PLC0415  # beside a delta only

        return gaussian_epsilon(self.mu2, delta), delta


def normal_variance(sigma2: Fraction) -> Fraction:
    """Return the variance v of normal noise that hides an integer change no better than discrete Gaussian noise does.

    v = sigma2 (1 + sqrt(1 - 1 / (3 sigma2))) / 2, which is sigma2 - 1/12 - O(1 / sigma2); exact where it is rational,
    else rounded down by less than 1e-24 sigma2. So independent noise of sigma2 against integers with a squared L2
    sensitivity of s is mu-GDP with mu^2 = s / v, whatever the changes are and however many numbers they change.
    Proof: docs/explanations/proofs/gaussian-noise.md.

    >>> normal_variance(Fraction(1, 3))
    Fraction(1, 6)

    Raises:
        ValueError: sigma2 is below 1/3.
    """
    inside = 1 - 1 / (3 * sigma2)
    if inside < 0:
        raise ValueError(f"sigma2 must be at least 1/3, got {float(sigma2):.6g}")
    over, under = math.isqrt(inside.numerator), math.isqrt(inside.denominator)
    if over**2 == inside.numerator and under**2 == inside.denominator:
        return sigma2 * (1 + Fraction(over, under)) / 2
    root = Fraction(math.isqrt(inside.numerator * ROOT_STEPS**2 // inside.denominator), ROOT_STEPS)
    return sigma2 * (1 + root) / 2
