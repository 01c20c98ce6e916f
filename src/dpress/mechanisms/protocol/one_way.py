"""One table for every attribute, from report types that cover every attribute once.

tallies -> counts of every attribute, each from the users who were asked about it -> Measurement.
"""

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.linear import Array
from dpress.core.measurement import Measurement
from dpress.core.oracle import Correlated, Oracle, Tally
from dpress.inference.separate_tables import SeparateTables, stacked
from dpress.mechanisms.protocol.report_type import ReportType, likely_shares, per_user, rest


@dataclass(frozen=True, slots=True, kw_only=True)
class OneWay:
    """The one-way tables.

    Error: the oracle's variance, and that of drawing who is asked; see `ReportType.estimates`.
    Paper: local.

    Args:
        shape: the number of cells of every attribute.
        types: that cover every attribute once, one oracle for each.
    """

    shape: tuple[int, ...]
    types: tuple[ReportType, ...]

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the estimated tables of all attributes.

        Raises:
            ValueError: a report type has no answer.
        """
        if empty := self._unanswered(tallies):
            raise ValueError(f"no report is about attributes {list(empty)}; each needs at least one")
        everybody = sum(int(tally[-1]) for tally in tallies)
        by_axis: dict[int, tuple[Array, Array]] = {}
        for own, tally in zip(self.types, tallies, strict=True):
            by_axis |= dict(zip(own.axes, own.estimates(tally, everybody), strict=True))
        counts, variances = zip(*(by_axis[axis] for axis in range(len(self.shape))), strict=True)
        return stacked(self.shape, self.tables, counts, variances)

    def decoder(self, users: int) -> SeparateTables:
        """Return how queries about single attributes are answered."""
        by_axis = {part.axes[0]: part.oracle for own in self.types for part in own.parts}
        inflation = tuple(_inflation(by_axis[axis]) for axis in range(len(self.shape)))  # type: ignore[arg-type]  # oracles are frozen
        return SeparateTables(self.shape, self.tables, users, inflation)

    def query_variances(self, tallies: Sequence[Tally]) -> Callable[[Sequence[Array]], float]:
        """Return what gives the variance of a weighted sum of one attribute's cells, in counts squared.

        Formula: (N / N_i)^2 (c sum w^2 v + sum over pairs w w' Cov) + N^2 (N - N_i) / (N - 1) / N_i (sum f w^2 -
        (sum f w)^2 / sum f), of N users N_i asked: the oracle's noise, c its `inflation` and Cov its `covariances`
        where its counts correlate, and that of drawing who is asked, of whom each has one value, f the likely shares.
        It is 0 for everybody's count.
        """
        everybody = sum(int(tally[-1]) for tally in tallies)
        parts = dict[int, tuple[Oracle, Measurement, int]]()
        for own, tally in zip(self.types, tallies, strict=True):
            found = zip(own.axes, own.oracles, own.measured(tally), strict=True)
            parts |= {axis: (oracle, measured, int(tally[-1])) for axis, oracle, measured in found}

        def variance(weights: Sequence[Array]) -> float:
            axes = [axis for axis, own in enumerate(weights) if not np.all(own == 1)]
            return math.fsum(sum_variance(*parts[axis], weights[axis], everybody) for axis in axes)

        return variance

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """One for every attribute."""
        return tuple((axis,) for axis in range(len(self.shape)))

    @property
    def approximate(self) -> bool:
        """Whether an oracle cannot tell all values apart, so that errors know nothing of what was selected."""
        return not all(getattr(oracle, "identified", True) for own in self.types for oracle in own.oracles)

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell, averaged over all cells, were all values equally frequent."""
        asked = users / len(self.types)
        alike = Counter((part.oracle, self.shape[part.axes[0]]) for own in self.types for part in own.parts)
        total = 0.0
        for (oracle, size), number in alike.items():
            share = 1 / size
            drawing = users**2 * share * (1 - share) * rest(users, asked) / asked
            total += number * size * (per_user(oracle, share) * asked * (users / asked) ** 2 + drawing)
        return total / sum(self.shape)

    def _unanswered(self, tallies: Sequence[Tally]) -> tuple[int, ...]:
        """Return the attributes that nobody reported about."""
        pairs = zip(self.types, tallies, strict=True)
        return tuple(sorted({axis for own, tally in pairs if not tally[-1] for axis in own.axes}))


def sum_variance(oracle: Oracle, found: Measurement, users: int, weights: Array, everybody: int) -> float:
    """Return the variance of a weighted sum of an oracle's counts; of `everybody` so many users were asked."""
    factor = _inflation(oracle)  # type: ignore[arg-type]  # oracles are frozen
    noise = factor * float(weights**2 @ np.broadcast_to(found.variance, weights.shape))
    if isinstance(oracle, Correlated):
        noise += oracle.covariances(np.clip(found.answers, 0, users), users, weights)
    share = likely_shares(found.answers, users)
    spread = float(share @ weights**2) - float(share @ weights) ** 2 / float(share.sum())
    drawn = everybody**2 * rest(everybody, users) / users * max(0.0, spread)
    return max(0.0, noise) * (everybody / users) ** 2 + drawn


@functools.lru_cache(maxsize=64)
def _inflation(oracle: Oracle) -> float:
    """Return by how much sums of an oracle's counts may vary more than the sum of their variances; most say nothing."""
    return float(np.float64(getattr(oracle, "inflation", 1.0)))
