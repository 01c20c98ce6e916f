"""The variance of any weighted sum of an oracle's counts, as a quadratic form of few numbers for each count.

oracle, its counts -> squares, rows, what is between the rows -> w -> variance; a page has the same numbers.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.reports.oracle import Oracle
from dpress.mechanisms.protocol.report_type import likely_shares, per_user, rest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SumForm:
    """Formula: sum of squares_i w_i^2 + z between z, z = rows w, and what `beyond` says of w; at least 0.

    Args:
        squares: of every count, shape (k,).
        rows: shape (r, k).
        between: symmetric, shape (r, r).
        beyond: of w, where an oracle's covariances have no such form.
    """

    squares: Array
    rows: Array
    between: Array
    beyond: Callable[[Array], float] | None = None

    def variance(self, weights: Array) -> float:
        """Return the variance of a weighted sum, in counts squared."""
        sums = self.rows @ weights
        variance = float(self.squares @ weights**2 + sums @ self.between @ sums)
        return max(0.0, variance if self.beyond is None else variance + self.beyond(weights))


def sum_form(oracle: Oracle, measured: Measurement, users: int, everybody: int, *, drawn: bool = True) -> SumForm:
    """Return the form of sums of an oracle's counts, as counts of everybody.

    Formula: (N / n)^2 (c sum w^2 v + sum over pairs w w' Cov) + N^2 (N - n) / (N - 1) / n (sum f w^2 - (sum f w)^2 /
    sum f), n users of N asked: the oracle's noise, c its `inflation` and Cov its `covariances` where its counts
    correlate, and that of drawing who is asked, of whom each has one value, f the likely shares.

    Args:
        oracle: that was asked by.
        measured: its counts of those who were asked, with their variances.
        users: n.
        everybody: N.
        drawn: whether the drawing of who is asked is in it.
    """
    noise = inflation(oracle) * np.broadcast_to(measured.variance, measured.answers.shape)  # type: ignore[arg-type]  # oracles are frozen
    held, shares = np.clip(measured.answers, 0, users), likely_shares(measured.answers, users)
    drawing = everybody**2 * rest(everybody, users) / users if drawn else 0.0
    return _form(oracle, (noise, held, users), (everybody / users) ** 2, drawing * shares)


def form_of_shares(oracle: Oracle, held: Array, users: int, everybody: int) -> SumForm:
    """Return that form where so many of those who were asked hold each value, exact but for `inflation`.

    Args:
        oracle: that was asked by.
        held: how many hold each value, which adds up to n.
        users: n.
        everybody: N.
    """
    none, slope = per_user(oracle, 0.0), per_user(oracle, 1.0) - per_user(oracle, 0.0)
    drawing = everybody**2 * rest(everybody, users) / users**2
    return _form(oracle, (users * none + held * slope, held, users), (everybody / users) ** 2, drawing * held)


def _form(oracle: Oracle, counted: tuple[Array, Array, int], scale: float, drawn: Array) -> SumForm:
    """Return the form of an oracle's noise, a number for each value, and of drawing, whose part is by shares."""
    (noise, held, users), total = counted, float(drawn.sum())
    squares, beyond = scale * noise + drawn, None
    rows, between = drawn[None], np.array([[-1 / total if total else 0.0]])
    covariances = oracle.covariances(held, users)
    if (form := oracle.pair_form(held, users)) is not None:
        more, pair_rows, between_pairs = form
        squares = squares + scale * more
        rows, between = np.concatenate([rows, pair_rows]), _beside(between, scale * between_pairs)
    elif covariances is not None:
        summed = covariances

        def beyond(weights: Array) -> float:
            return scale * summed(weights)

    return SumForm(squares=np.asarray(squares), rows=rows, between=between, beyond=beyond)


def _beside(first: Array, second: Array) -> Array:
    """Return two forms of different rows as one."""
    form = np.zeros((len(first) + len(second),) * 2)
    form[: len(first), : len(first)] = first
    form[len(first) :, len(first) :] = second
    return form


@functools.lru_cache(maxsize=64)
def inflation(oracle: Oracle) -> float:
    """Return by how much sums of an oracle's counts may vary more than the sum of their variances; most say nothing."""
    return float(oracle.inflation)
