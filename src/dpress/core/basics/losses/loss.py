"""What mechanisms, planners, ledgers, pages and audits ask of a privacy loss: one protocol, a file for each loss."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, Protocol, Self

Amounts = dict[str, Fraction]
"""An amount for every parameter of a loss; zero and any size are possible."""
Choosing = Literal["permute-and-flip", "the exponential mechanism"]


class Loss(Protocol):
    """A privacy loss: what holds between two tables, and what noise, a choice or an account makes of it.

    Its fields are its parameters, exact rationals in the order of `names`.
    """

    # How it is called.

    @property
    def form(self) -> str:
        """One word for it, by which pages and audits file what they have for each loss: "pure"."""
        ...

    @property
    def variant(self) -> str:
        """How a registry of deployments calls it."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its parameters, as specifications and ledgers write them; `amount` grows with the first."""
        ...

    @property
    def definition(self) -> str:
        """What holds between two neighbouring tables, as a sentence."""
        ...

    @property
    def for_groups(self) -> str:
        """What it allows for a group of g, in words, up to "is that of one"."""
        ...

    @property
    def for_contents(self) -> str:
        """What becomes of it between two contents of a unit, in words, with {} for `replaced`."""
        ...

    # What is calibrated to it.

    @property
    def additive(self) -> bool:
        """Whether sums and choices are calibrated to it; where not, to one of `payable`."""
        ...

    @property
    def amount(self) -> Fraction:
        """The number that noise is calibrated to, in proportion to which it is shared out; epsilon beside a delta."""
        ...

    @property
    def delta(self) -> Fraction:
        """The chance that it leaves open; 0 where it states none."""
        ...

    @property
    def tail(self) -> Literal["laplace", "gaussian"]:
        """The noise that is calibrated to it; `spread` says how wide.

        Raises:
            NotSupported: it is not additive; so do `order`, `choosing` and what else is of noise and choices.
        """
        ...

    @property
    def order(self) -> Literal[1, 2]:
        """Of the norm in which a sensitivity s is measured: 1 for L1, 2 for the square of L2."""
        ...

    def spread(self, sensitivity: Fraction) -> Fraction:
        """Return the scale of the Laplace noise, or the sigma2 of the Gaussian noise, that costs `amount`, or less."""
        ...

    def cost(self, spread: Fraction, sensitivity: Fraction) -> Fraction:
        """Return the amount that noise of this spread costs."""
        ...

    @property
    def choosing(self) -> Choosing:
        """The way to choose one of many that is nearest at this loss."""
        ...

    def of(self, amount: Fraction) -> Self:
        """Return the loss of this kind with another amount.

        Raises:
            ValueError: the amount is none.
        """
        ...

    def choice_range(self, choices: int, steps: int) -> Fraction:
        """Return the range of log ratios of each of so many choices that together cost the loss.

        Args:
            choices: their number.
            steps: parts of 1 to whose multiples an irrational range is rounded down.
        """
        ...

    def choice_cost(self, width: Fraction) -> Fraction:
        """Return the amount that a choice costs whose log ratios have a range of this width."""
        ...

    # How it adds up, and what it pays for.

    def together(self, others: Sequence[Self]) -> Self:
        """Return the loss of this and other mechanisms on one table, chosen adaptively."""
        ...

    def group(self, size: int) -> Self:
        """Return the loss between tables that differ in `size` units.

        Raises:
            ValueError: the result is no loss any more, e.g. delta would reach 1.
        """
        ...

    @property
    def replaced(self) -> Fraction:
        """The amount that holds between two contents of a unit: a replacement is one removal and one addition."""
        ...

    @property
    def pays(self) -> str:
        """The parameters of the losses that it pays for as a limit, in words."""
        ...

    @property
    def payable(self) -> "tuple[Loss, ...]":
        """The largest losses within it that noise can be calibrated to."""
        ...

    def price(self, loss: "Loss") -> Amounts | None:
        """Return what another loss takes of this as a limit; None where it cannot pay for such a loss."""
        ...

    def fixed(self, losses: "Sequence[Loss]") -> Amounts:
        """Return what is charged to this limit once, whatever the number of losses.

        Raises:
            ValueError: it cannot pay for all of these losses together.
        """
        ...

    # What it comes to in terms of others.

    @property
    def as_epsilon(self) -> Fraction | None:
        """The epsilon of the pure differential privacy that it is; None where it is none."""
        ...

    @property
    def as_rho(self) -> Fraction | None:
        """The rho of the zCDP that follows; None where none does."""
        ...

    @property
    def as_mu2(self) -> Fraction | None:
        """The mu^2 of the Gaussian differential privacy that follows; None where none does."""
        ...

    @property
    def needs_delta(self) -> bool:
        """Whether (epsilon, delta) follow from it at a delta of one's choice only."""
        ...

    def at(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        """Return the epsilon and the delta that follow; the given delta counts only where it needs one."""
        ...
