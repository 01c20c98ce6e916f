"""Zero-concentrated differential privacy, rho: what Gaussian noise is calibrated to."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from dpress.core.basics import check
from dpress.core.basics.losses.convert import epsilon_for
from dpress.core.basics.losses.loss import Amounts, Choosing, Loss


@dataclass(frozen=True, slots=True, init=False)
class ZCDP:
    """Zero-concentrated differential privacy: D_alpha(M(D) || M(D')) <= rho alpha for every alpha > 1.

    Paper: Bun and Steinke 2016, Definition 1.1 (D_alpha is the Renyi divergence).

    Args:
        rho: in [1e-9, 1000]; kept as an exact rational.

    >>> ZCDP(rho="1/200").rho
    Fraction(1, 200)
    """

    form: ClassVar[str] = "zcdp"
    variant: ClassVar[str] = "Zero-concentrated DP"
    names: ClassVar[tuple[str, ...]] = ("rho",)
    definition: ClassVar[str] = (
        "Zero-concentrated differential privacy: between two neighbouring tables the Rényi divergence of every order "
        "α > 1 is at most ρα."
    )
    for_groups: ClassVar[str] = "g² ρ allows, where ρ"
    for_contents: ClassVar[str] = "ρ counts fourfold, {}"
    additive: ClassVar[bool] = True
    tail: ClassVar[Literal["gaussian"]] = "gaussian"
    order: ClassVar[Literal[2]] = 2
    choosing: ClassVar[Choosing] = "the exponential mechanism"
    pays: ClassVar[str] = "rho or epsilon"
    needs_delta: ClassVar[bool] = True
    delta: ClassVar[Fraction] = Fraction(0)
    as_epsilon: ClassVar[None] = None
    as_mu2: ClassVar[None] = None

    rho: Fraction

    def __init__(self, rho: check.Number) -> None:
        object.__setattr__(self, "rho", check.loss_parameter("rho", rho))

    @property
    def amount(self) -> Fraction:
        """Rho."""
        return self.rho

    @property
    def replaced(self) -> Fraction:
        """Four times rho."""
        return 4 * self.rho

    @property
    def as_rho(self) -> Fraction:
        """Rho."""
        return self.rho

    @property
    def payable(self) -> "tuple[ZCDP]":
        """Itself."""
        return (self,)

    def of(self, amount: Fraction) -> "ZCDP":
        """Return zCDP of another rho."""
        return ZCDP(rho=amount)

    def spread(self, sensitivity: Fraction) -> Fraction:
        """Return the sigma2 of discrete Gaussian noise, s / (2 rho)."""
        return sensitivity / (2 * self.rho)

    def cost(self, spread: Fraction, sensitivity: Fraction) -> Fraction:
        """Return s / (2 sigma2) (Canonne, Kamath, Steinke 2020, Theorem 4)."""
        return sensitivity / (2 * spread)

    def choice_range(self, choices: int, steps: int) -> Fraction:
        """Return the largest e, in whole steps, whose choices cost e^2 / 8 each.

        Paper: Dong, Durfee, Rogers 2020, Lemma 3.1; Cesar, Rogers 2021.
        """
        square = 8 * self.rho / choices
        return Fraction(math.isqrt(square.numerator * steps**2 // square.denominator), steps)

    def choice_cost(self, width: Fraction) -> Fraction:
        """Return the square of the width over 8."""
        return width**2 / 8

    def together(self, others: "Sequence[ZCDP]") -> "ZCDP":
        """Return the sum of all rho (Bun and Steinke 2016, Lemma 1.7)."""
        return ZCDP(rho=self.rho + sum(loss.rho for loss in others))

    def group(self, size: int) -> "ZCDP":
        """Return size^2 rho (Bun and Steinke 2016, Proposition 1.9)."""
        return ZCDP(rho=size * size * self.rho)

    def price(self, loss: Loss) -> Amounts | None:
        """Return the rho that follows from it."""
        return None if loss.as_rho is None else {"rho": loss.as_rho}

    def fixed(self, losses: Sequence[Loss]) -> Amounts:  # noqa: ARG002  # the same for all
        """Return nothing."""
        return {"rho": Fraction(0)}

    def at(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        """Return the epsilon that follows at a delta, rounded up."""
        return epsilon_for(self.rho, delta), delta
