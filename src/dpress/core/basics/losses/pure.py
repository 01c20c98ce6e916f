"""Pure epsilon: what every device promises, and what Laplace noise is calibrated to."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from dpress.core.basics import check
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Amounts, Choosing, Loss

PI_UP = Fraction(355, 113)  # above pi, by 2.7e-7


@dataclass(frozen=True, slots=True, init=False)
class PureDP:
    """Pure epsilon-differential privacy: P(M(D) in S) <= exp(epsilon) P(M(D') in S).

    Args:
        epsilon: in [1e-9, 1000]; kept as the exact rational its decimal form names.

    >>> PureDP(epsilon=0.1)
    PureDP(epsilon=Fraction(1, 10))
    """

    form: ClassVar[str] = "pure"
    variant: ClassVar[str] = "Pure DP"
    names: ClassVar[tuple[str, ...]] = ("epsilon",)
    definition: ClassVar[str] = (
        "Any release is at most exp(ε) times as likely under one of two neighbouring tables as under the other."
    )
    for_groups: ClassVar[str] = "g ε allows, where ε"
    for_contents: ClassVar[str] = "ε doubles to {}"
    additive: ClassVar[bool] = True
    tail: ClassVar[Literal["laplace"]] = "laplace"
    order: ClassVar[Literal[1]] = 1
    choosing: ClassVar[Choosing] = "permute-and-flip"
    pays: ClassVar[str] = "epsilon"
    needs_delta: ClassVar[bool] = False
    delta: ClassVar[Fraction] = Fraction(0)

    epsilon: Fraction

    def __init__(self, epsilon: check.Number) -> None:
        object.__setattr__(self, "epsilon", check.loss_parameter("epsilon", epsilon))

    @property
    def amount(self) -> Fraction:
        """Epsilon."""
        return self.epsilon

    @property
    def replaced(self) -> Fraction:
        """Twice epsilon."""
        return 2 * self.epsilon

    @property
    def as_epsilon(self) -> Fraction:
        """Epsilon."""
        return self.epsilon

    @property
    def as_rho(self) -> Fraction:
        """Half the square of epsilon (Bun and Steinke 2016, Proposition 1.4).

        >>> PureDP(epsilon=0.1).as_rho
        Fraction(1, 200)
        """
        return self.epsilon * self.epsilon / 2

    @property
    def as_mu2(self) -> Fraction:
        """Pi / 2 of the square of epsilon, rounded up: what randomised response costs, a choice of range 2 epsilon.

        Proof: docs/explanations/proofs/gaussian-noise.md.
        """
        return PI_UP * self.epsilon**2 / 2

    @property
    def payable(self) -> "tuple[PureDP]":
        """Itself."""
        return (self,)

    def of(self, amount: Fraction) -> "PureDP":
        """Return pure differential privacy of another epsilon."""
        return PureDP(epsilon=amount)

    def spread(self, sensitivity: Fraction) -> Fraction:
        """Return the scale of discrete Laplace noise, s / epsilon."""
        return sensitivity / self.epsilon

    def cost(self, spread: Fraction, sensitivity: Fraction) -> Fraction:
        """Return s / scale."""
        return sensitivity / spread

    def choice_range(self, choices: int, steps: int) -> Fraction:  # noqa: ARG002  # nothing is rounded
        """Return epsilon, shared out: a choice whose log ratios have the range epsilon costs epsilon."""
        return self.epsilon / choices

    def choice_cost(self, width: Fraction) -> Fraction:
        """Return the width itself."""
        return width

    def together(self, others: "Sequence[PureDP]") -> "PureDP":
        """Return the sum of all epsilon (foundations, basic composition)."""
        return PureDP(epsilon=self.epsilon + sum(loss.epsilon for loss in others))

    def group(self, size: int) -> "PureDP":
        """Return size epsilon (foundations, Theorem 7)."""
        return PureDP(epsilon=size * self.epsilon)

    def price(self, loss: Loss) -> Amounts | None:
        """Return its epsilon."""
        return None if loss.as_epsilon is None else {"epsilon": loss.as_epsilon}

    def fixed(self, losses: Sequence[Loss]) -> Amounts:  # noqa: ARG002  # the same for all
        """Return nothing."""
        return {"epsilon": Fraction(0)}

    def at(self, delta: Fraction) -> tuple[Fraction, Fraction]:  # noqa: ARG002  # it needs none
        """Return epsilon, without a delta."""
        return self.epsilon, Fraction(0)


def as_pure(loss: Loss | None) -> PureDP | None:
    """Return a loss as pure epsilon; None where it is none, or nothing is claimed.

    >>> as_pure(PureDP(epsilon=1))
    PureDP(epsilon=Fraction(1, 1))
    """
    return None if loss is None or loss.as_epsilon is None else PureDP(epsilon=loss.as_epsilon)


def pure(loss: Loss | None, refusal: str) -> PureDP:
    """Return a loss as pure epsilon.

    Raises:
        NotSupported: it is none; in the words of the refusal.
    """
    if (epsilon := as_pure(loss)) is None:
        raise NotSupported(refusal)
    return epsilon
