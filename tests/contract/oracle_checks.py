"""What every frequency oracle must keep, seen from outside: its channel, its reports and its estimates.

Nothing here knows a method. An oracle whose channel is too large offers `given_seed(rng=...)`: the channel given one
seed that is drawn without the value.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import stats

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.methods.mechanism import Card
from dpress.core.reports.oracle import Channel

FALSE_ALARM = 1e-6
TIGHT = Decimal("1e-9")
SIZES = (1, 2, 5)
EPSILONS = ("0.5", "3")
TOO_LONG = ("rappor",)  # reports of 128 bits: its own tests enumerate shorter ones and check the claim
BY_DESIGN = ("pcep",)  # the variance depends on the value through a public design, and the mean is stated
SEEDS = 30
EXACT = Context(prec=80)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One oracle over a few values under one epsilon."""

    card: Card
    size: int
    epsilon: str

    @property
    def loss(self) -> PureDP:
        return PureDP(epsilon=self.epsilon)

    def make(self, size: int | None = None, loss: PureDP | None = None) -> Any:
        assert self.card.oracle is not None
        oracle = self.card.oracle(size or self.size, loss or self.loss)
        assert oracle is not None
        return oracle

    def __str__(self) -> str:
        return f"{self.card.name}-{self.size}-{self.epsilon}"


def cards() -> list[Card]:
    return [card for card in catalog.cards().values() if card.family == "oracle" and card.oracle is not None]


def cases() -> list[Case]:
    settings = itertools.product(cards(), SIZES, EPSILONS)
    return [Case(card=card, size=size, epsilon=epsilon) for card, size, epsilon in settings]


def channel(oracle: Any) -> Channel | None:
    try:
        return oracle.channel()
    except NotSupported:
        return None


def channels(oracle: Any) -> Iterator[Channel]:
    """The exact channel, or those given a few seeds."""
    whole = channel(oracle)
    if whole is not None:
        yield whole
        return
    generator = rng.seeded(5)
    for _ in range(SEEDS):
        yield oracle.given_seed(rng=generator)


def rows_add_up(one: Channel) -> bool:
    """Probabilities are exact, none is negative, every row adds up to one, and no report stands there twice."""
    rows = one.probabilities
    exact = all(isinstance(entry, Fraction) and entry >= 0 for row in rows for entry in set(row))
    return exact and all(sum(row) == 1 for row in rows) and len(np.unique(one.payloads, axis=0)) == len(one.payloads)


def loss(one: Channel) -> Decimal:
    """The largest log ratio of any report's probabilities under two values, to some 75 digits."""
    worst = Decimal(0)
    for column in {tuple(sorted(set(column))) for column in zip(*one.probabilities, strict=True)}:
        low, high = column[0], column[-1]
        if low == high:
            continue
        if low == 0:
            return Decimal("Infinity")
        ratio = high / low
        worst = max(worst, EXACT.subtract(EXACT.ln(Decimal(ratio.numerator)), EXACT.ln(Decimal(ratio.denominator))))
    return worst


def keeps_promise(found: list[Channel], epsilon: str) -> bool:
    return max(map(loss, found)) <= Decimal(epsilon)


def spends_all(found: list[Channel], epsilon: str) -> bool:
    return max(map(loss, found)) >= Decimal(epsilon) - TIGHT


def single_estimates(oracle: Any, payloads: np.ndarray) -> np.ndarray:
    """What one user's report adds to every count, shape (reports, k)."""
    return np.stack([oracle.estimate(oracle.tally(payloads[[row]]), 1).answers for row in range(len(payloads))])


def moments(oracle: Any, one: Channel) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of every count for one user of each value, by enumerating the reports, shape (k, k)."""
    estimates = single_estimates(oracle, one.payloads)
    rows = np.array([[float(entry) for entry in row] for row in one.probabilities])
    mean = rows @ estimates
    return mean, np.stack([row @ (estimates - own) ** 2 for row, own in zip(rows, mean, strict=True)])


def estimates_are_right(oracle: Any, one: Channel) -> bool:
    """One user of value v counts as 1 at v and 0 elsewhere on average, with exactly the variances it states."""
    mean, variance = moments(oracle, one)
    own = np.eye(oracle.size)
    stated = np.where(own == 1, oracle.variance(1, 1.0), oracle.variance(1, 0.0))
    scale = max(1.0, float(np.abs(stated).max()))
    if type(oracle).__name__.lower() in BY_DESIGN and oracle.size > 1:
        variance, stated = (np.array([np.diag(one).mean(), one[own == 0].mean()]) for one in (variance, stated))
    return bool(np.allclose(mean, own, atol=1e-9 * scale) and np.allclose(variance, stated, atol=1e-9 * scale))


def reports_fit(oracle: Any, one: Channel, value: int, users: int, generator: rng.Generator) -> bool:
    """Reports of one value have the distribution of its row: chi-square, and nothing outside the row's support."""
    reports = oracle.perturb(np.full(users, value, dtype=np.int32), rng=generator)
    index = {bytes(row): number for number, row in enumerate(one.payloads)}
    places = [index.get(bytes(row), -1) for row in reports]
    if min(places) < 0:
        return False
    seen = np.bincount(places, minlength=len(index))
    expected = users * np.array([float(entry) for entry in one.probabilities[value]])
    if seen[expected == 0].any():
        return False
    return fits(seen[expected > 0], expected[expected > 0])


def fits(seen: np.ndarray, expected: np.ndarray) -> bool:
    """Chi-square, cells in ascending order pooled until they expect at least 10."""
    order = np.argsort(expected)
    pools = np.minimum(np.cumsum(expected[order]) // 10, 1e9)
    starts = np.flatnonzero(np.diff(pools, prepend=-1))
    got, want = (np.add.reduceat(values[order].astype(float), starts) for values in (seen, expected))
    if len(want) > 1 and want[-1] < 5:
        got, want = (np.append(values[:-2], values[-2:].sum()) for values in (got, want))
    if len(want) == 1:
        return bool(got[0] == np.rint(want[0]))
    statistic = float(((got - want) ** 2 / want).sum())
    return bool(stats.chi2.sf(statistic, len(want) - 1) >= FALSE_ALARM)


def sampled_estimates_fit(oracle: Any, stated: Any, value: int, users: int, generator: rng.Generator) -> bool:
    """For channels too large to enumerate: mean and spread of single users' estimates against those `stated` gives.

    Both are sums of many bounded terms, compared with their normal limit at a chance of 1e-6 over all values.
    """
    reports = oracle.perturb(np.full(users, value, dtype=np.int32), rng=generator)
    bound = stats.norm.isf(FALSE_ALARM / (4 * oracle.size))
    total = stated.estimate(oracle.tally(reports), users).answers
    own = np.arange(oracle.size) == value
    spread = np.array([stated.variance(users, float(mine)) for mine in own])
    if (np.abs(total - users * own) > bound * np.sqrt(spread)).any():
        return False
    some = single_estimates(stated, reports[:1000])
    squares = (some - own) ** 2
    error = squares.std(axis=0) / np.sqrt(len(some)) + 1e-12
    return bool((np.abs(squares.mean(axis=0) - spread / users) <= bound * error + 1e-9 * spread / users).all())
