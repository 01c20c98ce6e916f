"""`hierarchy`: a tree of counts with the branching, and the noise of every level, that suit ranges best."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpress.core import check
from dpress.core.claim import Loss, PureDP
from dpress.core.mechanism import Card
from dpress.core.tree import Tree
from dpress.core.workload import AllRanges, Range, Workload
from dpress.estimate.error import tree_average
from dpress.estimate.least_squares import LeastSquares
from dpress.estimate.level_shares import Kind, best_shares
from dpress.estimate.ranges import tree_coefficient
from dpress.mechanisms.matrix_mechanism import MatrixMechanism

BRANCHINGS = range(2, 65)
EXACT_SEARCH = 1 << 14  # cells up to which the exact mean decides; beyond, that of the next complete tree


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A tree of any branching, with or without its root, with least-squares reconstruction.

    Promise: sensitivity h levels below the root (and the root's, if it is measured), 2 h under replace-one; with
    shares, every level is a histogram with its share of the loss; see `MatrixMechanism`.
    Error: w (A^T V^-1 A)^-1 w^T with one noise variance a level: `estimate.ranges.tree_coefficient`; mean over all
    ranges: `estimate.error.tree_average`.
    Paper: Hay, Rastogi, Miklau and Suciu 2010; branching after Qardaji, Yang and Li 2013; ranges, "What dpress adds".

    Args:
        cells: the number of cells; nodes without a cell are left out.
        branching: the number of children of a node, at least 2.
        root: whether the root is measured.
        shares: the levels' shares of the loss from the top, adding up to 1; empty for one noise on all levels.

    >>> round(2 * 3**2 * Hierarchy(1024, 11).average_coefficient(), 1)
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

    def range_coefficient(self, asked: Range) -> float:
        """Return the coefficient under pure epsilon, relative to equal noise of the whole tree's scale, O(b log n)."""
        return tree_coefficient(self.map, asked, self._relative())

    def average_coefficient(self) -> float:
        """Return the mean coefficient of all ranges, relative to equal noise."""
        return tree_average(self.map, self._relative())

    @property
    def accuracy_index(self) -> float:
        """3 b log2(b)^3 / (b - 1)^2: each of the h levels adds (b - 1)^2 / (3 b) to the mean coefficient."""
        return 3 * self.branching * math.log2(self.branching) ** 3 / (self.branching - 1) ** 2

    def _relative(self) -> Sequence[float]:
        """Return the levels' Laplace variances over the one that equal shares give: 1 / (levels share)^2."""
        return [1 / float(len(self.shares) * share) ** 2 for share in self.shares]


def _strategy(
    workload: Workload, loss: Loss, *, branching: int | None = None, root: bool | None = None, shares: object = "best"
) -> Hierarchy | None:
    """Return the tree with the smallest mean variance; what the spec states is kept."""
    if not isinstance(workload, AllRanges):
        return None
    kind: Kind = "epsilon" if isinstance(loss, PureDP) else "rho"
    roots = (False, True) if root is None else (bool(root),)
    if branching is None:
        branching, with_root = best_tree(workload.cells, kind, roots)
    else:
        branching = check.count("$.release.parameters.branching", branching, least=2)
        with_root = roots[0]
    return Hierarchy(
        workload.cells, branching, with_root, _shares(shares, _searchable(workload.cells, branching, with_root), kind)
    )


def _shares(listed: object, tree: Tree, kind: Kind) -> tuple[Fraction, ...]:
    if listed == "best":
        return best_shares(tree, kind)
    if listed == "equal":
        return ()
    if not isinstance(listed, (list, tuple)):
        raise ValueError(
            '$.release.parameters.shares: expected "best", "equal", or a list of one number for each level'
        )
    return tuple(check.exact("$.release.parameters.shares", share) for share in listed)


@functools.lru_cache(maxsize=64)
def best_tree(cells: int, kind: Kind, roots: tuple[bool, ...] = (False, True)) -> tuple[int, bool]:
    """Return the branching, and whether the root is measured, with the smallest mean variance under equal noise.

    Under epsilon the variance grows with the squared number of levels, under rho with the number. Beyond 2^14 cells the
    mean of the complete tree just large enough stands in for the exact one.
    """
    power = 2 if kind == "epsilon" else 1

    def mean(choice: tuple[int, bool]) -> float:
        tree = _searchable(cells, *choice)
        return float(len(tree.levels) ** power * tree_average(tree))

    choices = [(branching, root) for branching in BRANCHINGS if branching <= max(2, cells) for root in roots]
    return min(choices, key=mean)


def _searchable(cells: int, branching: int, root: bool) -> Tree:  # noqa: FBT001
    """Return the tree itself, or, where it is too large to walk through, the complete tree of the same height."""
    tree = Tree(cells, branching, root)
    return tree if cells <= EXACT_SEARCH else Tree(branching**tree.height, branching, root)


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
    parameters=("branching", "root", "shares"),
)
