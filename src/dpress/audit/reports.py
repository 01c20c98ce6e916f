"""The audit of what devices send: the channel of every oracle, and its reports as they are made."""

from collections.abc import Iterator
from typing import Any

from dpress.audit import exact, outcomes, sampled
from dpress.audit.checks import claimed_of, exact_check, sampled_check
from dpress.audit.verdict import Check, Kind
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Card
from dpress.core.reports.oracle import Oracle

SIZES = (2, 3, 4, 5)
SAMPLES = 100_000
"""Drawn from each neighbour where nothing can be checked exactly and no number was given."""
VALUES = "any two values"


def sent(example: Any) -> list[tuple[str, Oracle]]:
    """Return by name what makes the reports of a collection: the oracle of every report type."""
    oracles = [oracle for report in example.types for oracle in report.oracles]
    return [(f"report type {place}", oracle) for place, oracle in enumerate(oracles, start=1)]


def of_oracle(card: Card, example: Oracle, loss: Loss, samples: int | None, *, rng: Generator) -> Iterator[Check]:
    """Yield the checks of an oracle: its example and a few sizes exactly, its permanent response, its reports."""
    checked = 0
    for name, oracle in _sizes(card, example, loss):
        for check in channel_checks(name, oracle, rng=rng):
            checked += 1
            yield check
    if samples is not None or not checked:
        yield sampled_oracle("example", example, samples or SAMPLES, rng=rng)


def of_reports(name: str, oracle: Any, samples: int | None, *, rng: Generator) -> Iterator[Check]:
    """Yield the checks of the reports of a collection."""
    yield from channel_checks(name, oracle, rng=rng)
    if samples is not None:
        yield sampled_oracle(name, oracle, samples, rng=rng)


def _sizes(card: Card, example: Oracle, loss: Loss) -> Iterator[tuple[str, Oracle]]:
    yield f"example, k = {example.size}", example
    if card.oracle is not None:
        for size in SIZES:
            if size != example.size and (oracle := card.oracle(size, loss)) is not None:
                yield f"k = {size}", oracle


def channel_checks(name: str, oracle: Any, *, rng: Generator) -> Iterator[Check]:
    """Yield the exact checks of one oracle; none if its channel cannot be written down."""
    claimed = claimed_of(oracle)
    if channels := exact.channels(oracle, rng=rng):
        whole = len(channels) == 1
        kind: Kind = "exact channel" if whole else "channel by seed"
        remark = "" if whole else f"given each of {len(channels)} seeds, drawn without the value"
        if getattr(oracle, "size", None) == 1:
            remark = "one value: there is nothing to tell apart, and nothing is checked"
        yield exact_check(kind, name, VALUES, claimed, exact.channel_loss(channels, claimed.epsilon), remark=remark)
        if oracle.lasting:
            ever = exact.channels(exact.permanent(oracle), rng=rng)
            lifetime: PureDP = oracle.lifetime
            remark = "the permanent response is what all reports of one value can reveal"
            yield exact_check(
                kind,
                f"{name}, permanent",
                VALUES,
                lifetime,
                exact.channel_loss(ever, lifetime.epsilon),
                remark=remark,
            )


def sampled_oracle(name: str, oracle: Oracle, samples: int, *, rng: Generator) -> Check:
    """Return the check of an oracle's reports."""
    alpha = sampled.ALPHA
    low = sampled.epsilon_of_outcomes(outcomes.of_oracle(oracle, rng=rng), samples, alpha=alpha)
    return sampled_check(name, VALUES, claimed_of(oracle), low, samples=samples, alpha=alpha)
