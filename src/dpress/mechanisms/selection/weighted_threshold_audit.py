"""Audit of names found by weights: every unit's names, new or moved, and the noise's own weights added up.

Noise and weights come from the mechanism, on a coarse lattice; the changes are listed, and no bound of its proof is
used. A change v is hidden up to a function of sum v_i x_i alone, as the log ratio of x and x - v is linear in it.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.audit.exact import ExactDelta
from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.methods.mechanism import NameMechanism
from dpress.mechanisms.selection.names_audit import NamesAudit
from dpress.mechanisms.selection.weighted_threshold import WeightedThreshold, calibrated

COARSE = 16  # length of a person's weights
LARGEST = 1 << 16  # values of a sum of noise
REACH = 9  # standard deviations; beyond them less than 1e-17 is left
FLOATS = 1e-12  # relative, of sums of positive numbers
SMALLEST_DELTA = 1e-14  # far above what is left out

Law = npt.NDArray[np.float64]
Side = tuple[int, int, int]  # the weight of every name, how many others have, and how many only the unit has


def of_sums(loss: Callable[[Any, ApproxDP], ExactDelta], made_for: Callable[..., NameMechanism]) -> NamesAudit:
    """Return the audit of a selection by weights, made on a lattice whose sums of noise can be added up.

    Args:
        loss: the largest delta at the claimed epsilon.
        made_for: the selection for a loss, a unit and a `length` of weights.
    """
    return NamesAudit(
        kind="exact sum",
        name="sums of noise",
        loss=loss,
        example=lambda card, loss, unit: card.example(loss, unit),
        coarse=lambda mechanism: made_for(mechanism.loss, mechanism.unit, length=COARSE),
    )


def largest(deltas: Iterator[float], claimed: ApproxDP, how: str) -> ExactDelta:
    """Return the largest delta over units with up to `unit.rows` names, each new or moved; in floats, rounded up.

    Args:
        deltas: of every unit, at the claimed epsilon.
        claimed: epsilon and delta.
        how: they were added up.

    Raises:
        NotSupported: the lattice is too fine for sums of noise to be added up, or delta is below 1e-14.
    """
    if claimed.delta < SMALLEST_DELTA:
        raise NotSupported(f"sums of noise are added up for delta >= {SMALLEST_DELTA}, got {float(claimed.delta):.3g}")
    of_units = list(deltas)
    delta = Fraction(max(of_units)) * (1 + Fraction(FLOATS))
    remark = f"delta of {len(of_units)} units, their names new or moved, {how}"
    return ExactDelta(delta=delta, kept=delta <= claimed.delta, remark=remark)


def weights_loss(mechanism: WeightedThreshold, claimed: ApproxDP) -> ExactDelta:
    """Return the largest delta of all units; see `largest`."""
    return largest(_deltas(mechanism, claimed), claimed, "by sums of the noise on a coarse lattice")


def _deltas(mechanism: WeightedThreshold, claimed: ApproxDP) -> Iterator[float]:
    """Yield the delta of every unit that comes, goes or is replaced."""
    law = law_of_sum(mechanism.sigma2, 1)
    above = law[law.size // 2 + np.arange(law.size // 2 + 1)][::-1].cumsum()[::-1]  # P(X >= 0), P(X >= 1), ...
    for (weight_before, moved, new), (other, away, gone) in _changes(mechanism):
        shown, missed = (
            number * float(above[mechanism.threshold - weight]) if mechanism.threshold - weight < above.size else 0.0
            for number, weight in ((new, weight_before), (gone, other))
        )
        ratio = math.exp(float(claimed.epsilon)) * (1 - missed)
        yield shown + hidden(mechanism.sigma2, (weight_before, moved), (other, away), ratio)


def _changes(mechanism: WeightedThreshold) -> Iterator[tuple[Side, Side]]:
    """Yield what a unit adds that comes, and what one adds that goes: nothing but where one is replaced."""
    sides = [
        (weight, names - new, new)
        for names, weight in enumerate(mechanism.weights, start=1)
        for new in range(names + 1)
    ]
    nothing: Side = (1, 0, 0)
    if mechanism.unit.relation is Relation.REPLACE_ONE:
        yield from product(sides, [nothing, *sides])
    else:
        for side in sides:
            yield side, nothing
            yield nothing, side


@lru_cache(maxsize=16)
def law_of_sum(sigma2: Fraction, parts: int) -> Law:
    """Return the law of a sum of noises, the middle value being 0."""
    if not parts:
        return np.ones(1)
    if parts > 1:
        together: Law = np.convolve(law_of_sum(sigma2, parts - 1), law_of_sum(sigma2, 1))
        return together
    reach = REACH * (math.isqrt(math.ceil(sigma2)) + 1)
    if reach > LARGEST:
        raise NotSupported("sums of noise are added up on a coarse lattice only")
    weights: Law = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * float(sigma2)))
    law: Law = weights / weights.sum()
    return law


def hidden(sigma2: Fraction, first: tuple[int, int], second: tuple[int, int], ratio: float) -> float:
    """Return the sum of max(0, P(x) - ratio P(x - v)), v of each side's weight in so many names of it.

    P(x) > ratio P(x - v) where the weighted sum of x is below |v|^2 / 2 - sigma2 ln(ratio).
    """
    (larger, moved), (other, away) = sorted((first, second), key=lambda side: -side[1])
    if ratio <= 0:
        return 1.0
    square = larger**2 * moved + other**2 * away
    line = square / 2 - float(sigma2) * math.log(ratio)
    law, rest = law_of_sum(sigma2, moved), law_of_sum(sigma2, away)
    below = np.concatenate([[0.0], rest.cumsum()])  # P(sum < place)
    sums = np.arange(law.size) - law.size // 2
    places = np.ceil((line - larger * sums) / other).astype(np.int64) + rest.size // 2
    near, far = (np.clip(places - shift, 0, rest.size) for shift in (0, other * away))
    moved_law = np.zeros_like(law)
    shift = larger * moved
    moved_law[shift:] = law[: law.size - shift]
    return max(0.0, float(law @ below[near] - ratio * (moved_law @ below[far])))


AUDIT = of_sums(weights_loss, calibrated)
