"""A joint table that does not fit the noise: the path from independence to the greatest likelihood, left early.

start (the product of the one-way tables) -> accelerated EM -> stop a stated shortfall below the greatest likelihood.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.joint.information import EMPTY
from dpress.inference.joint.likelihood import Fold, Split
from dpress.inference.joint.mixture import Fit, Progress, checked, iterates, maximise, users

SHORTFALL = 0.25  # of log-likelihood, for every cell in which the greatest likelihood lies
UNIFORM = 0.01  # of the start: leaves every cell open


@dataclass(frozen=True, slots=True, kw_only=True)
class RegularisedTable:
    """The table where the path was left, and the one at its end.

    Args:
        fit: to be published; `fit.reason` says why it is where it is.
        maximum: the greatest likelihood, which fits the noise too.
        support: the number of cells in which it lies.
    """

    fit: Fit
    maximum: Fit
    support: int


def independent(tables: Sequence[Array]) -> Array:
    """Return the product of one-way tables, negative estimates raised (simplex projection), flat and row-major.

    >>> independent([np.array([30.0, 10.0]), np.array([20.0, 21.0, -1.0])]).round(3).tolist()
    [0.366, 0.384, 0.0, 0.122, 0.128, 0.0]
    """
    out = np.ones(1)
    for table in tables:
        out = np.multiply.outer(out, _projected(np.asarray(table, dtype=np.float64))).ravel()
    return out


def regularised(
    fold: Fold,
    split: Split,
    product: Array,
    *,
    gap: float = 1e-4,
    passes: int = 1000,
    shortfall: float = SHORTFALL,
    progress: Progress | None = None,
) -> RegularisedTable:
    """Return the first table of the path whose log-likelihood is within `shortfall` a cell of the greatest.

    The maximum fits the noise: with S cells in its support the truth falls short of it by something like S / 2 (half a
    chi-square with as many degrees of freedom; a heuristic, as the support was itself found), so that a table much less
    short follows the noise. The path starts at independence and passes the tables in between. S / 4 was chosen from
    S / 8, S / 4, S / 2 and S because it came nearest to the truth on Adult and NLTCS (bench/mixture.py), at several
    levels of noise: a rule of experience with two data sets, not a theorem. At run time only reports are looked at, so
    that it costs no privacy.
    Not always nearer: where the true table lies in a handful of cells, as the maximum does, the maximum is the better
    estimate; both are returned.
    The path is walked twice: 2 times the passes of `maximise`, at most.

    Args:
        fold: over the reports.
        split: of the attributes.
        product: of the one-way tables, see `independent`; the path starts at it with UNIFORM mixed in.
        gap: of the maximum.
        passes: the most for each walk.
        shortfall: of log-likelihood for every cell of the maximum's support.
        progress: called as by `maximise`.
    """
    start = (1 - UNIFORM) * checked(product, split.cells) + UNIFORM / split.cells
    maximum = maximise(fold, split, start, gap=gap, passes=passes, progress=progress)
    support, reports = int((maximum.table > EMPTY).sum()), users(fold)
    wanted = maximum.log_likelihood - shortfall * support / reports
    stopped = next(fit for fit in iterates(fold, split, start) if fit.log_likelihood >= wanted or fit.passes >= passes)
    short = (maximum.log_likelihood - stopped.log_likelihood) * reports
    reason = (
        f"stopped early on purpose, from independence after {stopped.passes} passes: the log-likelihood is {short:.1f} "
        f"below the greatest, which lies in {support:,} cells and follows the noise; at most {shortfall * support:.1f} "
        "was aimed at"
    )
    if stopped.log_likelihood < wanted:
        reason = f"stopped after {stopped.passes} passes, before the shortfall aimed at was reached"
    return RegularisedTable(fit=replace(stopped, reason=reason), maximum=maximum, support=support)


def _projected(table: Array) -> Array:
    """Return the nearest shares to a table scaled to add up to 1."""
    total = table.sum()
    shares = table / total if total > 0 else np.full(table.size, 1 / table.size)
    ordered = np.sort(shares)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, table.size + 1)
    last = np.flatnonzero(ordered > excess)[-1]
    return np.asarray(np.maximum(shares - excess[last], 0))
