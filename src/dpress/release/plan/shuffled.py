"""What a collection promises where somebody shuffles its reports: the central loss of all of them together.

collection, how many report -> clones of every report type -> (epsilon, delta), the largest of the types'.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from dpress.core.basics import check
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import pure
from dpress.core.basics.plain import method_of
from dpress.core.reports.oracle import Clones
from dpress.inference.shuffling import any_randomiser, central_epsilon, holds
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.report_type import ReportType

ANY = "any randomiser"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffled:
    """The promise to one person, of one report each, for the multiset of all reports of a type.

    Args:
        local: epsilon of one report, which holds without anybody's help.
        epsilon: of all reports together, rounded up.
        delta: as asked for.
        reports: n, of all types. Who answers another one hides nobody: of the others each is a clone only with the
            probability of drawing the person's type, too.
        bound: the method whose own reports were compared, or "any randomiser".
    """

    local: float
    epsilon: float
    delta: float
    reports: int
    bound: str


def shuffled(collection: Collection, users: int, delta: check.Number) -> Shuffled:
    """Return what shuffling makes of a collection of so many users, each of whom sends one report.

    Raises:
        NotSupported: a report type claims no proven epsilon, reports carry a hash function that a device keeps, or
            devices are asked in rounds.
        ValueError: delta is not strictly between 0 and 1.
    """
    allowed, total = check.probability("delta", delta), sum(collection.weights)
    if collection.estimator.rounds:
        raise NotSupported("shuffling is priced for collections that ask everybody at once, not for rounds")
    if any(oracle.lifelong is not None for report in collection.types for oracle in report.oracles):
        raise NotSupported("reports that carry a device's own hash name their sender: shuffling adds nothing to them")
    worst = Shuffled(local=0.0, epsilon=0.0, delta=float(allowed), reports=users, bound=ANY)
    for report in collection.types:
        local, clones, bound = _clones(report, Fraction(report.weight, total))
        if not worst.epsilon or not holds(clones, users, worst.epsilon, allowed):
            worst = replace(worst, epsilon=central_epsilon(clones, users, allowed), bound=bound)
        worst = replace(worst, local=max(worst.local, check.float_up(local)))
    return worst


def _clones(report: ReportType, share: Fraction) -> tuple[Fraction, Clones, str]:
    """Return epsilon of a report, the clones among others, of whom a share draws the type, and whose bound it is."""
    claimed = pure(report.claim.proven, "shuffling adds to a proven epsilon of every report, and these have none")
    alone = report.oracles[0] if len(report.parts) == 1 else None
    clones = None if alone is None or alone.size < 2 else alone.clones(claimed.epsilon)
    bound = ANY if alone is None or clones is None else method_of(type(alone))
    clones = clones or any_randomiser(claimed.epsilon)
    return claimed.epsilon, replace(clones, gamma=clones.gamma * share), bound


def sentence(promise: Shuffled) -> str:
    """Return the promise for people, and whom they trust for it."""
    by = "for any randomiser" if promise.bound == ANY else f"for reports of {promise.bound}"
    return (
        f"Shuffled: where {promise.reports:,} reports reach the analyst without order, time or sender, all of "
        f"them together are (epsilon = {rounded_up(promise.epsilon):g}, delta = {promise.delta:g})-private for each "
        f"person, of one report each (proven, {by}). For that one trusts whoever shuffles; epsilon = {promise.local:g} "
        "of a report needs nobody's trust."
    )


def rounded_up(epsilon: float) -> float:
    """Return epsilon to four significant digits, not below it."""
    step: float = 10.0 ** (math.floor(math.log10(epsilon)) - 3)
    return float(f"{math.ceil(epsilon / step) * step:.4g}")
