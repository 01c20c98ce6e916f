"""Exact audits: channels, matrices and choices on tiny instances, decided in rational arithmetic.

Nothing is taken from a method's own arithmetic of sensitivities: a channel is compared entry by entry, a map is written
out as a dense matrix, and the noise counts with the parameters that its sampler uses.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.convert import log_up
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import LinearMap
from dpress.core.reports.oracle import Channel
from dpress.mechanisms.choice.exponential import Exponential
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.noise.distribution import Noise
from dpress.noise.expansion import PRECISION, at_most_exponential, exponential_floor
from dpress.noise.laplace import DiscreteLaplace

Integers = npt.NDArray[np.int64]

SEEDS = 64
"""How many seeds are drawn where a channel can be written down given a seed only."""
REPORTS = 1 << 12
"""Of all seeds together: with many reports a seed, fewer seeds are enough, and each takes long."""
MANY = 1 << 24
"""Rows in one cell from which the columns of a map that rounds are read off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactLoss:
    """The largest loss of an exact check, and whether it is at most the bound; `loss` is None for infinity."""

    loss: Fraction | None
    kept: bool
    remark: str = ""


def at_most(ratio: Fraction | None, epsilon: Fraction) -> bool:
    """Return whether a likelihood ratio (None for infinity) is at most e^epsilon, decided exactly.

    >>> at_most(Fraction(2718281828, 10**9), Fraction(1)), at_most(Fraction(2718281829, 10**9), Fraction(1))
    (True, False)
    """
    return ratio is not None and at_most_exponential(ratio, epsilon)


def channel_loss(channels: Sequence[Channel], epsilon: Fraction) -> ExactLoss:
    """Return the largest log ratio of any report's probabilities under two values, over all these channels."""
    rows = [row for one in channels for row in one.probabilities]
    if any(min(row) < 0 or sum(row) != 1 for row in rows):
        return ExactLoss(loss=None, kept=False, remark="a row of the channel does not add up to 1")
    if any(len(np.unique(one.payloads, axis=0)) != len(one.payloads) for one in channels):
        return ExactLoss(loss=None, kept=False, remark="a report stands in the channel twice")
    worst: Fraction | None = Fraction(1)
    for column in {frozenset(column) for one in channels for column in zip(*one.probabilities, strict=True)}:
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
    found: list[Channel] = []
    try:
        while len(found) < SEEDS and sum(len(one.payloads) for one in found) < REPORTS:
            found.append(oracle.given_seed(rng=rng))
    except NotSupported:
        return []
    return found


def permanent(oracle: Any) -> Any:
    """Return the oracle whose report is its permanent response as it is: what all reports of one value can reveal."""
    if (given_seed := getattr(oracle, "permanent_given_seed", None)) is not None:
        return SimpleNamespace(channel=oracle.channel, given_seed=given_seed)
    return replace(getattr(oracle, "oracle", oracle), p=Fraction(0), q=Fraction(1))


def matrix_loss(mechanism: MatrixMechanism, bound: Fraction) -> ExactLoss:
    """Return the exact loss of the noise for the worst that one unit can do to the answers.

    Laplace noise costs sum |d_i| / scale_i (the log ratio far out), Gaussian sum d_i^2 / (2 sigma2_i). A replaced row
    may also fall out of the table. All rows of a unit in one cell are the worst, by the triangle inequality.
    """
    costs = matrix_costs(mechanism)
    rounds = "an upper bound; the floating-point error of the transform is not part of it"
    remark = "" if linear(mechanism.strategy.map) else rounds
    return ExactLoss(loss=max(costs), kept=max(costs) <= bound, remark=remark)


def matrix_costs(mechanism: MatrixMechanism) -> list[Fraction]:
    """Return the loss of every change that one unit can make, in the order of `changes`."""
    matrix, rows = mechanism.strategy.map, mechanism.unit.rows
    many = None if linear(matrix) else MANY
    moved = changes(matrix, mechanism.unit.relation, many or 1)
    ends = np.cumsum([part.rows for part in mechanism.parts])[:-1]
    parts = list(zip(mechanism.noises, np.split(moved, ends, axis=1), strict=True))
    return [
        sum((_cost(noise, own[place], rows, many) for noise, own in parts), Fraction(0)) for place in range(len(moved))
    ]


