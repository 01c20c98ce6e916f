"""Records of attributes that a centre joins: weights of all cells scaled to their sums, the centre drawn, then leaves.

weights of every attribute -> what each leaf leaves of the centre -> cells of the centre -> those of each leaf.
Exact belief propagation on a star (Pearl 1988); scaling by Deming and Stephan 1940, one attribute after the other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.methods.people import Codes
from dpress.core.methods.possible import Cells, Combinations, Leaf, Truths, product

Groups = npt.NDArray[np.int64]
Draw = Callable[[Array, int], Codes]
_TINY = 1e-200
PASSES = 10
"""In which what constraints join is scaled."""
AT_ONCE = 1 << 21
"""Numbers that are held of clusters, or of records."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Star:
    """Weights of the cells of attributes that a centre joins, of every cluster.

    Args:
        part: which combinations may occur.
        weights: >= 0, by attribute, each of shape (clusters, cells).
    """

    part: Combinations
    weights: Mapping[int, Array]

    def scaled(self, passes: int) -> "Star":
        """Return weights with which, without what is impossible, every attribute has its sums again, about.

        Args:
            passes: how often each attribute is scaled.
        """
        targets = {axis: _shares(along) for axis, along in self.weights.items()}
        star = self
        for _ in range(passes):
            star = Star(part=self.part, weights=star.visited(targets))
        return star

    def visited(self, targets: Mapping[int, Array]) -> Mapping[int, Array]:
        """Return the weights after every attribute was scaled once.

        Args:
            targets: shares of the cells of every attribute, shape (clusters, cells).
        """
        left = np.stack([self.left_by(leaf) for leaf in self.part.leaves])
        star, weights, shape = self, dict(self.weights), self.part.allowed.shape
        beside = np.prod(left, axis=0)
        for place, axis in enumerate(self.part.centre):
            table = (star.alone() * beside).reshape(-1, *shape)
            others = tuple(each for each in range(1, table.ndim) if each != place + 1)
            weights[axis] = _scaled(weights[axis], table.sum(axis=others), targets[axis])
            star = Star(part=self.part, weights=weights)
        alone = star.alone()
        for number, leaf in enumerate(self.part.leaves):
            around = alone * np.prod(np.delete(left, number, axis=0), axis=0)
            for place, axis in enumerate(leaf.axes):
                table = star.beside(leaf) * around.reshape(*around.shape, *[1] * len(leaf.axes))
                others = tuple(each for each in range(1, table.ndim) if each != place + 2)
                weights[axis] = _scaled(weights[axis], table.sum(axis=others), targets[axis])
                star = Star(part=self.part, weights=weights)
            left[number] = star.left_by(leaf)
        return weights

    def of_centre(self) -> Array:
        """Return the weight of every combination of the centre beside all leaves, shape (clusters, combinations)."""
        return np.asarray(self.alone() * np.prod([self.left_by(leaf) for leaf in self.part.leaves], axis=0))

    def alone(self) -> Array:
        """Return the weight of every combination of the centre by itself, shape (clusters, combinations)."""
        return _product(self.part.open[None], [self.weights[axis] for axis in self.part.centre], 0)

    def left_by(self, leaf: Leaf) -> Array:
        """Return what a leaf leaves of every combination of the centre, shape (clusters, combinations)."""
        return np.asarray(self.beside(leaf).reshape(-1, leaf.allowed.shape[0], leaf.allowed[0].size).sum(axis=2))

    def beside(self, leaf: Leaf) -> Array:
        """Return the weights of a leaf's cells beside every combination of the centre, shape (clusters, *`allowed`)."""
        table = _product(leaf.allowed[None], [self.weights[axis] for axis in leaf.axes], 1)
        return table.reshape(-1, *leaf.allowed.shape)


def _product(allowed: Truths, weights: Sequence[Array], skipped: int) -> Array:
    """Return weights along the last axes where something is allowed, shape (clusters, all else)."""
    table = allowed.astype(np.float64)
    for place, along in enumerate(weights, 1 + skipped):
        shape = [-1 if axis == place else 1 for axis in range(1, allowed.ndim)]
        table = table * along.reshape(along.shape[0], *shape)
    return table.reshape(table.shape[0], -1)


def _shares(weights: Array) -> Array:
    return np.asarray(weights / np.maximum(weights.sum(axis=1, keepdims=True), _TINY))


def _scaled(weights: Array, sums: Array, target: Array) -> Array:
    """Return weights times what their sums lack; those that nothing is left of stay."""
    return _shares(weights * np.where(sums > 0, target / np.maximum(_shares(sums), _TINY), 1.0))


