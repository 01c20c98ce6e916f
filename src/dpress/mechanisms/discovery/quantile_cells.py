"""`quantile_cells`: quantiles by counts between levels near them, which are chosen first.

counts of levels -> levels near the quantiles, chosen one half after the other -> counts between these, with noise.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpress.core.basics.claim import Claim, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import composed, describe, part_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Card, Draw, Drawn
from dpress.core.methods.people import Codes
from dpress.core.methods.table_sums import Integers, Rows, Sums
from dpress.mechanisms.choice.approximate_quantiles import ApproximateQuantiles
from dpress.mechanisms.discovery.second_step import SecondStep
from dpress.mechanisms.linear import group_statistics
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.groups import first_levels, level_counts
from dpress.mechanisms.linear.hierarchy import Hierarchy
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

CELLS_SHARE = Fraction(1, 2)  # of the loss of an attribute's quantiles, for the levels that its cells lie between


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileCells(SecondStep):
    """Cells of some attributes are cut at levels near their quantiles, then groups are measured with these cells.

    A cell begins after every level that is chosen, and at one that is chosen more than once, so that it is a cell by
    itself. The cells are the same in all groups, and each row is in one of them, with one noise.

    Promise: the sum of all losses, for the same unit: those of the choices (`ApproximateQuantiles`), and that of the
        groups (`MatrixMechanism`), which is the same wherever cells are cut: a row is in one of at least two. What is
        measured depends on the rows through the chosen levels alone beyond its own noise (adaptive composition).
        Proven.
    Error: that of the groups' counts, exact, whatever was chosen; choices decide how many rows the cells hold, and so
        how far apart the ends of intervals are.
    Source: ours; choices: Kaplan, Schnapp, Stemmer 2022; the inversion of counts: Woodruff 1952.

    Args:
        groups: what is measured; the trees of `axes` have one level of cells, whose borders are those of a release.
        choices: of the levels, one for every attribute.
        candidates: how many parts of an attribute's levels are chosen among; level l is in floor(l parts / levels).
        axes: of the attributes, increasing.
    """

    choices: tuple[ApproximateQuantiles, ...]
    candidates: tuple[int, ...]
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.axes or list(self.axes) != sorted({*self.axes} & {tree.axis for tree in self._trees}):
            raise ValueError(f"axes must be increasing, and of attributes with quantiles, got {self.axes}")
        if not len(self.choices) == len(self.candidates) == len(self.axes):
            raise ValueError("every attribute must have its own choice among its own candidates")
        if {choice.unit for choice in self.choices} != {self.groups.unit}:
            raise ValueError("the choices and the sums must protect the same unit")
        if {choice.loss.form for choice in self.choices} != {self.groups.loss.form}:
            raise ValueError("the choices and the sums must all have epsilon, or all rho")
        for parts, tree in zip(self.candidates, self.cut, strict=True):
            if not 2 <= parts <= tree.levels or tree.tree.branching < tree.tree.cells:
                raise ValueError("cells are cut among at least 2 parts of the levels, and counted on one level")

    @property
    def _trees(self) -> tuple[GroupDistribution, ...]:
        strategy = self.groups.strategy
        if not isinstance(strategy, GroupStatistics):
            raise TypeError(f"{type(strategy).__name__} measures no groups")
        return strategy.distributions

    @property
    def cut(self) -> tuple[GroupDistribution, ...]:
        """The distributions whose cells are chosen, in the order of the axes."""
        by_axis = {tree.axis: tree for tree in self._trees}
        return tuple(by_axis[axis] for axis in self.axes)

    @property
    def done(self) -> bool:
        """Whether it states the cells of a release, so that its design cannot be published again."""
        return any(tree.borders for tree in self.cut)

    @property
    def claim(self) -> Claim:
        """The promise, added up from those of the choices and of the sums."""
        first, second = [choice.claim for choice in self.choices], self.groups.claim
        loss = composed([claim.proven for claim in (*first, second) if claim.proven is not None])
        basis = "; ".join(f"cells by {describe(claim.proven)} ({claim.basis})" for claim in first)
        basis += f"; then sums by {describe(second.proven)} ({second.basis})"
        return Claim(published=loss, proven=loss, unit=self.unit, basis=basis)

    def prepare(self, rows: Rows) -> Draw:
        """Return what draws the levels and the noise of the sums; see `CuratorMechanism`.

        Rows are read twice before anything is charged, and once more when levels are drawn.

        Raises:
            NotSupported: it states the cells of a release.
        """
        if self.done:
            raise NotSupported(
                "the design states cells that a release chose; publish the one it was made by, or its specification"
            )
        counts = rows.sums(Sums(of_rows=self.level_sums))
        self.counted(rows)

        def draw(rng: Generator) -> Drawn:
            mechanism = self.cut_at(self.borders(counts, rng=rng))
            noisy = mechanism.groups.noisy(mechanism.counted(rows), rng=rng)
            return Drawn(output=noisy, mechanism=mechanism)

        return draw

    def level_sums(self, codes: Codes) -> Integers:
        """Return how many of some rows every candidate has, one attribute after the other: a kernel of `fold`."""
        pairs = zip(self.candidates, self.cut, strict=True)
        blocks = [level_counts(codes, tree.shape, (), tree.axis, tree.levels, parts) for parts, tree in pairs]
        return np.concatenate(blocks)

    def borders(self, counts: Integers, *, rng: Generator) -> tuple[tuple[int, ...], ...]:
        """Return the first level of every cell but the first, of every attribute.

        Args:
            counts: exact numbers of all rows of the candidates, see `level_sums`.
            rng: a secure generator.
        """
        blocks = np.split(counts, np.cumsum(self.candidates)[:-1])
        triples = zip(self.choices, blocks, self.cut, strict=True)
        return tuple(
            _borders(choice.choose(block[None], rng=rng)[0], first_levels(tree.levels, block.size))
            for choice, block, tree in triples
        )

    def cut_at(self, borders: tuple[tuple[int, ...], ...]) -> "QuantileCells":
        """Return the mechanism whose attributes have these cells."""
        strategy = self.groups.strategy
        if not isinstance(strategy, GroupStatistics):
            raise TypeError(f"{type(strategy).__name__} measures no groups")
        by_axis = dict(zip(self.axes, borders, strict=True))
        trees = tuple(
            replace(tree, tree=flat(len(by_axis[tree.axis]) + 1), borders=by_axis[tree.axis])
            if tree.axis in by_axis
            else tree
            for tree in strategy.distributions
        )
        return replace(self, groups=replace(self.groups, strategy=replace(strategy, distributions=trees)))


def _borders(chosen: Integers, starts: Integers) -> tuple[int, ...]:
    """Return where cells begin: after every part that was chosen, and at one that was chosen more than once.

    Where the last part alone was chosen, once, a cell begins at it, so that there are always two.
    """
    parts, times = np.unique(chosen, return_counts=True)
    begun = np.union1d(parts + 1, parts[times > 1])
    within = begun[(begun > 0) & (begun < starts.size - 1)]
    return tuple(starts[within if within.size else parts].tolist())


def flat(cells: int) -> Hierarchy:
    """Return the tree of one level of cells."""
    return Hierarchy(cells, max(2, cells))


def example(loss: Loss, unit: Unit) -> QuantileCells:
    """Return a tiny instance: the groups of `group_statistics.example`, with the cells of their level chosen."""
    strategy = group_statistics.example()
    (tree,) = strategy.distributions
    strategy = replace(strategy, distributions=(replace(tree, tree=flat(2)),))
    half = part_of(loss, CELLS_SHARE)
    groups = MatrixMechanism(strategy=strategy, loss=half, unit=unit)
    choice = ApproximateQuantiles(loss=half, unit=unit, quantiles=tree.quantiles)
    return QuantileCells(groups=groups, choices=(choice,), candidates=(tree.levels,), axes=(tree.axis,))


CARD = Card(
    name="quantile_cells",
    family="discovery",
    model="central",
    paper="foundations: ours; Kaplan, Schnapp, Stemmer 2022 for the cells, Woodruff 1952 for what is read off them",
    summary="Chooses levels near quantiles, then counts rows between them: quantiles with intervals of wide bounds.",
    method=QuantileCells,
    example=example,
)
