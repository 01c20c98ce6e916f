"""All nodes of a tree over the cells, by what the matrix does; least squares in one pass up and one down."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpress.core.basics import check
from dpress.core.basics.claim import Relation
from dpress.core.maps.linear import Array, Identity, Invertible, LinearMap, Numbers, Variance


@dataclass(frozen=True, slots=True)
class Tree(Invertible):
    """The nodes of a complete tree over the cells, level by level from the top (Hay et al. 2010).

    Nodes that hold no cell are left out, so that `cells` need not be a power of the branching: padding costs nothing
    but the last node of each level, which has fewer children. With height h = ceil(log_branching(cells)) a row of the
    table touches one node on each of the h + 1 levels.

    Args:
        cells: the number of leaves.
        branching: the number of children of a node.
        root: whether the root, which holds all rows, is measured too.
    """

    cells: int
    branching: int = 2
    root: bool = True

    def __post_init__(self) -> None:
        check.count("cells", self.cells)
        check.count("branching", self.branching, least=2)

    @property
    def _sizes(self) -> tuple[int, ...]:
        """The number of nodes of every level, the root's first."""
        sizes = [self.cells]
        while sizes[-1] > 1:
            sizes.append(-(-sizes[-1] // self.branching))
        return tuple(reversed(sizes))

    @property
    def height(self) -> int:
        """The number of levels below the root."""
        return len(self._sizes) - 1

    @property
    def levels(self) -> tuple[int, ...]:
        """The number of nodes of every measured level, from the top; a root that is also the leaf is measured."""
        return self._sizes if self.root or self.cells == 1 else self._sizes[1:]

    @property
    def rows(self) -> int:
        """The number of measured nodes."""
        return sum(self.levels)

    def sums(self, values: Numbers) -> Numbers:
        """Return for the values of one level the sum over the children of every parent; no copy is made."""
        whole = len(values) // self.branching
        sums = values[: whole * self.branching].reshape(-1, self.branching).sum(axis=1, dtype=values.dtype)
        rest = values[whole * self.branching :]
        return np.append(sums, rest.sum(dtype=values.dtype)) if len(rest) else sums

    def spread(self, values: Numbers, size: int) -> Numbers:
        """Return every parent's value once for each of its children, of which there are `size` in all."""
        return np.repeat(values, min(self.branching, size))[:size]  # more children than nodes has only the root

    def split(self, answers: Numbers) -> list[Numbers]:
        """Return the answers level by level, from the top; no copy is made."""
        return np.split(answers, np.cumsum(self.levels)[:-1])

    def apply(self, cells: Numbers) -> Numbers:
        """Return the sum of every measured node."""
        sums = [cells]
        for _ in range(len(self.levels) - 1):
            sums.append(self.sums(sums[-1]))
        return np.concatenate(sums[::-1])

    def transpose(self, answers: Array) -> Array:
        """Return for every leaf the sum of the answers above it."""
        total, *levels = self.split(answers)
        for level in levels:
            total = self.spread(total, len(level))
            total += level
        return np.asarray(total)

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return the number of measured levels; twice those below the root where a row moves (it does not see that)."""
        del order
        return len(self.levels) if relation is Relation.ADD_REMOVE else 2 * self.height

    def noisy_parts(self, *, divided: bool) -> tuple[LinearMap, ...]:
        """Return the levels, where they share the loss."""
        return tuple(Identity(size) for size in self.levels) if divided else (self,)

    def covariance_form(self, variance: Variance) -> Mapping[str, Any] | None:
        """Return the branching and every level's variance, None for a root that is not measured."""
        levels = [values.astype(float) for values in self.split(np.broadcast_to(variance, (self.rows,)))]
        if any(np.ptp(values) for values in levels):
            return None
        above = [] if self.height + 1 == len(levels) else [None]
        variances = [*above, *(float(values[0]) for values in levels)]
        return {"linear": "tree", "branching": self.branching, "variances": variances}

    def reconstruct(self, answers: Array, variance: Variance) -> Array:
        """Return the weighted least-squares estimate of the leaves; an inner node of infinite variance is ignored.

        Raises:
            ValueError: a leaf was not measured.
        """
        return self.covariance(self.transpose(answers / np.broadcast_to(variance, answers.shape)), variance)

    def combined(self, answers: Array, variances: Sequence[float]) -> list[tuple[Array, float]]:
        """Return for every level, from the root, each node's best estimate from its own subtree, and its variance.

        The inverse-variance mean of its own answer and of its children's sum: the upward pass of Hay et al. 2010.
        Every node must have `branching` children.

        Args:
            answers: of all levels, the root's first.
            variances: one for every level; infinite where it was not measured, 0 where it is known.
        """
        *inner, leaves = zip(self.split(answers), variances, strict=True)
        best = [leaves]
        for answered, variance in reversed(inner):
            below, spread = self.sums(best[-1][0]), best[-1][1] * self.branching
            trust = 1.0 if variance == 0 else 0.0 if math.isinf(variance) else spread / (spread + variance)
            best.append((trust * answered + (1 - trust) * below, (1 - trust) * spread))
        return best[::-1]

    def covariance(self, weights: Array, variance: Variance) -> Array:
        """Return (A^T V^-1 A)^-1 w in one pass up and one down, O(rows).

        With s_u = 1^T M_u^-1 1 and t_u = 1^T M_u^-1 w over the subtree u, the Sherman-Morrison formula gives
        s_u = s v_u / (v_u + s), t_u = t v_u / (v_u + s), s and t the sums over the children.
        """
        *inner, leaves = self._all_levels(variance)
        above: list[tuple[Array, Array]] = []
        size, total = leaves, weights * leaves
        for level in reversed(inner):
            sizes, totals = self.sums(size), self.sums(total)
            keep = 1 / (1 + sizes / level)
            above.append((sizes, totals))
            size, total = sizes * keep, totals * keep
        shift = np.zeros(1)
        for level, (sizes, totals), below in zip(inner, reversed(above), self._sizes[1:], strict=True):
            shift = self.spread(shift + (totals - shift * sizes) / (level + sizes), below)
        np.subtract(weights, shift, out=shift)
        shift *= leaves
        return shift

    def cell_variances(self, variance: Variance) -> Array:
        """Return the variance of every cell: its own less what every inner node above it explains, O(n log n).

        The covariance is V_leaf - sum over inner nodes u of a_u a_u^T / (v_u + S_u), a_u the leaves' v times the
        product of v / (v + S) over the inner nodes between.
        """
        *inner, leaves = self._all_levels(variance)
        size, reach, total, width = leaves, leaves.copy(), leaves.copy(), 1
        for level in reversed(inner):
            width *= self.branching
            sums = self.sums(size)
            explained = np.square(reach)
            _scale(explained, 1 / (level + sums), width)
            total -= explained
            keep = 1 / (1 + sums / level)
            _scale(reach, keep, width)
            size = sums * keep
        return total

    def _all_levels(self, variance: Variance) -> list[Array]:
        """Return the variances level by level, infinite for a root that is not measured."""
        levels = self.split(np.broadcast_to(np.asarray(variance, dtype=np.float64), (self.rows,)))
        if not np.isfinite(levels[-1]).all():
            raise ValueError("every leaf must have been measured: without it the cells are not determined")
        return levels if len(levels) == len(self._sizes) else [np.array([np.inf]), *levels]


def _scale(cells: Array, factors: Array, width: int) -> None:
    """Multiply each run of `width` cells, of which the last may be short, by its factor, in place."""
    whole = len(cells) // width
    cells[: whole * width].reshape(whole, width)[...] *= factors[:whole, None]
    cells[whole * width :] *= factors[whole:]