def star_records(part: Combinations, weights: Sequence[Array], clusters: Groups, *, rng: Generator) -> Codes:
    """Return the cells of attributes that a centre joins, shape (attributes in the order of `axes`, records).

    In every cluster the centre has its share of what leaves leave of it, and each leaf beside it its own share, each
    number of records rounded up or down.

    Args:
        part: which combinations may occur.
        weights: >= 0, of the attributes in the order of `axes`, each of shape (clusters, cells).
        clusters: of every record, shape (records,).
        rng: a secure generator.
    """
    widest = max(leaf.allowed.size for leaf in part.leaves)
    step = max(1, AT_ONCE // widest)
    every = [
        Star(part=part, weights={axis: along[k : k + step] for axis, along in zip(part.axes, weights, strict=True)})
        for k in range(0, len(weights[0]), step)
    ]
    scaled = [star.scaled(PASSES) for star in every]
    centres = np.concatenate([star.of_centre() for star in scaled])
    kept = {axis: np.concatenate([star.weights[axis] for star in scaled]) for axis in part.axes}
    centre = _systematic(clusters, rng, lambda rows: (part.open.ravel(), centres[clusters[rows]]), part.allowed.size)
    cells: list[Codes] = [np.stack(np.unravel_index(centre, part.allowed.shape)).astype(np.int32)]
    for leaf in part.leaves:
        allowed, shape = leaf.allowed.reshape(leaf.allowed.shape[0], -1), leaf.allowed.shape[1:]

        def tables(rows: slice, leaf: Leaf = leaf, allowed: Truths = allowed) -> tuple[Truths, Array]:
            along = [kept[axis][clusters[rows]] for axis in leaf.axes]
            return allowed[centre[rows]], _product(leaf.allowed[centre[rows]], along, 0)

        drawn = _systematic(clusters * part.allowed.size + centre, rng, tables, allowed.shape[1])
        cells.append(np.stack(np.unravel_index(drawn, shape)).astype(np.int32))
    return np.concatenate(cells)


def _systematic(groups: Groups, rng: Generator, tables: Callable[[slice], tuple[Truths, Array]], cells: int) -> Groups:
    """Return a cell of every record by the weights of its own, systematically among records of a group.

    Args:
        groups: of every record; all of a group have the same weights.
        rng: a secure generator.
        tables: returns of some records which cells may occur, and their weights, shape (records, cells).
        cells: how many there are.
    """
    points, out = _points(groups, rng), np.empty(groups.size, dtype=np.int64)
    for start in range(0, groups.size, max(1, AT_ONCE // cells)):
        rows = slice(start, start + max(1, AT_ONCE // cells))
        allowed, weights = tables(rows)
        weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, allowed)
        ends = np.cumsum(weights, axis=1)
        last = cells - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)
        out[rows] = np.minimum((ends <= points[rows, None] * ends[:, -1:]).sum(axis=1), last)
    return out


def _points(groups: Groups, rng: Generator) -> Array:
    """Return numbers from 0 to 1, evenly spread within each group of records, in random order."""
    words = rng.words(groups.size)
    order = np.lexsort((words, groups))
    _, starts, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    begins = rng.words(starts.size) * 2.0**-64
    points = np.empty(groups.size)
    points[order] = (np.arange(groups.size) - np.repeat(starts, sizes) + np.repeat(begins, sizes)) / np.repeat(
        sizes, sizes
    )
    return points


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Within:
    """Cells of attributes that are drawn within groups.

    Args:
        groups: of every attribute's cells.
        counts: > 0, the weights of every attribute's cells.
    """

    groups: Sequence[Groups]
    counts: Sequence[Array]

    def table(self, allowed: Truths, axes: Sequence[int], kept: Groups) -> Array:
        """Return the weights of combinations: within the groups that are kept, or of all where none there may occur."""
        inside = [self.groups[axis] == group for axis, group in zip(axes, kept, strict=True)]
        counts = [self.counts[axis] for axis in axes]
        table = product(allowed, [np.where(here, along, 0.0) for here, along in zip(inside, counts, strict=True)])
        return table if table[np.ix_(*inside)].any() else product(allowed, counts)


def repaired(part: Combinations, codes: Codes, within: Within, draw: Draw) -> None:
    """Draw cells of impossible records again, in place: the centre where it cannot be, then leaves that do not fit it.

    Args:
        part: of the attributes, with leaves.
        codes: the records, shape (attributes, records).
        within: the cells.
        draw: from weights of cells and a number to as many cells.
    """
    everywhere = np.zeros(codes.shape[1], dtype=np.int64)
    _again(Leaf(axes=part.centre, allowed=part.open[None]), codes, everywhere, within, draw)
    for leaf in part.leaves:
        _again(leaf, codes, part.centre_of(codes), within, draw)


def _again(leaf: Leaf, codes: Codes, centre: Cells, within: Within, draw: Draw) -> None:
    """Draw what is not allowed beside the centre of a record again, in place."""
    allowed, axes = leaf.allowed, leaf.axes
    wrong = np.flatnonzero(~allowed[(centre, *(codes[axis] for axis in axes))])
    keys = np.stack([centre[wrong], *(within.groups[axis][codes[axis, wrong]] for axis in axes)])
    kinds, numbers = np.unique(keys, axis=1, return_inverse=True)
    for number, kept in enumerate(kinds.T):
        places = wrong[numbers.ravel() == number]
        table = within.table(allowed[kept[0]], axes, kept[1:])
        cells = np.unravel_index(draw(table.ravel(), places.size), table.shape)
        for axis, along in zip(axes, cells, strict=True):
            codes[axis, places] = along
