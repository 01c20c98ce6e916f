"""What is promised, as figures: the losses, the warning a page must carry, and what an attacker can conclude.

Data flow: facts -> Promise -> template.
"""

import contextlib
from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics.claim import Claim, Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.convert import exp_up
from dpress.core.basics.losses.loss import Loss
from dpress.ledger.compose import group
from dpress.mechanisms.protocol.collection import as_collection
from dpress.release.plan.plan_text import WEAK
from dpress.release.plan.shuffled import shuffled
from dpress.reporting.facts import Facts
from dpress.reporting.posterior import DELTA, Belief, Posterior, posterior
from dpress.reporting.rounding import ceiling, loss

SEEDED, UNPROVEN, NEARLY_NOTHING = "seeded", "unproven", "weak"
"""The warnings that nobody may overlook."""
SHUFFLED_DELTA = Fraction(1, 10**8)
FAMILIES = (2, 4, 10)
"""Sizes of groups of which the page says what they are promised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """The figures of the second section; a figure that the promise does not have is empty.

    Args:
        private: False if a seeded generator drew the noise.
        is_proven: the loss is proven for the code that ran.
        published: the loss that the method's paper claims.
        proven: the loss that is proven.
        definition: of the loss to rely on, proven or only published, a sentence; empty if the release protects nobody.
        for_groups: what it allows for a group, in words.
        basis: why it is proven.
        given: the public numbers that both of two tables have, in words.
        changed: the loss between two tables that both have them; empty where it is that one.
        warning: what the page is stamped with; empty for a proven promise that means something.
        beliefs: what an attacker can come to believe, for several priors.
        epsilon: the logarithm of the factor by which odds can change, rounded up.
        factor: by which odds can change at most.
        delta: the probability of the exception; empty without one.
        converted: the loss that needs a delta for its epsilon, rho or mu^2, in words.
        replaced: what holds for the content of a row, in words: a replacement is one removal and one addition.
        shuffled: what holds of all reports together if somebody shuffles them; None for tables and unproven reports.
        groups: the loss that holds for a group, by its size: foundations, Theorem 7.
    """

    private: bool
    is_proven: bool
    published: str
    proven: str
    definition: str
    for_groups: str
    basis: str
    given: str
    changed: str
    warning: str
    beliefs: tuple[Belief, ...] = ()
    epsilon: str = ""
    factor: str = ""
    delta: str = ""
    converted: str = ""
    replaced: str = ""
    shuffled: "Together | None" = None
    groups: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """The promise of a shuffled collection, in figures.

    Args:
        epsilon: of all reports of a type.
        delta: what it leaves open.
        reports: of all types.
        local: epsilon of a report, without a shuffler.
    """

    epsilon: str
    delta: str
    reports: int
    local: str


def promise(facts: Facts) -> Promise:
    """Return the figures of what a release promises."""
    claim, stated = facts.claim, facts.promised
    hidden = claim.given or claim.unit.relation is Relation.REPLACE_ONE
    changed = _of_change(stated, claim)
    beliefs = None if changed is None else posterior(changed, facts.budget.delta or DELTA)
    return Promise(
        private=facts.private,
        is_proven=claim.proven is not None,
        published=loss(claim.published),
        proven=loss(claim.proven),
        definition="" if stated is None else stated.definition,
        for_groups="" if stated is None else stated.for_groups,
        basis=claim.basis,
        given=claim.given,
        changed="" if changed == stated else loss(changed),
        warning=_warning(facts, beliefs),
        beliefs=() if beliefs is None else beliefs.beliefs,
        epsilon="" if beliefs is None else ceiling(beliefs.epsilon),
        factor="" if beliefs is None else ceiling(exp_up(beliefs.epsilon), 3),
        delta=ceiling(beliefs.delta) if beliefs is not None and beliefs.delta else "",
        converted=loss(changed) if changed is not None and changed.needs_delta else "",
        replaced="" if hidden or stated is None else stated.for_contents.format(ceiling(stated.replaced)),
        shuffled=_together(facts),
        groups=() if changed is None else _groups(changed),
    )


def _of_change(stated: Loss | None, claim: Claim) -> Loss | None:
    """Return the loss of one unit's change between tables that could both be.

    Beside numbers that are public one unit that leaves has another that comes: a group of two.
    """
    if stated is None or not claim.given or claim.unit.relation is Relation.REPLACE_ONE:
        return stated
    return group(stated, 2)


def _together(facts: Facts) -> Together | None:
    collection = as_collection(facts.mechanism)
    if collection is None or not facts.private or not collection.users:
        return None
    try:
        central = shuffled(collection, collection.users, SHUFFLED_DELTA)
    except NotSupported:
        return None
    return Together(
        epsilon=ceiling(Fraction(central.epsilon)),
        delta=ceiling(SHUFFLED_DELTA),
        reports=central.reports,
        local=ceiling(Fraction(central.local)),
    )


def _warning(facts: Facts, beliefs: Posterior | None) -> str:
    if not facts.private:
        return SEEDED
    if facts.claim.proven is None:
        return UNPROVEN
    return NEARLY_NOTHING if beliefs is not None and beliefs.epsilon > WEAK else ""


def _groups(stated: Loss) -> tuple[tuple[int, str], ...]:
    """Return what groups are promised; those whose loss would be none any more, as delta reaches 1, are left out."""
    groups = []
    for size in FAMILIES:
        with contextlib.suppress(ValueError):
            groups.append((size, loss(group(stated, size))))
    return tuple(groups)
