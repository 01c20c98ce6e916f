"""`group_quantiles`: quantiles of groups that are chosen, beside sums that have noise, under one claim.

rows -> sums of the groups, counts of their levels -> noisy sums, chosen levels.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Claim, Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.losses.any_loss import composed, describe, part_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Numbers
from dpress.core.maps.measurement import SumsAndLevels
from dpress.core.methods.mechanism import Card, Draw, Drawn
from dpress.core.methods.people import Codes
from dpress.core.methods.table_sums import Rows, Sums
from dpress.inference.interval import Tail
from dpress.mechanisms.choice.approximate_quantiles import ApproximateQuantiles
from dpress.mechanisms.linear import group_statistics
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.groups import OverGroups, level_counts
from dpress.mechanisms.linear.matrix_mechanism import COPIES, MatrixMechanism
from dpress.noise.distribution import Noise

Integers = npt.NDArray[np.int64]
EXAMPLE_SHARE = Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenLevels(OverGroups):
    """The quantiles of one attribute in every group.

    Args:
        shape: the number of cells along every axis.
        by: the axes of the groups.
        axis: whose code is the level.
        levels: how many levels there are; codes from there on are none.
        cells: the candidates; level l is in the cell floor(l cells / levels).
        choice: of the cells that are quantiles.
    """

    shape: tuple[int, ...]
    by: tuple[int, ...]
    axis: int
    levels: int
    cells: int
    choice: ApproximateQuantiles

    def __post_init__(self) -> None:
        if not {self.axis, *self.by} <= set(range(len(self.shape))) or self.axis in self.by:
            raise ValueError(f"the groups' axes and the level's must be different axes of {len(self.shape)}")
        if not 1 <= self.cells <= self.levels <= self.shape[self.axis]:
            raise ValueError("a choice needs at most as many cells as there are levels")

    @property
    def summed(self) -> int:
        """How many counts there are."""
        return self.groups * self.cells

    @property
    def chosen(self) -> int:
        """How many cells are published."""
        return self.groups * len(self.choice.quantiles)

    def sums(self, codes: Codes) -> Integers:
        """Return the counts of the cells of some rows, group by group, shape (groups * cells,)."""
        return level_counts(codes, self.shape, self.by, self.axis, self.levels, self.cells)

    def read(self, answers: Numbers) -> Integers:
        """Return published cells, shape (groups, quantiles).

        Raises:
            SchemaMismatch: one is no cell, or quantiles cross.
        """
        cells: Integers = np.asarray(answers).reshape(self.groups, -1)
        if cells.min() < 0 or cells.max() >= self.cells or (np.diff(cells, axis=1) < 0).any():
            raise SchemaMismatch("the chosen levels are none of the attribute, or cross")
        return cells


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupQuantiles:
    """Noisy sums of groups, and quantiles of some attributes that are chosen among their levels.

    Promise: the losses of all steps add up by basic composition, all of one kind, for the same unit: that of the sums
        (`MatrixMechanism`) and those of the choices (`ApproximateQuantiles`). None depends on another's output. Proven.
    Error: of sums that of `MatrixMechanism`; of a quantile that of `ApproximateQuantiles`.
    Source: Kaplan, Schnapp, Stemmer 2022; foundations (composition).

    Args:
        groups: the sums; None where there are quantiles alone.
        chosen: the quantiles, one attribute after the other.
    """

    groups: MatrixMechanism | None
    chosen: tuple[ChosenLevels, ...]

    def __post_init__(self) -> None:
        if not self.chosen:
            raise ValueError("at least one attribute must have chosen quantiles")
        if len({step.unit for step in self.parts}) > 1 or len({step.loss.form for step in self.parts}) > 1:
            raise ValueError("all steps must protect the same unit by losses of one kind")
        groups = {(part.shape, part.by) for part in self.chosen}
        if len(groups | ({(self.strategy.shape, self.strategy.by)} if self.strategy is not None else set())) > 1:
            raise ValueError("all steps must have the same groups")

    @property
    def parts(self) -> tuple[MatrixMechanism | ApproximateQuantiles, ...]:
        """The steps, whose losses add up."""
        first = () if self.groups is None else (self.groups,)
        return (*first, *(quantiles.choice for quantiles in self.chosen))

    @property
    def unit(self) -> Unit:
        """Whom the promise protects."""
        return self.parts[0].unit

    @property
    def claim(self) -> Claim:
        """The promise, added up from those of the steps."""
        claims = [part.claim for part in self.parts]
        loss = composed([claim.proven for claim in claims if claim.proven is not None])
        basis = "; ".join(f"{describe(claim.proven)} by {claim.basis}" for claim in claims)
        return Claim(published=loss, proven=loss, unit=self.unit, basis=basis)

    @property
    def loss(self) -> Loss:
        """What all steps were made for."""
        return composed([part.loss for part in self.parts])

    @property
    def tail(self) -> Tail:
        """How heavy the tail of the sums' noise is."""
        return self.loss.tail

    @property
    def noises(self) -> tuple[Noise, ...]:
        """The noise of every part of the sums."""
        return () if self.groups is None else self.groups.noises

    @property
    def decoder(self) -> "GroupQuantiles":
        """Itself: what is summed over the rows."""
        return self

    @property
    def strategy(self) -> GroupStatistics | None:
        """The sums; None where there are quantiles alone.

        Raises:
            ValueError: they are others than those of groups.
        """
        if self.groups is None:
            return None
        if isinstance(strategy := self.groups.strategy, GroupStatistics):
            return strategy
        raise ValueError("the sums must be those of groups")

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells along every axis."""
        return self.chosen[0].shape

    @property
    def by(self) -> tuple[int, ...]:
        """The axes of the groups."""
        return self.chosen[0].by

    def sums(self, codes: Codes) -> Integers:
        """Return the counts of levels, then the sums of the parts of rows: a kernel of `fold`."""
        first = [] if self.strategy is None else [self.strategy.sums(codes)]
        return np.concatenate([*(quantiles.sums(codes) for quantiles in self.chosen), *first])

    def answers(self, sums: Numbers) -> Numbers:
        """Return what is measured of all rows, then the counts of levels."""
        counts, rest = np.split(sums, [sum(quantiles.summed for quantiles in self.chosen)])
        return counts if self.strategy is None else np.concatenate([self.strategy.answers(rest), counts])

    def prepare(self, rows: Rows) -> Draw:
        """Return what draws the noise of the sums, and the levels; see `CuratorMechanism`."""
        exact = self.counted(rows)
        return lambda rng: Drawn(output=self.draw(exact, rng=rng))

    def numbers_held(self, rows: int) -> int:
        """Return how many numbers are in memory: those of the sums, and the counts of all levels with copies."""
        sums = 0 if self.groups is None else self.groups.numbers_held(rows)
        return sums + COPIES * sum(quantiles.summed + quantiles.chosen for quantiles in self.chosen)

    def counted(self, rows: Rows) -> Numbers:
        """Return the sums' answers without noise, then the counts of levels."""
        strategy = self.strategy
        of_persons = strategy.person_sums if strategy is not None and strategy.persons else None
        return self.exact(self.answers(rows.sums(Sums(of_rows=self.sums, of_persons=of_persons))))

    def exact(self, counts: Numbers) -> Numbers:
        """Return the sums' answers without noise, then the counts of levels; private as the rows are."""
        sums, *levels = self.split(counts)
        return np.concatenate([*([] if self.groups is None else [self.groups.exact(sums)]), *levels])

    def draw(self, exact: Numbers, *, rng: Generator) -> SumsAndLevels:
        """Add noise to the sums, choose the levels, and return both.

        Args:
            exact: see `exact`.
            rng: a secure generator.
        """
        sums, *levels = self.split(exact)
        return SumsAndLevels(
            sums=None if self.groups is None else self.groups.noisy(sums.copy(), rng=rng),
            levels=tuple(
                quantiles.choice.choose(counts.reshape(quantiles.groups, -1), rng=rng)
                for quantiles, counts in zip(self.chosen, levels, strict=True)
            ),
        )

    def measured(self, answers: Numbers) -> SumsAndLevels:
        """Return the noisy sums and the levels that were published.

        Raises:
            ValueError, SchemaMismatch: they are others than this mechanism's.
        """
        sizes = [quantiles.chosen for quantiles in self.chosen]
        if answers.ndim != 1 or len(answers) < sum(sizes):
            raise ValueError(f"answers must have {sum(sizes)} levels, got shape {answers.shape}")
        sums, *levels = np.split(answers, np.cumsum([len(answers) - sum(sizes), *sizes[:-1]]))
        if self.groups is None and len(sums):
            raise ValueError(f"answers must have {sum(sizes)} levels alone, got {len(answers)}")
        return SumsAndLevels(
            sums=None if self.groups is None else self.groups.measured(sums),
            levels=tuple(quantiles.read(numbers) for quantiles, numbers in zip(self.chosen, levels, strict=True)),
        )

    def split(self, exact: Numbers) -> list[Numbers]:
        """Return the sums' answers, then the counts of the levels of every attribute."""
        sizes = [quantiles.summed for quantiles in self.chosen]
        return np.split(exact, np.cumsum([len(exact) - sum(sizes), *sizes[:-1]]))


GroupDecoder = GroupStatistics | GroupQuantiles


def example(loss: Loss, unit: Unit) -> GroupQuantiles:
    """Return a tiny instance: the groups of `group_statistics.example`, and the median of their level."""
    half = part_of(loss, EXAMPLE_SHARE)
    strategy = group_statistics.example()
    choice = ApproximateQuantiles(loss=half, unit=unit)
    shape, by = strategy.shape, strategy.by
    return GroupQuantiles(
        groups=MatrixMechanism(strategy=strategy, loss=half, unit=unit),
        chosen=(ChosenLevels(shape=shape, by=by, axis=1, levels=3, cells=3, choice=choice),),
    )


CARD = Card(
    name="group_quantiles",
    family="statistics",
    model="central",
    paper="foundations: Kaplan, Schnapp, Stemmer 2022, Algorithm 1; basic composition with noisy sums",
    summary="Chooses quantiles of groups among the levels of an attribute, without intervals, beside noisy sums.",
    method=GroupQuantiles,
    example=example,
)
