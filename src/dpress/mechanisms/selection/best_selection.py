"""Which selection of names suits a loss: the one that finds most names where their counts follow Zipf's law.

loss, unit -> every method that can keep them -> the names that each is expected to find -> the best one first.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import pairwise

from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.methods.mechanism import NameMechanism
from dpress.mechanisms.selection import weighted_rounds
from dpress.mechanisms.selection.above_threshold import EVEN, LIKELY
from dpress.mechanisms.selection.gaussian_threshold import calibrated
from dpress.mechanisms.selection.partition_selection import made_for
from dpress.mechanisms.selection.weighted_threshold import calibrated as weighted

METHODS: Mapping[str, Callable[..., NameMechanism]] = {
    "partition_selection": made_for,
    "gaussian_threshold": calibrated,
}
WITHOUT_COUNTS: Mapping[str, Callable[..., NameMechanism]] = {
    "partition_selection": made_for,
    "weighted_threshold": weighted,  # of flat counts it needs no more than gaussian_threshold
    "weighted_rounds": weighted_rounds.calibrated,
}
GRAIN = 32  # counts up to the even one at which chances are looked at


def selections(
    loss: ApproxDP, unit: Unit, total: Fraction = Fraction(0), *, offered: Iterable[str] = METHODS, minimum: int = 0
) -> dict[str, NameMechanism]:
    """Return the methods that can keep a loss, by name, first the one that finds most names.

    No law of single counts tells what a second round finds, as that depends on what else persons have: it is first
    wherever a person may have five names, which served on nearly all lists that were tried. With a minimum the first is
    the one that needs the smallest count to be nearly sure of release: more noise finds names that are not wanted.

    Args:
        loss: epsilon and delta.
        unit: whom the promise protects.
        total: the part of epsilon for a noisy total; 0 without one.
        offered: the methods' names; `WITHOUT_COUNTS` where the names alone are wanted.
        minimum: of published counts; 0 for all that are found.

    Raises:
        NotSupported: none of them can.
    """
    methods, refused = dict[str, NameMechanism](), list[NotSupported]()
    for name in offered:
        try:
            method = {**METHODS, **WITHOUT_COUNTS}[name](loss=loss, unit=unit, total=total)
            methods[name] = method.not_below(minimum) if minimum else method
        except NotSupported as error:
            refused.append(error)
    if not methods:
        raise refused[0]
    rounds = unit.rows >= weighted_rounds.FEWEST
    lost = {name: method.holders_for(LIKELY) if minimum else -found_share(method) for name, method in methods.items()}
    scores = {
        name: (not rounds or name != "weighted_rounds", lost[name], method.variance) for name, method in methods.items()
    }
    return {name: methods[name] for name in sorted(methods, key=lambda name: scores[name])}


def found_share(selection: NameMechanism) -> Fraction:
    """Return the expected share of all names that is found where a name counts at least n with probability 1 / n.

    Formula: the sum of chance(n) (1/n - 1/m) over a grid of counts n, m the next one; public, as the chances are. Of
    weights those where every unit has as many names as it may: the least share that is found.

    >>> own = made_for(ApproxDP(epsilon=1, delta="1e-6"), Unit())
    >>> round(float(found_share(own)), 3)
    0.072
    """
    half, least = selection.holders_for(EVEN), selection.least
    counts = sorted({max(1, half * place // GRAIN) for place in range(1, 3 * GRAIN + 1)})
    inner = sum(selection.chance(n * least) * (Fraction(1, n) - Fraction(1, m)) for n, m in pairwise(counts))
    return inner + selection.chance(counts[-1] * least) * Fraction(1, counts[-1])
