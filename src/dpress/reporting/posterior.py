"""What an attacker's odds can become: Bayes' rule with the factor exp(epsilon).

Two tables that differ in one unit give the same release with probabilities whose ratio is at most exp(epsilon); so the
odds of "this unit is in the data" against "it is not" grow or shrink by at most that factor, whatever else is known.
Under (epsilon, delta) the release tells no more than a device that reveals everything with probability delta and
otherwise keeps to exp(epsilon) (Kairouz, Oh and Viswanath 2015).

Data flow: proven loss -> (epsilon, delta) -> posterior for every prior.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics.check import float_up
from dpress.core.basics.losses.loss import Loss

DELTA = Fraction(1, 10**6)
PRIORS = (0.5, 0.1, 0.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """How sure an attacker can become.

    Args:
        prior: before the release.
        least: the least probability afterwards.
        most: the greatest probability afterwards.
    """

    prior: float
    least: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """The factor by which odds can change, and what follows.

    Args:
        epsilon: the logarithm of the factor, rounded up.
        delta: the probability of the exception; 0 under pure epsilon.
        beliefs: for every prior in `PRIORS`.
    """

    epsilon: Fraction
    delta: Fraction
    beliefs: tuple[Belief, ...]


def posterior(loss: Loss, delta: Fraction = DELTA) -> Posterior:
    """Return what a loss allows; zCDP is converted at `delta`."""
    epsilon, delta = loss.at(delta)
    beliefs = tuple(_belief(prior, float_up(epsilon)) for prior in PRIORS)
    return Posterior(epsilon=epsilon, delta=delta, beliefs=beliefs)


def _belief(prior: float, epsilon: float) -> Belief:
    return Belief(prior=prior, least=_posterior(prior, -epsilon), most=_posterior(prior, epsilon))


def _posterior(prior: float, log_factor: float) -> float:
    """Return the probability whose log odds are the prior's plus `log_factor`."""
    log_odds = math.log(prior) - math.log1p(-prior) + log_factor
    return 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0


def at_most(chance: float, epsilon: float, delta: float = 0.0) -> float:
    """Return how probable anything can be with a unit's data, if it has this chance without them.

    Under (epsilon, delta): the smaller of exp(epsilon) chance + delta and 1 - exp(-epsilon) (1 - chance - delta), at
    most 1; Kairouz, Oh and Viswanath 2015, the region of what an attacker's test can reach.

    >>> round(at_most(0.5, 1.0), 3), round(at_most(0.1, 0.0), 3)
    (0.816, 0.1)
    """
    return min(math.exp(epsilon) * chance + delta, 1 - math.exp(-epsilon) * (1 - chance - delta), 1.0)
