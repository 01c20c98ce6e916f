"""Exact audits of what releases names: every output of tiny tables, with its probability under both neighbours.

The noise's table and the threshold are all that is taken from the method; what is released of a name is written out
here again, for as many names as there are rows, and compared as (epsilon, delta) defines it.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics.claim import Relation
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.mechanisms.selection.gaussian_threshold import GaussianThreshold
from dpress.mechanisms.selection.partition_selection import PartitionSelection
from dpress.noise.expansion import PRECISION, exponential_floor
from dpress.noise.tabulated import WHOLE

Table = tuple[int, ...]  # counts of names
BITS = 160
Outputs = dict[int | None, int]  # noisy counts, None where the name is hidden; of 2^128


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactDelta:
    """The largest delta of an exact check, and whether it is at most the claimed one."""

    delta: Fraction
    kept: bool
    remark: str


def names_loss(mechanism: PartitionSelection, claimed: ApproxDP) -> ExactDelta:
    """Return the largest delta at the epsilon that is left beside the total's, over neighbouring tables of a few names.

    Of one name every count that the noise can move across the threshold; of as many names as a unit may have those that
    only the unit has, and up to two that others have, too.
    """
    total = mechanism.total_noise
    spent = Fraction(0) if total is None else Fraction(mechanism.unit.rows) / total.scale
    worst, pairs = Fraction(0), 0
    below = Fraction(exponential_floor(claimed.epsilon - spent, PRECISION), 1 << PRECISION)
    for one, other in neighbours(mechanism):
        pairs += 1
        worst = max(worst, _excess(mechanism, one, other, below), _excess(mechanism, other, one, below))
    remark = f"delta over {pairs} pairs of neighbours, at the epsilon that is left beside the total's"
    return ExactDelta(delta=worst, kept=worst <= claimed.delta, remark=remark)


def sums_loss(mechanism: GaussianThreshold, claimed: ApproxDP) -> ExactDelta:
    """Return the delta of `GaussianThreshold`'s proof, its sums of noise by convolution of the noise's own weights.

    For every number of names that only the unit has; weights are rounded down to 2^-160 of the largest, for 12 standard
    deviations; what that leaves out is below 2^-100.
    """
    total = mechanism.total_noise
    spent = Fraction(0) if total is None else Fraction(mechanism.unit.rows) / total.scale
    below = Fraction(exponential_floor(claimed.epsilon - spent, PRECISION) + 1, 1 << PRECISION)
    reach = 12 * (math.isqrt(math.ceil(mechanism.sigma2)) + 1)
    own = [exponential_floor(Fraction(x * x) / (2 * mechanism.sigma2), BITS) for x in range(-reach, reach + 1)]
    shown = Fraction(sum(own[reach + mechanism.threshold - 1 :]), sum(own))
    steps, delta = mechanism.steps, mechanism.steps * shown
    for new in range(steps):
        law, moved, above = _convolved(own, steps - new), steps - new, below / (1 - new * shown)
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


def neighbours(mechanism: PartitionSelection) -> Iterator[tuple[Table, Table]]:
    """Yield the counts of the same names in two neighbouring tables: those of the unit's names, which differ by 1."""
    rows, reach = mechanism.unit.rows, len(mechanism.noise.weights)
    yield from (((count,), (count + 1,)) for count in range(reach + 1))
    gone = rows if mechanism.unit.relation is Relation.REPLACE_ONE else 0
    change = (*(1,) * rows, *(-1,) * gone)
    for others in range(3):
        for places in itertools.combinations(range(len(change)), others):
            base = [(reach // 2 if place in places else 0) + (own < 0) for place, own in enumerate(change)]
            yield tuple(base), tuple(count + own for count, own in zip(base, change, strict=True))


def _excess(mechanism: PartitionSelection, counts: Table, others: Table, below: Fraction) -> Fraction:
    """Return a number at or above the sum over outputs of max(0, P - exp(epsilon) Q); `below` is under exp(-epsilon).

    P - exp(epsilon) Q <= P - Q / u for any u >= exp(-epsilon); so u is one unit of the last place above `below`.
    """
    scale = WHOLE ** len(counts)
    above = below + Fraction(1, 1 << PRECISION)
    excess = 0
    pairs = zip((outputs(mechanism, own) for own in counts), (outputs(mechanism, own) for own in others), strict=True)
    joint = [[(own, q.get(output, 0)) for output, own in p.items()] for p, q in pairs]
    for outcome in itertools.product(*joint):
        p, q = math.prod(own for own, _ in outcome), math.prod(own for _, own in outcome)
        excess += max(0, p * above.numerator - q * above.denominator)
    return Fraction(excess, above.numerator * scale)


def outputs(mechanism: PartitionSelection, count: int) -> Outputs:
    """Return the probability of everything that can be released of a name that counts so many, in 2^-128."""
    if count == 0:
        return {None: WHOLE}  # a name that does not occur is not known
    noise, threshold = mechanism.noise, mechanism.threshold
    noisy = {count + noise.lowest + place: weight for place, weight in enumerate(noise.weights)}
    hidden = sum(weight for answer, weight in noisy.items() if answer < threshold)
    return {None: hidden} | {answer: weight for answer, weight in noisy.items() if answer >= threshold}
