"""Audit of what releases names: every output of tiny tables, with its probability under both neighbours.

The noise's table and the threshold are all that is taken from the method; what is released of a name is written out
here again, for as many names as there are rows, and compared as (epsilon, delta) defines it.
"""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

from dpress.audit.exact import ExactDelta
from dpress.core.basics.claim import Relation
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.mechanisms.selection.names_audit import NamesAudit
from dpress.mechanisms.selection.partition_selection import PartitionSelection
from dpress.noise.expansion import PRECISION, exponential_floor
from dpress.noise.tabulated import WHOLE

Table = tuple[int, ...]  # counts of names
Outputs = dict[int | None, int]  # noisy counts, None where the name is hidden; of 2^128


def names_loss(mechanism: PartitionSelection, claimed: ApproxDP) -> ExactDelta:
    """Return the largest delta at the epsilon that is left beside the total's, over neighbouring tables of a few names.

    Of one name every count that the noise can move across the threshold; of as many names as a unit may have those that
    only the unit has, and up to two that others have, too.
    """
    total = mechanism.total_noise
    spent = Fraction(0) if total is None else Fraction(mechanism.unit.rows) / total.scale
    worst, pairs = Fraction(0), 0
    below = Fraction(exponential_floor(claimed.epsilon - spent, PRECISION), 1 << PRECISION)
    for table, other in neighbours(mechanism):
        pairs += 1
        worst = max(worst, _excess(mechanism, table, other, below), _excess(mechanism, other, table, below))
    remark = f"delta over {pairs} pairs of neighbours, at the epsilon that is left beside the total's"
    return ExactDelta(delta=worst, kept=worst <= claimed.delta, remark=remark)


def neighbours(mechanism: PartitionSelection) -> Iterator[tuple[Table, Table]]:
    """Yield the counts of the same names in two neighbouring tables: those of the unit's names, which differ by 1."""
    rows, reach = mechanism.unit.rows, len(mechanism.noise.weights)
    yield from (((count,), (count + 1,)) for count in range(reach + 1))
    gone = rows if mechanism.unit.relation is Relation.REPLACE_ONE else 0
    change = (*(1,) * rows, *(-1,) * gone)
    for others in range(3):
        for places in itertools.combinations(range(len(change)), others):
            base = [(reach // 2 if place in places else 0) + (step < 0) for place, step in enumerate(change)]
            yield tuple(base), tuple(count + step for count, step in zip(base, change, strict=True))


def _excess(mechanism: PartitionSelection, counts: Table, others: Table, below: Fraction) -> Fraction:
    """Return a number at or above the sum over outputs of max(0, P - exp(epsilon) Q); `below` is under exp(-epsilon).

    P - exp(epsilon) Q <= P - Q / u for any u >= exp(-epsilon); so u is one unit of the last place above `below`.
    """
    scale = WHOLE ** len(counts)
    above = below + Fraction(1, 1 << PRECISION)
    excess = 0
    pairs = zip(*([outputs(mechanism, count) for count in table] for table in (counts, others)), strict=True)
    joint = [[(chance, q.get(output, 0)) for output, chance in p.items()] for p, q in pairs]
    for outcome in itertools.product(*joint):
        p, q = math.prod(chance for chance, _ in outcome), math.prod(chance for _, chance in outcome)
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


AUDIT = NamesAudit(kind="exact outputs", name="tables of a few names", loss=names_loss)
