"""Exact audits in rational arithmetic: channels compared entry by entry, and what an exact check finds.

Nothing is taken from a method's own arithmetic of sensitivities. What an audit needs of a single method stands beside
it, in the file of its name that ends in `_audit`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.convert import log_up
from dpress.core.basics.rng import Generator
from dpress.core.reports.oracle import Channel
from dpress.noise.expansion import at_most_exponential

SEEDS = 64
"""How many seeds are drawn where a channel can be written down given a seed only."""
REPORTS = 1 << 12
"""Of all seeds together: with many reports a seed, fewer seeds are enough, and each takes long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactLoss:
    """The largest loss of an exact check, and whether it is at most the bound; `loss` is None for infinity."""

    loss: Fraction | None
    kept: bool
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactDelta:
    """The largest delta of an exact check, and whether it is at most the claimed one."""

    delta: Fraction
    kept: bool
    remark: str


def at_most(ratio: Fraction | None, epsilon: Fraction) -> bool:
    """Return whether a likelihood ratio (None for infinity) is at most e^epsilon, decided exactly.

    >>> at_most(Fraction(2718281828, 10**9), Fraction(1)), at_most(Fraction(2718281829, 10**9), Fraction(1))
    (True, False)
    """
    return ratio is not None and at_most_exponential(ratio, epsilon)


def channel_loss(channels: Sequence[Channel], epsilon: Fraction) -> ExactLoss:
    """Return the largest log ratio of any report's probabilities under two values, over all these channels."""
    rows = [row for channel in channels for row in channel.probabilities]
    if any(min(row) < 0 or sum(row) != 1 for row in rows):
        return ExactLoss(loss=None, kept=False, remark="a row of the channel does not add up to 1")
    if any(len(np.unique(channel.payloads, axis=0)) != len(channel.payloads) for channel in channels):
        return ExactLoss(loss=None, kept=False, remark="a report stands in the channel twice")
    worst: Fraction | None = Fraction(1)
    for column in {frozenset(column) for channel in channels for column in zip(*channel.probabilities, strict=True)}:
        low, high = min(column), max(column)
        if high > 0 and worst is not None:
            worst = max(worst, high / low) if low else None
    return ExactLoss(loss=None if worst is None else _log(worst), kept=at_most(worst, epsilon))


def _log(ratio: Fraction) -> Fraction:
    return log_up(ratio) if ratio > 1 else Fraction(0)


def channels(oracle: Any, *, rng: Generator) -> list[Channel]:
    """Return the exact channel, or the channels given each of a few seeds; none if they cannot be written down."""
    try:
        return [oracle.channel()]
    except NotSupported:
        if not hasattr(oracle, "given_seed"):
            return []
    drawn: list[Channel] = []
    try:
        while len(drawn) < SEEDS and sum(len(channel.payloads) for channel in drawn) < REPORTS:
            drawn.append(oracle.given_seed(rng=rng))
    except NotSupported:
        return []
    return drawn


def permanent(oracle: Any) -> Any:
    """Return the oracle whose report is its permanent response as it is: what all reports of one value can reveal."""
    if (given_seed := getattr(oracle, "permanent_given_seed", None)) is not None:
        return SimpleNamespace(channel=oracle.channel, given_seed=given_seed)
    return replace(getattr(oracle, "oracle", oracle), p=Fraction(0), q=Fraction(1))


def promised(claimed: Any) -> Fraction:
    """Return the number of a loss: epsilon, rho or mu^2."""
    number: Fraction = claimed.amount
    return number
