"""How an (epsilon, delta) limit pays from its first Gaussian loss on: in two ways, each with its own part of delta.

What was charged before that loss counts with its whole epsilon and delta. What is left of them then pays

    Gaussian: for mu^2, up to the largest that keeps epsilon and most of delta,
    Renyi: for the divergences of one order, by the conversion at the rest of delta,

and any losses that fit one way: the chances that they fail add up. docs/explanations/proofs/gaussian-noise.md has it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics.losses.approximate import GAUSSIAN_SHARE
from dpress.core.basics.losses.convert import best_order, entry, response_divergence
from dpress.core.basics.losses.gaussian_profile import mu2_for
from dpress.core.basics.losses.loss import Loss

SMALLEST = Fraction(1, 10**20)  # below every mu^2
MIXED_SHARE = Fraction(19, 20)  # of delta for Gaussian losses, where the first is at most half of what fits


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Prices that add up to at most what is left of epsilon.

    Args:
        fixed: what is part of the sum once.
        price: of a loss; None where this way does not pay for it.
    """

    fixed: Fraction
    price: Callable[[Loss], Fraction | None]


def ways(epsilon: Fraction, delta: Fraction, first: Fraction) -> tuple[Way, ...]:
    """Return how what is left of a limit may pay; in no way where nothing is.

    Args:
        epsilon: what is left.
        delta: what is left; all ways together take it.
        first: the mu^2 of the first Gaussian loss: where it leaves little, nearly all of delta is for Gaussian losses.
    """
    if epsilon <= 0 or delta <= 0:
        return ()
    mixed = 2 * first <= _largest(epsilon, delta * GAUSSIAN_SHARE)
    share = MIXED_SHARE if mixed else GAUSSIAN_SHARE
    return gaussian_way(epsilon, delta * share), renyi_way(epsilon, delta * (1 - share))


def gaussian_way(epsilon: Fraction, delta: Fraction) -> Way:
    """Return the way by mu^2: the part of epsilon that it is of the largest mu^2 within epsilon and this part of delta.

    No price fits where there is no such mu^2.
    """
    each = epsilon / _largest(epsilon, delta)
    return Way(fixed=Fraction(0), price=lambda loss: None if loss.as_mu2 is None else loss.as_mu2 * each)


def renyi_way(epsilon: Fraction, delta: Fraction) -> Way:
    """Return the way by Renyi divergences of the order that is best for rho, which add up (Feldman, Zrnic 2021).

    order rho; of pure epsilon the divergence of randomised response; once the part of the conversion at this part of
    delta that no loss changes.
    """
    order = best_order(epsilon, delta)

    def price(loss: Loss) -> Fraction | None:
        if loss.as_epsilon is not None:
            return response_divergence(loss.as_epsilon, order)
        return None if loss.as_rho is None else order * loss.as_rho

    return Way(fixed=entry(order, delta), price=price)


def _largest(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the mu^2 that fits; next to nothing where that is none."""
    try:
        return mu2_for(epsilon, delta)
    except ValueError:
        return SMALLEST
