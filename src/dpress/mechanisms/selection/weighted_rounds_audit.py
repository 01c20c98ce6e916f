"""Audit of names found in two rounds: every unit's names, new or moved, and the noise's own weights added up.

As for one round (`weighted_threshold_audit`), on a coarse lattice, with the changes of both rounds side by side. Names
that others have, too, are all left for the second round, where they move as much as they can, or none is; names that
only the unit has are left by chance.
"""

from collections.abc import Iterator
from itertools import product
from math import comb, exp

from dpress.audit.exact import ExactDelta
from dpress.core.basics.claim import Relation
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.mechanisms.selection.name_weights import weight
from dpress.mechanisms.selection.weighted_rounds import WeightedRounds, calibrated
from dpress.mechanisms.selection.weighted_threshold_audit import hidden, largest, law_of_sum, of_sums


def rounds_loss(mechanism: WeightedRounds, claimed: ApproxDP) -> ExactDelta:
    """Return the largest delta of all units; see `largest`."""
    return largest(_deltas(mechanism, claimed), claimed, "in both rounds, by sums of the noise")


def _deltas(mechanism: WeightedRounds, claimed: ApproxDP) -> Iterator[float]:
    """Yield the delta of every unit that comes, goes or is replaced."""
    for moved, new, gone, left in _changes(mechanism):
        names = moved + max(new, gone)
        shown, missed = (_shown(mechanism, moved * left, moved + number, number) for number in (new, gone))
        sides = 2 if mechanism.unit.relation is Relation.REPLACE_ONE and moved else 1
        first = (weight(mechanism.first, names) if names else 1, sides * moved)
        second = (weight(mechanism.second, moved), sides * moved) if moved and left else (1, 0)
        ratio = exp(float(claimed.epsilon)) * (1 - missed)
        yield shown + hidden(mechanism.sigma2, first, second, ratio)


def _changes(mechanism: WeightedRounds) -> Iterator[tuple[int, int, int, bool]]:
    """Yield names that move, that only the first unit has, that only the other has, and whether the first are left."""
    replaced = mechanism.unit.relation is Relation.REPLACE_ONE
    rows = range(mechanism.unit.rows + 1)
    for moved, new, gone, left in product(rows, rows, rows, (False, True)):
        of_both = (new == gone) if replaced and moved else (not new or not gone or replaced)
        if 0 < moved + max(new, gone) <= mechanism.unit.rows and of_both:
            yield moved, new, gone, left


def _shown(mechanism: WeightedRounds, beside: int, names: int, new: int) -> float:
    """Return the expected number of new names that show, in round 1, or in round 2 beside names that are left."""
    if not new:
        return 0.0
    law = law_of_sum(mechanism.sigma2, 1)
    above = law[::-1].cumsum()[::-1]  # P(X >= -reach), ...

    def tail(start: int) -> float:
        place = start + law.size // 2
        return float(above[place]) if 0 <= place < above.size else float(place < 0)

    of_first = weight(mechanism.first, names)
    at_once, left = tail(mechanism.certain - of_first), tail(mechanism.doubtful - of_first)
    chance, late = left - at_once, 0.0
    for number in range(1, new + 1):
        share = comb(new, number) * chance**number * (1 - chance) ** (new - number)
        late += share * number * tail(mechanism.threshold - weight(mechanism.second, number + beside))
    return new * at_once + late


AUDIT = of_sums(rounds_loss, calibrated)
