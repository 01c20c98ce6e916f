"""`hierarchy`: a tree of counts with the branching, and the noise of every level, that suit ranges best."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta

from dpress.core.basics import check
from dpress.core.basics.losses.any_loss import power_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.parameters import PLACE, Parameters
from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Axis, Ranges
from dpress.core.maps.tree import Tree
from dpress.core.maps.workload import Workload
from dpress.core.methods.mechanism import Card, Strategy
from dpress.inference.averages import tree_average
from dpress.inference.least_squares import LeastSquares
from dpress.inference.tree_ranges import tree_variances
from dpress.mechanisms.linear.level_shares import best_shares
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.product import over_axes

Shares = Literal["best", "equal"] | Sequence[check.Number]
BRANCHINGS = range(2, 65)
SAMPLE = 1 << 10  # ranges that stand for a larger workload when a tree is chosen


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A tree of any branching, with or without its root, with least-squares reconstruction.

    Promise: sensitivity h levels below the root (and the root's, if it is measured), 2 h under replace-one; with
    shares, every level is a histogram with its share of the loss; see `MatrixMechanism`.
    Error: w (A^T V^-1 A)^-1 w^T with one noise variance a level: `inference.tree_ranges.tree_variances`; mean over all
    ranges: `inference.averages.tree_average`.
    Paper: Hay, Rastogi, Miklau and Suciu 2010; branching after Qardaji, Yang and Li 2013; ranges, "What dpress adds".

    Args:
        cells: the number of cells; nodes without a cell are left out.
        branching: the number of children of a node, at least 2.
        root: whether the root is measured.
        shares: the levels' shares of the loss from the top, adding up to 1; empty for one noise on all levels.

    >>> round(2 * 3**2 * Hierarchy(1024, 11).average_variance([1.0]), 1)
    156.6
    """

    cells: int
    branching: int = 2
    root: bool = False
    shares: tuple[Fraction, ...] = ()

    @property
    def map(self) -> Tree:
        """All measured nodes."""
        return Tree(self.cells, self.branching, self.root)

    @property
    def decoder(self) -> LeastSquares:
        """Least squares on the tree."""
        return LeastSquares(self.map, (self.cells,))

    def range_variances(self, ranges: Ranges, variances: Sequence[float]) -> Array:
        """Return the variances by one walk up from the two ends of every range, O(log n) each."""
        return tree_variances(self.map, ranges, self._by_level(variances))

    def average_variance(self, variances: Sequence[float]) -> float:
        """Return the mean over all ranges, exact for every n."""
        return tree_average(self.map, self._by_level(variances))

    @property
    def accuracy_index(self) -> float:
        """3 b log2(b)^3 / (b - 1)^2: each of the h levels adds (b - 1)^2 / (3 b) to the mean coefficient."""
        return 3 * self.branching * math.log2(self.branching) ** 3 / (self.branching - 1) ** 2

    def _by_level(self, variances: Sequence[float]) -> Sequence[float]:
        """Return one noise variance for every level."""
        return variances if len(variances) > 1 else [*variances] * len(self.map.levels)


def _strategy(
    workload: Workload, loss: Loss, *, branching: int | None = None, root: bool | None = None, shares: Shares = "best"
) -> Strategy | None:
    """Return the tree with the smallest mean variance; what the spec states is kept."""
    if not workload.axes:
        return None
    alone = len(workload.axes) == 1
    if not alone and shares not in ("best", "equal"):
        raise ValueError(f"{PLACE}.shares: levels have shares of their own over one attribute only")

    def build(axis: Axis) -> Hierarchy:
        chosen, with_root = best_tree(axis, power_of(loss), _roots(root), (branching,) if branching else ())
        tree = Tree(axis.cells, chosen, with_root)
        return Hierarchy(axis.cells, chosen, with_root, _shares(shares, tree, axis, power_of(loss)) if alone else ())

    return over_axes(workload, build)


def _roots(root: bool | None) -> tuple[bool, ...]:  # noqa: FBT001
    return (False, True) if root is None else (bool(root),)


def _shares(listed: Shares, tree: Tree, axis: Axis, power: int) -> tuple[Fraction, ...]:
    if listed == "best":
        return best_shares(tree, power, lambda variances: mean_variance(tree, axis, variances))
    if listed == "equal":
        return ()
    levels = len(tree.levels)
    if len(listed) != levels:
        raise ValueError(f"{PLACE}.shares: expected {levels} numbers, one a level, got {len(listed)}")
    return tuple(check.exact("shares", share) for share in listed)


@functools.lru_cache(maxsize=64)
def best_tree(
    axis: Axis, power: int, roots: tuple[bool, ...] = (False, True), branchings: tuple[int, ...] = ()
) -> tuple[int, bool]:
    """Return the branching, and whether the root is measured, with the smallest mean variance under equal noise.

    The variance grows with this power of the number of levels: 2 under epsilon, 1 under rho. Where the workload
    has more than 2^10 ranges that are not all ranges, evenly spaced ones stand for it.
    """

    def mean(choice: tuple[int, bool]) -> float:
        tree = Tree(axis.cells, *choice)
        levels = len(tree.levels)
        return float(levels**power * mean_variance(tree, axis, (1.0,) * levels))

    offered = branchings or sorted({max(2, axis.cells), *(b for b in BRANCHINGS if b <= axis.cells)})
    return min(((branching, root) for branching in offered for root in roots), key=mean)


def mean_variance(tree: Tree, axis: Axis, variances: Sequence[float]) -> float:
    """Return the mean variance of the workload, or of evenly spaced ranges of a large one."""
    if axis.every:
        return tree_average(tree, variances)
    return float(np.mean(tree_variances(tree, _sample(axis), variances)))


@functools.lru_cache(maxsize=8)
def _sample(axis: Axis) -> Ranges:
    """Return at most 2^10 of the workload's ranges, evenly spaced."""
    places = np.linspace(0, axis.queries - 1, min(axis.queries, SAMPLE)).astype(np.int64)
    parts = [axis.ranges(int(place), int(place) + 1) for place in places]
    return Ranges(axis.cells, np.concatenate([p.left for p in parts]), np.concatenate([p.right for p in parts]))


class Settings(Parameters, frozen=True):
    """The tree, and how its levels share the budget."""

    branching: Annotated[int, Meta(ge=2, description="children of a node; left out, the best")] | None = None
    root: Annotated[bool, Meta(description="whether the root is measured too; left out, the better")] | None = None
    shares: (
        Annotated[
            Literal["best", "equal"] | list[Fraction],
            Meta(
                title='"best", "equal", or a list of one number for each level',
                description="each level's share of the budget, from the top, adding up to exactly 1; over several "
                'attributes all answers have the same noise, and only the two words are taken; "best" unless stated',
            ),
        ]
        | None
    ) = None


CARD = Card(
    name="hierarchy",
    family="linear",
    model="central",
    paper="ranges: What dpress adds (Hay et al. 2010; Qardaji, Yang, Li 2013)",
    summary="A tree with the branching and the noise per level that suit ranges best: the choice for many cells.",
    method=Hierarchy,
    example=lambda loss, unit: MatrixMechanism(
        strategy=Hierarchy(9, 3, shares=(Fraction(1, 3), Fraction(2, 3))), loss=loss, unit=unit
    ),
    strategy=_strategy,
    parameters=Settings,
)
