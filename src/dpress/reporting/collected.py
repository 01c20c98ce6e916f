"""What a collection asked of devices: how many answered, about what, at which loss over time, and why that holds.

Data flow: facts -> CollectionFacts -> template.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpress.attributes.domain import Schema
from dpress.core.basics.losses.any_loss import composed
from dpress.core.basics.losses.pure import PureDP
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.report_type import ReportType, longitudinal
from dpress.reporting.facts import Facts
from dpress.reporting.rounding import TIMES, listed, loss

LONG_FRACTION = re.compile(r"\d+/\d{7,}")
Reasons = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionFacts:
    """What a page says of a collection.

    Args:
        users: how many took part.
        several: devices are asked different things, each one of them at random.
        ways: how many attributes a report is about.
        attributes: how many there are.
        split: what is divided among the attributes, "users" or "budget".
        budget: the loss that was allowed for a report.
        each: the loss of one more report.
        lifetime: the loss of any number of reports of unchanged values; empty if it grows without end.
        lifelong: the loss of any number of reports of any values, where they share cells; empty without such cells.
        reasons: why the promise holds, for every attribute or alike.
        rejected: how many reports were left out, by reason.
    """

    users: int
    several: bool
    ways: int
    attributes: int
    split: str
    budget: str
    each: str
    lifetime: str
    lifelong: str
    reasons: Reasons
    rejected: tuple[tuple[str, int], ...]


def collected(facts: Facts) -> CollectionFacts:
    """Return what a page says of a local release.

    Raises:
        TypeError: no collection made it.
    """
    collection = facts.mechanism
    types, owners = collection.types, facts.schema.owners
    lasting = max((lifetime for report_type in types if (lifetime := _lifetime(report_type))), default=None)
    return CollectionFacts(
        users=collection.users,
        several=len(types) > 1,
        ways=len({owners[axis] for axis in types[0].axes}),
        attributes=len(facts.schema.attributes),
        split=collection.split,
        budget=loss(facts.budget),
        each=loss(facts.claim.proven or facts.claim.published),
        lifetime="" if lasting is None else loss(PureDP(epsilon=lasting)),
        lifelong=_lifelong(types),
        reasons=_by_attribute(collection, facts.schema),
        rejected=tuple(sorted(facts.rejected.items())),
    )


def _lifetime(report_type: ReportType) -> Fraction | None:
    """Return the loss of any number of reports of one type, or None if it grows without end."""
    lasting = [oracle.lifetime for oracle in report_type.oracles if longitudinal(oracle)]
    together = composed(lasting) if len(lasting) == len(report_type.oracles) else None
    return None if together is None else together.as_epsilon


def _lifelong(types: Sequence[ReportType]) -> str:
    """Return the loss of all reports of a device whatever its values, the largest of the types', if all have one."""
    sums = []
    for report_type in types:
        epsilons = [oracle.lifelong.epsilon for oracle in report_type.oracles if oracle.lifelong is not None]
        if len(epsilons) < len(report_type.oracles):
            return ""
        sums.append(sum(epsilons))
    return loss(PureDP(epsilon=max(sums)))


def _by_attribute(collection: Collection, schema: Schema) -> Reasons:
    """Return for every attribute why its oracle keeps the promise."""
    names, owners = schema.captions, schema.owners
    parts = (part for report_type in collection.types for part in report_type.parts)
    about = ((dict.fromkeys(owners[axis] for axis in part.axes), part.oracle) for part in parts)
    return reasons((TIMES.join(names[owner] for owner in places), oracle) for places, oracle in about)


def reasons(about: Iterable[tuple[str, Any]]) -> Reasons:
    """Return why promises hold, each reason once, with probabilities that can be read.

    Args:
        about: what is asked, as a name, and the oracle that answers.
    """
    by_reason: dict[str, list[str]] = {}
    for name, oracle in about:
        by_reason.setdefault(LONG_FRACTION.sub(_decimal, oracle.claim.basis), []).append(name)
    return tuple((listed(names), reason) for reason, names in by_reason.items())


def _decimal(fraction: re.Match[str]) -> str:
    """Return a fraction to six places; one just below 1 by what is missing."""
    rest = 1 - Fraction(fraction[0])
    return f"1 - {float(rest):.2g}" if 0 < rest < Fraction(1, 10**5) else f"{float(1 - rest):.6f}"
