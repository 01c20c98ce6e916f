"""The audit of one method: tiny instances under every relation, exactly where that can be, sampled on request.

card, loss, samples -> instances -> what stands beside the method -> checks -> Audit.
"""

from collections.abc import Iterator
from typing import Any

from dpress.audit import reports
from dpress.audit.beside import beside
from dpress.audit.reports import SAMPLES
from dpress.audit.verdict import Audit, Check
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.rng import Generator, or_secure
from dpress.core.methods.mechanism import Card

ROWS = (1, 3)


def audit(card: Card, loss: Loss, *, samples: int | None = None, rng: Generator | None = None) -> Audit:
    """Check what a method claims when it is made for this loss.

    Args:
        card: the method.
        loss: epsilon, or rho, or epsilon and delta.
        samples: outputs to draw from each neighbour, at least 1000; None for exact checks only, where there are any.
        rng: a secure generator unless given; audits look at the code as it runs.

    Raises:
        NotSupported: the method has no such loss, or nothing of it can be checked.
    """
    example: Any = card.example(loss, Unit())
    audited = beside(example)
    if loss.delta and not getattr(audited, "WITH_DELTA", False):
        raise NotSupported(f"{card.name} is audited under epsilon or rho")
    checks = _local if card.model == "local" else _central
    verdicts = tuple(checks(card, example, audited, loss, samples, rng=or_secure(rng)))
    return Audit(method=card.name, model=card.model, checks=verdicts)


def _local(
    card: Card, example: Any, audited: Any, loss: Loss, samples: int | None, *, rng: Generator
) -> Iterator[Check]:
    """Yield the checks of what makes the reports."""
    if audited is None and not hasattr(example, "types"):
        yield from reports.of_oracle(card, example, loss, samples, rng=rng)
        return
    for name, oracle in (reports.sent if audited is None else audited.sent)(example):
        yield from reports.of_reports(name, oracle, samples, rng=rng)


def _central(
    card: Card, example: Any, audited: Any, loss: Loss, samples: int | None, *, rng: Generator
) -> Iterator[Check]:
    """Yield the checks of a curator's method under every relation."""
    if audited is None and card.synthesizer is not None and example.claim.proven is None:
        raise NotSupported(
            f"nothing of {card.name} is proven, so that there is nothing to check: {example.claim.basis}"
        )
    if audited is None:
        raise NotSupported(f"there is no audit of {card.name} yet")
    instance = getattr(audited, "instance", _instance)
    few = getattr(audited, "few", instance)
    for unit in units():
        yield from audited.exact(instance(card, loss, unit))
    for relation in Relation if samples is not None else ():
        yield from audited.sampled(few(card, loss, Unit(relation=relation)), samples or SAMPLES, rng=rng)


def _instance(card: Card, loss: Loss, unit: Unit) -> Any:
    return card.example(loss, unit)


def units() -> list[Unit]:
    """Return units of one row and of three, under every relation."""
    return [Unit(relation=relation, column=None if n == 1 else "person", rows=n) for relation in Relation for n in ROWS]
