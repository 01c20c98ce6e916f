"""Approximate differential privacy, epsilon and delta: a budget, and what names that nobody lists cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from dpress.core.basics import check
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.losses.convert import best_order, entry, exp_up, round_up
from dpress.core.basics.losses.gaussian_dp import GaussianDP
from dpress.core.basics.losses.loss import Amounts, Choosing, Loss
from dpress.core.basics.losses.pure import PureDP

GAUSSIAN_SHARE = Fraction(999, 1000)  # of delta; the rest is a ledger's for other losses


@dataclass(frozen=True, slots=True, init=False)
class ApproxDP:
    """Approximate differential privacy: P(M(D) in S) <= exp(epsilon) P(M(D') in S) + delta.

    Args:
        epsilon: in [1e-9, 1000].
        delta: strictly between 0 and 1.

    >>> ApproxDP(epsilon=1, delta=1e-6).delta
    Fraction(1, 1000000)
    """

    form: ClassVar[str] = "approximate"
    variant: ClassVar[str] = "Approximate DP"
    names: ClassVar[tuple[str, ...]] = ("epsilon", "delta")
    definition: ClassVar[str] = (
        "Any set of releases has, under one of two neighbouring tables, at most exp(ε) times the probability it has "
        "under the other, plus δ."
    )
    for_groups: ClassVar[str] = "g ε allows, where ε"
    for_contents: ClassVar[str] = "ε doubles to {} and δ grows to (1 + exp(ε)) δ"
    additive: ClassVar[bool] = False
    pays: ClassVar[str] = "epsilon and delta, mu2, rho or epsilon"
    needs_delta: ClassVar[bool] = False
    as_epsilon: ClassVar[None] = None
    as_rho: ClassVar[None] = None
    as_mu2: ClassVar[None] = None

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: check.Number, delta: check.Number) -> None:
        object.__setattr__(self, "epsilon", check.loss_parameter("epsilon", epsilon))
        object.__setattr__(self, "delta", check.probability("delta", delta))

    @property
    def amount(self) -> Fraction:
        """Epsilon, which delta stands beside."""
        return self.epsilon

    @property
    def tail(self) -> Literal["laplace", "gaussian"]:
        """None: it pays for either noise."""
        raise self._spread()

    @property
    def order(self) -> Literal[1, 2]:
        """None: see `tail`."""
        raise self._spread()

    @property
    def choosing(self) -> Choosing:
        """None: see `tail`."""
        raise self._spread()

    @property
    def replaced(self) -> Fraction:
        """Twice epsilon; delta grows to (1 + exp(epsilon)) delta."""
        return 2 * self.epsilon

    @property
    def payable(self) -> tuple[PureDP, GaussianDP]:
        """Pure epsilon, and the largest mu^2 within epsilon and `GAUSSIAN_SHARE` of delta."""
        from dpress.core.basics.losses.gaussian_profile import mu2_for  # noqa: PLC0415  # beside a delta only

        return PureDP(epsilon=self.epsilon), GaussianDP(mu2=mu2_for(self.epsilon, GAUSSIAN_SHARE * self.delta))

    def of(self, amount: Fraction) -> "ApproxDP":  # noqa: ARG002  # refused
        """Refuse: what a smaller epsilon makes of delta is nobody's to say."""
        raise self._spread()

    def spread(self, sensitivity: Fraction) -> Fraction:  # noqa: ARG002  # refused
        """Refuse: see `tail`."""
        raise self._spread()

    def cost(self, spread: Fraction, sensitivity: Fraction) -> Fraction:  # noqa: ARG002  # refused
        """Refuse: see `tail`."""
        raise self._spread()

    def choice_range(self, choices: int, steps: int) -> Fraction:  # noqa: ARG002  # refused
        """Refuse: see `tail`."""
        raise self._spread()

    def choice_cost(self, width: Fraction) -> Fraction:  # noqa: ARG002  # refused
        """Refuse: see `tail`."""
        raise self._spread()

    def together(self, others: "Sequence[ApproxDP]") -> "ApproxDP":
        """Return the sums of all epsilon and of all delta (foundations, basic composition)."""
        epsilon, delta = (sum((getattr(loss, name) for loss in (self, *others)), Fraction(0)) for name in self.names)
        return ApproxDP(epsilon=epsilon, delta=delta)

    def group(self, size: int) -> "ApproxDP":
        """Return (size epsilon, delta sum over i < size of exp(i epsilon)), the sum rounded up.

        Paper: Vadhan 2017, Lemma 2.2 (its proof).
        """
        bound = check.loss_parameter("epsilon", size * self.epsilon)
        growth = (exp_up(bound) - 1) / (1 / exp_up(-self.epsilon) - 1)
        return ApproxDP(epsilon=bound, delta=round_up(self.delta * growth) if size > 1 else self.delta)

    def price(self, loss: Loss) -> Amounts | None:
        """Return its epsilon and delta; of rho alpha rho, at the order alpha that `zcdp_for` uses for this limit."""
        if not loss.needs_delta:
            return dict(zip(self.names, loss.at(self.delta), strict=True))
        if loss.as_rho is None:
            return None
        return {"epsilon": best_order(self.epsilon, self.delta) * loss.as_rho, "delta": Fraction(0)}

    def fixed(self, losses: Sequence[Loss]) -> Amounts:
        """Return the fixed part of the conversion of rho, which takes the whole delta; nothing without rho."""
        if not any(loss.needs_delta for loss in losses):
            return dict.fromkeys(self.names, Fraction(0))
        if any(loss.delta for loss in losses):
            raise ValueError(
                "one limit in (epsilon, delta) pays for losses in rho or in (epsilon, delta), not both; "
                "turn rho into (epsilon, delta) with convert.epsilon_for before asking"
            )
        return {"epsilon": entry(best_order(self.epsilon, self.delta), self.delta), "delta": self.delta}

    def at(self, delta: Fraction) -> tuple[Fraction, Fraction]:  # noqa: ARG002  # it has its own
        """Return epsilon and its own delta."""
        return self.epsilon, self.delta

    def _spread(self) -> NotSupported:
        return NotSupported(f"sums and choices are calibrated to epsilon or rho, got {describe(self)}")


def approximate(loss: Loss | None, refusal: str) -> ApproxDP:
    """Return a loss as epsilon and delta, where it states both.

    Raises:
        NotSupported: it states no delta; in the words of the refusal.
    """
    if loss is None or not loss.delta:
        raise NotSupported(refusal)
    return ApproxDP(epsilon=loss.amount, delta=loss.delta)
