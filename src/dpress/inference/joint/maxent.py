"""From tables of pairs to one joint distribution of the largest entropy, or near it where that is too large.

`full`: one table with all the margins, by iterative proportional fitting, where it fits in memory. Noisy pairs, which
contradict each other, are met in the middle; from there it goes toward tables of three attributes or more as far as
their noise lets it.
`chain`: attributes join one by one; each with those of an earlier clique that it depends on most, as far as the clique
stays small. The clique gets the largest entropy that agrees with its pairs and with what came before, so that the pairs
inside a clique are kept and all others follow from them. Cliques of two attributes make it a Chow-Liu tree.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import Array
from dpress.inference.consistency import Axes
from dpress.inference.joint.factors import Factor, Joint, dense
from dpress.inference.joint.fit import approach, fit_margins, nearest, sums

SMALL = 1 << 16
"""The largest table, in cells, that `joint` fits as a whole: beyond, `chain` is as accurate and far faster."""
DENSE = 1 << 22
"""The largest table, in cells, that `full` fits."""
CLIQUE = 1 << 12
"""The largest clique of three attributes or more, in cells, that `chain` makes."""
WITHIN = 0.5
"""How much of their noise variance may remain between larger tables and the joint's own: less would follow the noise.

Chosen with `fit.approach`'s 10 steps as nearest to the truth on NLTCS and Adult: experience with two data sets."""
NOTHING = 1e-9
"""Mutual information, in nats, that counts as none."""
Shares = Mapping[Axes, Array]


def joint(shape: Axes, tables: Shares, *, noise: float = 0.0) -> Joint:
    """Return `full` where the table has at most 2^16 cells, else `chain`."""
    return full(shape, tables, noise=noise) if math.prod(shape) <= SMALL else chain(shape, tables)


def full(shape: Axes, tables: Shares, *, noise: float = 0.0, tolerance: float = 1e-4, rounds: int = 60) -> Joint:
    """Return the distribution of the largest entropy that has all the tables; see its `gap` for how far it is off.

    With noise it is near to all pairs at once (`fit.nearest`); tables of three attributes or more are approached from
    there (`fit.approach`) and not followed into their noise. Both stop early on purpose.

    Args:
        shape: the number of cells of every attribute.
        tables: shares by rising axes; every attribute is in one at least, with noise in one of two at most.
        noise: the variance of the largest tables' shares, summed over all their cells; 0 where they are exact.
        tolerance: largest total variation between a table and the joint's own.
        rounds: at most; estimated tables need not be those of any joint at all.

    Raises:
        NotSupported: the table has more than 2^22 cells.
    """
    cells = math.prod(shape)
    if cells > DENSE:
        raise NotSupported(f"the joint table has {cells} cells, more than the limit of {DENSE}; use `chain`")
    start, largest = np.full(shape, 1 / cells), _largest(tables)
    if not noise:
        fit = fit_margins(start, largest, tolerance=tolerance, rounds=rounds)
        return dense(fit.table, gap=fit.gap)
    pairs = _largest({axes: table for axes, table in tables.items() if len(axes) <= 2})
    fit = nearest(start, pairs, tolerance=tolerance, rounds=rounds)
    if largest.keys() != pairs.keys():
        fit = approach(fit.table, largest, within=WITHIN * noise, tolerance=tolerance)
    return dense(fit.table, gap=fit.gap)


def chain(shape: Axes, tables: Shares, *, limit: int = CLIQUE) -> Joint:
    """Return a distribution that keeps the tables of the strongest pairs; see this module.

    Args:
        shape: the number of cells of every attribute.
        tables: shares by rising axes: every one-way table, and pairs; larger ones are not used.
        limit: cells of a clique of three attributes or more, at most; a pair may be larger.
    """
    information: dict[Axes, float] = {
        axes: mutual_information(table) for axes, table in tables.items() if len(axes) == 2
    }
    first = max(information, key=lambda pair: information[pair])[0] if information else 0
    cliques = [_Clique((first,), tables[first,])]
    factors, gaps = [Factor(given=(), targets=(first,), table=tables[first,])], [0.0]
    while left := sorted(set(range(len(shape))) - {axis for clique in cliques for axis in clique.axes}):
        options = [_link(shape, information, clique, axis, limit) for clique in cliques for axis in left]
        best = max(options, key=lambda link: link.gain)
        factor, clique, gap = _joined(shape, tables, best)
        factors.append(factor)
        cliques.append(clique)
        gaps.append(gap)
    return Joint(shape=shape, factors=tuple(factors), gap=max(gaps))


def mutual_information(table: Array) -> float:
    """Return the mutual information of a table of two attributes, in nats.

    >>> round(mutual_information(np.eye(2) / 2), 4)
    0.6931
    """
    base = np.multiply.outer(table.sum(axis=1), table.sum(axis=0))
    held = table > 0
    return float((table[held] * np.log(table[held] / base[held])).sum())


class _Clique(NamedTuple):
    axes: Axes
    table: Array


class _Link(NamedTuple):
    axis: int
    given: Axes
    clique: _Clique
    gain: float


class _Step(NamedTuple):
    factor: Factor
    clique: _Clique
    gap: float


def _link(shape: Axes, information: Mapping[Axes, float], clique: _Clique, axis: int, limit: int) -> _Link:
    """Return what the attribute shares with the members of a clique that fit under the limit, the strongest first."""
    strength = {member: information.get((min(member, axis), max(member, axis)), 0.0) for member in clique.axes}
    given: list[int] = []
    cells, gain = shape[axis], 0.0
    for member in sorted(clique.axes, key=lambda member: -strength[member]):
        if strength[member] > NOTHING and (not given or cells * shape[member] <= limit):
            given.append(member)
            cells, gain = cells * shape[member], gain + strength[member]
    return _Link(axis, tuple(sorted(given)), clique, gain)


def _joined(shape: Axes, tables: Shares, link: _Link) -> _Step:
    """Return P(axis | given) of the largest entropy with the pairs and the clique's own margin, and the new clique."""
    places = tuple(link.clique.axes.index(axis) for axis in link.given)
    before = sums(link.clique.table, places)
    axes = (*link.given, link.axis)
    margins: dict[Axes, Array] = {(len(link.given),): tables[link.axis,]}
    if link.given:
        margins[tuple(range(len(link.given)))] = before
    for place, axis in enumerate(link.given):
        pair = tables[min(axis, link.axis), max(axis, link.axis)]
        margins[place, len(link.given)] = pair if axis < link.axis else pair.T
    sizes = [shape[axis] for axis in axes]
    fit = fit_margins(np.full(sizes, 1 / math.prod(sizes)), margins, tolerance=1e-5, rounds=100)
    total = fit.table.sum(axis=-1, keepdims=True)
    conditional = np.divide(fit.table, total, out=np.broadcast_to(tables[link.axis,], sizes).copy(), where=total > 0)
    order = np.argsort(axes)
    clique = _Clique(tuple(sorted(axes)), (conditional * before[..., None]).transpose(order))
    return _Step(Factor(given=link.given, targets=(link.axis,), table=conditional), clique, fit.gap)


def _largest(tables: Shares) -> dict[Axes, Array]:
    """Return the tables that no other table holds."""
    return {axes: table for axes, table in tables.items() if not any(set(axes) < set(other) for other in tables)}
