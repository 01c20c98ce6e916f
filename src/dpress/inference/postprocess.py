"""Adjustments of estimated tables that readers ask for by name: each is biased and says in which direction.

They see noisy estimates only, so they cost no privacy. The error of an adjusted count is no longer known exactly: the
standard error and the interval belong to the unbiased estimate. Several are applied in the order in which they are
named, each to the result of the one before; every table by itself.

Three of them are for local collections only: `norm_sub`, `simplex` and `base_cut` rest on the public number of users.

Data flow: estimated table, names -> adjusted table.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpress.core.basics.extras import scipy
from dpress.core.maps.linear import Array
from dpress.inference.agreeing_tables import AgreeingTables

QueryVariance = Callable[[list[Array]], float]

CONSISTENT = "consistent"
LEAST = 1e-12  # variance by which tables without noise are weighed
ALPHA = 0.05
"""Of `base_cut`: the chance that any empty cell of a table passes, by the union bound."""


class Adjustment(NamedTuple):
    """A named adjustment: its function, and what is known of its bias.

    Args:
        function: from an estimated table, shape (cells,), in counts, to the adjusted one; or of all tables together.
        bias: one sentence: that it is biased, and in which direction.
        needs: the keywords of `adjust` that the function takes, too.
        local: it is for local collections only.
        scipy: it needs SciPy, which a base install leaves out.
        answers: queries are answered by its counts, with the unbiased answer beside; by others they are not.
        together: it adjusts all tables of a release at once, after all others.
    """

    function: Callable[..., Any]
    bias: str
    needs: tuple[str, ...] = ()
    local: bool = False
    scipy: bool = False
    answers: bool = False
    together: bool = False


def nonnegative(counts: Array) -> Array:
    """Return the nearest table, in squared distance, of counts >= 0 with the same total; zeros if that is negative.

    Biased: small counts are pushed up and large ones down on average; where the total is negative, it is pushed up.

    Formula: max(count - t, 0) with the one t that keeps the total (projection on the scaled simplex), O(n log n).

    Error: not known exactly. Projection on a convex set, so where the estimated total is the true one, never farther
    from the truth in squared distance than the estimate was.

    Order: named before `integer`, the result is both whole and >= 0; named after it, it need not be whole.

    Args:
        counts: shape (cells,).

    >>> nonnegative(np.array([7.0, 2.0, -3.0]))
    array([5.5, 0.5, 0. ])
    """
    total = counts.sum()
    return counts.astype(float) if total > 0 and counts.min() >= 0 else _projected(counts, total)


def norm_sub(counts: Array, *, users: int) -> Array:
    """Return the nearest table, in squared distance, of counts >= 0 that add up to the public number of users.

    Biased: small counts are pushed up and large ones down on average; the total is the true one.

    Formula: max(count + c, 0) with the one c for which they add up to `users`. That is the projection on the simplex,
    so that `norm_sub` (Wang et al. 2020, who prove it) and `simplex` (Duchi et al. 2008) are two names of one function.
    Loops that clip at zero first, and then move only the cells above it, reach the same table where the counts above
    zero add up to `users` or more; where they add up to less, only the projection is the nearest table.

    Error: not known exactly. Projection on a convex set that holds the truth: never farther from it in squared distance
    than the estimate was.

    Order: named before `integer`, the result is both whole and >= 0; named after `base_cut`, cells that were cut may
    come back.

    Args:
        counts: shape (cells,).
        users: how many people took part, each in exactly one cell.

    >>> norm_sub(np.array([7.0, 2.0, -3.0]), users=7)
    array([6., 1., 0.])
    >>> norm_sub(np.array([5.0, -1.0]), users=10)
    array([8., 2.])
    """
    return _projected(counts, float(users))


def _projected(counts: Array, total: float) -> Array:
    """Return max(counts - t, 0) with the one t for which it adds up to `total`; zeros if that is <= 0."""
    if total <= 0:
        return np.zeros(counts.shape)
    falling: Array = np.sort(counts)[::-1]
    excess = np.cumsum(falling) - total
    ranks = np.arange(1, counts.size + 1)
    kept = np.flatnonzero(falling * ranks >= excess)[-1]
    projected: Array = np.maximum(counts - excess[kept] / ranks[kept], 0.0)
    return projected


def base_cut(counts: Array, *, deviations: Array) -> Array:
    """Return the counts that noise alone would hardly reach; the others become zero.

    Biased: counts up to a few standard errors are pushed down on average, and sums with them; cells where nobody is are
    pushed up a little, by those that pass.

    Formula: a count stays where it is at least z times its standard error, z = Phi^-1(1 - alpha / cells), alpha = 0.05:
    were all cells empty, the chance that any passes would be at most alpha, as far as the noise is normal.

    Error: not known exactly. A table of few large counts and many empty cells comes nearer to the truth on average, one
    of many middling counts moves away from it.

    Order: the standard errors are those of the estimate, so name it first.

    Paper: Wang, Lopuhaa-Zwakenberg, Li, Skoric, Li 2020 (Base-Cut).

    Args:
        counts: shape (cells,).
        deviations: the standard error of every count, shape (cells,).

    >>> base_cut(np.array([90.0, 15.0, -20.0]), deviations=np.full(3, 10.0))
    array([90.,  0.,  0.])
    """
    from statistics import NormalDist  # noqa: PLC0415  # brings random and fractions; seldom asked for

    threshold = NormalDist().inv_cdf(1 - ALPHA / counts.size)
    return np.where(counts >= threshold * deviations, counts, 0.0)


def integer(counts: Array) -> Array:
    """Return whole counts with the rounded total: all rounded down, then the largest remainders up.

    Biased: every count moves by less than one; its size does not matter, but of equal remainders the earlier cells are
    pushed up and the later ones down.

    Error: not known exactly; no count moves by one or more. A total halfway between two whole numbers goes to the even
    one.

    Order: named after `nonnegative` or `monotone_prefix` it keeps what these have reached; named before them, their
    result need not be whole.

    Args:
        counts: shape (cells,).

    >>> integer(np.array([0.4, 0.9, 2.4, -1.2]))
    array([ 0.,  1.,  2., -1.])
    """
    whole = np.floor(counts)
    remainders = counts - whole
    total = np.rint(whole.sum() + remainders.sum())
    up = int(total - whole.sum())
    whole[np.argsort(-remainders, kind="stable")[:up]] += 1
    return whole


def monotone_prefix(counts: Array) -> Array:
    """Return the table whose running totals are the nearest, in squared distance, that never fall.

    Biased: where running totals fall, small counts are pushed up and those beside them down; the first count is never
    pushed up and the total never down.

    Formula: isotonic regression of the running totals (pool adjacent violators), then differences. Every count but the
    first is >= 0; the first is so after `nonnegative`.

    Error: not known exactly. Running totals are never farther from the true ones, in squared distance, than before; the
    counts themselves may be.

    Order: named before `integer`, the result is whole and its running totals still never fall.

    Args:
        counts: shape (cells,), of one ordered attribute.

    >>> monotone_prefix(np.array([4.0, 3.0, -2.0, 5.0]))
    array([4., 2., 0., 4.])
    """
    if counts.size < 2 or counts[1:].min() >= 0:
        return counts.astype(float)
    fitted: Array = scipy("optimize").isotonic_regression(np.cumsum(counts)).x
    return np.diff(fitted, prepend=0.0)


def top_down(counts: Array, *, users: int | None) -> Array:
    """Return counts >= 0 made from the top: the total is split into halves of the cells, these into halves, to cells.

    Biased: small counts are pushed up and large ones down on average, but sums over ranges far less than those of
    `nonnegative`, as what is taken from a cell goes to its neighbours.

    Formula: the total T is `users`, or the counts' own, at least 0; a parent of p whose halves are estimated as a and b
    gives them the nearest point of {x, y >= 0, x + y = p}: a + (p - a - b) / 2, kept between 0 and p, and the rest.

    Error: not known exactly. Noise cannot pile up where nobody is: over ranges of histograms with many empty cells the
    squared error falls to a tenth (ranges, "What dpress adds").

    Order: named before `integer`, the result is both whole and >= 0.

    Args:
        counts: shape (cells,), of one ordered attribute.
        users: how many people took part; None where nobody knows.

    >>> top_down(np.array([6.0, -2.0, -1.0, 1.0]), users=4)
    array([4., 0., 0., 0.])
    """
    levels = [counts.astype(float)]
    while levels[-1].size > 1:
        levels.append(_even(levels[-1]).reshape(-1, 2).sum(axis=1))
    totals = np.array([max(float(levels[-1][0]), 0.0) if users is None else float(users)])
    for level in levels[-2::-1]:
        first, second = _even(level).reshape(-1, 2).T
        kept = np.clip((totals + first - second) / 2, 0.0, totals)
        if level.size % 2:  # the last node has no second half
            kept[-1] = totals[-1]
        totals = np.stack([kept, totals - kept], axis=1).ravel()[: level.size]
    return totals


def _even(counts: Array) -> Array:
    return np.append(counts, 0.0) if counts.size % 2 else counts


def posterior(counts: Array, *, shape: tuple[int, ...], noise: QueryVariance, users: int | None) -> Array:
    """Return counts >= 0 made from the top: every half of the cells gets the share that is likely, given the noise.

    Biased: counts that noise alone may have made are pulled towards what is even or empty, as the whole table shows
    it; their total is the estimated one, or `users`.

    Formula and source: `inference.halves.posterior_counts`.

    Error: not known exactly. Over ranges of histograms the squared error is a fifth to a half of that of the unbiased
    counts where people are few for their noise, and the same where they are many (`bench/unseen_ranges.py`).

    Order: named before `integer`, the result is both whole and >= 0.

    Args:
        counts: shape (cells,), of a table of any attributes.
        shape: cells along every axis, in the order of the counts.
        noise: the variance of the answer to a query, given by its weights on every axis, in counts squared.
        users: how many people took part; None where nobody knows.

    >>> posterior(np.array([60.0, -2.0, -1.0, 3.0]), shape=(4,), noise=lambda query: 9.0, users=None).round(1)
    array([59.2,  0. ,  0.2,  0.7])
    """
    from dpress.inference.halves.posterior_counts import posterior_counts  # noqa: PLC0415  # brings SciPy; seldom needed

    return posterior_counts(counts.reshape(shape), noise, users=users).ravel()


def consistent(
    tables: Sequence[Array], axes: Sequence[tuple[int, ...]], shape: Sequence[int], variances: Sequence[Array]
) -> list[Array]:
    """Return the nearest tables, weighed by their noise, of which any two agree and no count is below 0.

    Biased: small counts are pushed up and large ones down on average.

    Formula and source: `agreeing_tables.AgreeingTables.nonnegative`. They agree as far as pairs of tables tell: there
    need not be a table of all attributes that has all of them as its sums.

    Error: not known exactly. Projection on a convex set: where the estimated totals are the true one, never farther
    from the truth, in weighted squared distance, than the tables were.

    Order: the last of all; whole counts that agree there need not be.

    Args:
        tables: one after the other, each flat.
        axes: of every table.
        shape: cells along every axis.
        variances: of every table's cells.

    >>> together = consistent([np.array([6.0, 2, -1, 5]), np.array([9.0, 2])], [(0, 1), (0,)], (2, 2), [np.ones(4)] * 2)
    >>> [table.round(2).tolist() for table in together]
    [[6.09, 2.1, 0.0, 3.14], [8.19, 3.14]]
    """
    agreeing = AgreeingTables(axes=tuple(axes), weights=tuple(1 / max(float(each.mean()), LEAST) for each in variances))
    shaped = [table.reshape([shape[axis] for axis in along]) for table, along in zip(tables, axes, strict=True)]
    return [table.ravel() for table in agreeing.nonnegative(shaped)]


_TO_USERS = (
    "Biased: small counts are pushed up and large ones down on average, so that none is negative and they add up to "
    "the number of users."
)
NAMES: Mapping[str, Adjustment] = {
    "base_cut": Adjustment(
        base_cut,
        "Biased: counts up to a few standard errors are pushed down on average, mostly to zero, and sums with them, "
        "while empty cells are pushed up a little.",
        needs=("deviations",),
        local=True,
    ),
    "consistent": Adjustment(
        consistent,
        "Biased: small counts are pushed up and large ones down on average, so that none is negative and all tables "
        "agree.",
        answers=True,
        together=True,
    ),
    "integer": Adjustment(
        integer,
        "Biased by rounding: every count moves by less than one, and of equal remainders the earlier cells are pushed "
        "up and the later ones down.",
    ),
    "monotone_prefix": Adjustment(
        monotone_prefix,
        "Biased: where running totals fall, small counts are pushed up and those beside them down; the first "
        "count is never pushed up and the total never down.",
        scipy=True,
    ),
    "nonnegative": Adjustment(
        nonnegative,
        "Biased: small counts are pushed up and large ones down on average, and a negative total is pushed up to zero.",
    ),
    "norm_sub": Adjustment(norm_sub, _TO_USERS, needs=("users",), local=True),
    "posterior": Adjustment(
        posterior,
        "Biased: counts that noise alone may have made are pushed up or down towards even or empty cells, so that none "
        "is negative, and their sum is the estimated total.",
        needs=("shape", "noise", "users"),
        scipy=True,
        answers=True,
    ),
    "simplex": Adjustment(norm_sub, _TO_USERS, needs=("users",), local=True),
    "top_down": Adjustment(
        top_down,
        "Biased: from the total down, every half of the cells is kept at zero or above, so that small counts are "
        "pushed up and large ones down on average, sums over ranges only a little.",
        needs=("users",),
    ),
}
ALONG_AN_ORDER = ("monotone_prefix", "top_down")  # of one ordered attribute only


def answers(names: Sequence[str]) -> bool:
    """Return whether queries are answered by the counts that these adjustments make."""
    return any(NAMES[name].answers for name in names)


def filled(published: Sequence[Array], made: Sequence[Array | None]) -> tuple[Array, ...]:
    """Return published counts with those that were made again in the place of hidden ones."""
    pairs = zip(published, map(np.asarray, made), strict=True)
    return tuple(np.where(np.isnan(counts), again, counts) for counts, again in pairs)


def adjust(
    counts: Array,
    names: Sequence[str],
    *,
    users: int | None = None,
    deviations: Array | None = None,
    shape: tuple[int, ...] = (),
    noise: QueryVariance | None = None,
) -> Array:
    """Return one table adjusted by every named function in turn.

    Args:
        counts: shape (cells,), estimated.
        names: keys of `NAMES`, in the order of application; what adjusts all tables together is left out.
        users: of a collection: how many took part, each in one cell of the table.
        deviations: the standard errors of the estimated counts, shape (cells,).
        shape: cells along every axis of the table.
        noise: the variance of the answer to a query, given by its weights on every axis, in counts squared.
    """
    given: dict[str, Any] = {"users": users, "deviations": deviations, "shape": shape, "noise": noise}
    for named in (NAMES[name] for name in names if not NAMES[name].together):
        counts = named.function(counts, **{need: given[need] for need in named.needs})
    return counts
