"""Audit of names by Gaussian noise: the delta of its proof, sums of noise by convolution of the noise's own weights."""

import math
from fractions import Fraction

from dpress.audit.exact import ExactDelta
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.mechanisms.selection.gaussian_threshold import GaussianThreshold
from dpress.mechanisms.selection.names_audit import NamesAudit
from dpress.noise.expansion import PRECISION, exponential_floor

BITS = 160


def sums_loss(mechanism: GaussianThreshold, claimed: ApproxDP) -> ExactDelta:
    """Return the delta of `GaussianThreshold`'s proof, its sums of noise by convolution of the noise's own weights.

    For every number of names that only the unit has; weights are rounded down to 2^-160 of the largest, for 12 standard
    deviations; what that leaves out is below 2^-100.
    """
    total = mechanism.total_noise
    spent = Fraction(0) if total is None else Fraction(mechanism.unit.rows) / total.scale
    below = Fraction(exponential_floor(claimed.epsilon - spent, PRECISION) + 1, 1 << PRECISION)
    reach = 12 * (math.isqrt(math.ceil(mechanism.sigma2)) + 1)
    weights = [exponential_floor(Fraction(x * x) / (2 * mechanism.sigma2), BITS) for x in range(-reach, reach + 1)]
    shown = Fraction(sum(weights[reach + mechanism.threshold - 1 :]), sum(weights))
    steps, delta = mechanism.steps, mechanism.steps * shown
    for new in range(steps):
        law, moved, above = _convolved(weights, steps - new), steps - new, below / (1 - new * shown)
        shifted = [*law[moved:], *[0] * moved]
        excess = sum(max(0, p * above.numerator - q * above.denominator) for p, q in zip(law, shifted, strict=True))
        delta = max(delta, new * shown + Fraction(excess, above.numerator * sum(law)))
    remark = "delta of names that only a unit has, and of noise added to the counts of its others, by convolution"
    return ExactDelta(delta=delta, kept=delta <= claimed.delta, remark=remark)


def _convolved(weights: list[int], times: int) -> list[int]:
    """Return the weights of a sum of so many independent draws."""
    width = times * (BITS + len(weights).bit_length() + 1) // 8 + 1  # bytes of a sum of products
    packed = int.from_bytes(b"".join(weight.to_bytes(width, "little") for weight in weights), "little") ** times
    size = (len(weights) - 1) * times + 1
    written = packed.to_bytes(width * size, "little")
    return [int.from_bytes(written[width * place : width * (place + 1)], "little") for place in range(size)]


AUDIT = NamesAudit(kind="exact sum", name="sums of noise", loss=sums_loss)