def changes(matrix: LinearMap, relation: Relation, many: int = 1) -> Integers:
    """Return what `many` rows that come, or move together, do to the answers; one change a row."""
    columns = np.stack([matrix.apply(many * cell) for cell in np.eye(matrix.cells, dtype=np.int64)])
    if relation is Relation.ADD_REMOVE:
        return columns
    first, second = np.triu_indices(len(columns), 1)
    return np.concatenate([columns, columns[first] - columns[second]])


def linear(matrix: LinearMap) -> bool:
    """Return whether the map of whole numbers is exactly linear: it does not round."""
    table = np.arange(matrix.cells, dtype=np.int64) ** 2 + 3
    cells = np.eye(matrix.cells, dtype=np.int64)
    total = np.sum([count * matrix.apply(cell) for count, cell in zip(table, cells, strict=True)], axis=0)
    return bool(np.array_equal(matrix.apply(table), total))


def _cost(noise: Noise, change: Integers, rows: int, many: int | None) -> Fraction:
    """Return the loss of a change of one part: exactly, or with its rounding bounded where `many` is not None.

    Of a map that rounds, `change` is that of `many` rows. A row's is then known to within 1 / many (half a step for
    each of two columns), and rounding both neighbours' answers moves each difference by at most a step more.
    """
    order = 1 if isinstance(noise, DiscreteLaplace) else 2
    power = sum(abs(int(one)) ** order for one in change)
    norm_power = Fraction(power * rows**order)
    if many is not None:
        slack = (Fraction(rows, many) + 1) * (len(change) if order == 1 else _root_up(Fraction(len(change))))
        norm = Fraction(power, many) if order == 1 else _root_up(Fraction(power, many**2))
        norm_power = (rows * norm + slack) ** order
    return norm_power / noise.scale if isinstance(noise, DiscreteLaplace) else norm_power / (2 * noise.sigma2)


def _root_up(value: Fraction) -> Fraction:
    """Return a rational at or just above the square root."""
    scale = 1 << 64
    return Fraction(math.isqrt(math.ceil(value * scale**2)) + 1, scale)


def choice_loss(mechanism: Exponential, bound: Fraction) -> ExactLoss:
    """Return the largest log ratio of any choice, over lists of three scores and all their neighbours.

    The probabilities are bounded from both sides to 256 bits, so that a ratio just below e^epsilon is recognised.
    The lists hold candidates that are all but never chosen: there the bound is attained in the limit.
    """
    moved = mechanism.sensitivity * mechanism.unit.rows
    rate = mechanism.loss.epsilon / (2 * mechanism.unit_sensitivity)
    far = math.ceil(40 / rate)
    worst = Fraction(1)
    for scores in ([0, 0, 0], [5, 0, 2], [-far, 0, 0], [far, 0, -far]):
        base = np.array(scores, dtype=np.int64)
        before = _bounds(base, rate)
        if not np.allclose(mechanism.probabilities(base), [float(low) for low, _ in before], rtol=1e-9, atol=1e-300):
            return ExactLoss(loss=None, kept=False, remark="the probabilities are not those of the stated weights")
        for change in itertools.product((-moved, 0, moved), repeat=3):
            after = _bounds(base + np.array(change, dtype=np.int64), rate)
            worst = max(worst, *(high / low for (_, high), (low, _) in zip(before, after, strict=True)))
    return ExactLoss(loss=log_up(worst), kept=at_most(worst, bound), remark="lists of three scores")


def _bounds(scores: Integers, rate: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Return rationals just below and above the probability of every choice."""
    exponents = [rate * (int(scores.max()) - int(score)) for score in scores]
    bits = PRECISION + 2 * math.ceil(max(exponents))
    floors = [exponential_floor(exponent, bits) for exponent in exponents]
    low, high = sum(floors), sum(floors) + len(floors)
    return [(Fraction(floor, high), Fraction(floor + 1, low)) for floor in floors]


def promised(claimed: Any) -> Fraction:
    """Return the number of a loss: epsilon or rho."""
    number: Fraction = claimed.amount
    return number
