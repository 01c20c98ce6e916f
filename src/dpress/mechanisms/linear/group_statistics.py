"""`group_statistics`: counts, sums, spreads, shares and quantiles of every group, under shares of one budget."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import LinearMap, Numbers, Stack
from dpress.core.methods.mechanism import Card
from dpress.core.methods.people import Codes
from dpress.core.methods.table_sums import Rows, Sums
from dpress.mechanisms.linear.distinct_values import DistinctValues
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.hierarchy import Hierarchy
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.moment_sums import MomentSums
from dpress.mechanisms.linear.person_sums import PersonSums
from dpress.mechanisms.linear.replicate_sums import ReplicateSums
from dpress.mechanisms.linear.row_weight import RowWeight


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStatistics:
    """Sums over the rows of every group: of moments, or of the nodes of a tree.

    Promise: every part has its share of the loss against its own exact sensitivity, and the shares add up by basic
    composition; see `MatrixMechanism`, `MomentSums`, `GroupDistribution`.
    Error: of counts and sums exact; of means, variances and quantiles, which are ratios, by Fieller's form T - r n,
    whose variance is exact; see `inference.group_moments`.
    Source: ours, on the Laplace mechanism (foundations) and the matrix mechanism.

    Args:
        moments: parts that sum moments; the first parts.
        distributions: parts that count levels, after them.
        persons: parts that count persons and add up their totals, last.
        shares: of the loss, one for each part, adding up to 1.
        replicates: parts that sum deviations of replicate weights, after distributions: one for each of the moments.
        distinct: parts that count different values, after these and before persons.
    """

    moments: tuple[MomentSums, ...]
    distributions: tuple[GroupDistribution, ...] = ()
    persons: tuple[PersonSums, ...] = ()
    shares: tuple[Fraction, ...]
    replicates: tuple[ReplicateSums, ...] = ()
    distinct: tuple[DistinctValues, ...] = ()
    added_later: ClassVar[tuple[str, ...]] = ("persons", "replicates", "distinct")
    copies: ClassVar[int] = 12  # of the sums in memory, at the peak: every statistic has an error and two ends

    def __post_init__(self) -> None:
        if not self.parts or len(self.shares) != len(self.parts):
            raise ValueError(f"{len(self.parts)} parts need as many shares, got {len(self.shares)}")
        if len({(part.shape, part.by) for part in self.parts}) > 1:
            raise ValueError("all parts must have the same groups")
        unweighted = (*self.distinct, *self.persons)
        if len({part.weight for part in self.of_rows}) > 1 or (unweighted and self.weight is not None):
            raise ValueError("all parts must be of rows with the same weight")
        if self.replicates and tuple(each.part for each in self.replicates) != self.moments:
            raise ValueError("replicates must be of the same moments, in their order")

    @property
    def of_rows(self) -> tuple[MomentSums | GroupDistribution | ReplicateSums, ...]:
        """The parts that add up rows, in the order of their answers."""
        return (*self.moments, *self.distributions, *self.replicates)

    @property
    def parts(self) -> tuple[MomentSums | GroupDistribution | ReplicateSums | DistinctValues | PersonSums, ...]:
        """All parts, in the order of their answers."""
        return (*self.of_rows, *self.distinct, *self.persons)

    @property
    def weight(self) -> RowWeight | None:
        """How rows are weighted; None where they are not."""
        return next((part.weight for part in self.of_rows), None)

    @property
    def map(self) -> Stack[LinearMap]:
        """What is measured."""
        return Stack(self.parts)

    @property
    def decoder(self) -> Any:
        """Itself: what is summed over the rows."""
        return self

    @property
    def strategy(self) -> "GroupStatistics":
        """Itself: the sums, beside which quantiles may be chosen."""
        return self

    @property
    def chosen(self) -> tuple[()]:
        """No quantiles are chosen."""
        return ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells along every axis."""
        return self.parts[0].shape

    @property
    def by(self) -> tuple[int, ...]:
        """The axes of the groups."""
        return self.parts[0].by

    def sums(self, codes: Codes) -> npt.NDArray[np.int64]:
        """Return the sums of the parts of rows over some rows, one part after the other: a kernel of `fold`."""
        blocks = [np.zeros(0, dtype=np.int64), *(part.sums(codes) for part in (*self.of_rows, *self.distinct))]
        return np.concatenate(blocks)

    def person_sums(self, codes: Codes, persons: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the sums of the parts of persons, which follow those of rows; see `PersonSums.sums`."""
        return np.concatenate([part.sums(codes, persons) for part in self.persons])

    def counted(self, rows: Rows) -> Numbers:
        """Return what is measured of all rows."""
        of_persons = self.person_sums if self.persons else None
        return self.answers(rows.sums(Sums(of_rows=self.sums, of_persons=of_persons)))

    def answers(self, sums: Numbers) -> Numbers:
        """Return what is measured, of the sums over all rows."""
        blocks = np.split(sums, np.cumsum([part.summed for part in self.parts])[:-1])
        return np.concatenate([part.answers(block) for part, block in zip(self.parts, blocks, strict=True)])

    def resized(self, axis: int, size: int) -> "GroupStatistics":
        """Return the same measurement over groups that have so many cells along one of their axes."""

        def with_size(shape: tuple[int, ...]) -> tuple[int, ...]:
            return (*shape[:axis], size, *shape[axis + 1 :])

        return replace(
            self,
            moments=tuple(replace(part, shape=with_size(part.shape)) for part in self.moments),
            distributions=tuple(replace(part, shape=with_size(part.shape)) for part in self.distributions),
            replicates=tuple(
                replace(each, part=replace(each.part, shape=with_size(each.shape))) for each in self.replicates
            ),
        )


def example(shares: Sequence[str] = ("1/2", "1/4", "1/4")) -> GroupStatistics:
    """Return a tiny instance: two groups, a level from 0 to 2 that may be missing, a condition."""
    shape, by = (2, 4, 2), (0,)
    moments = (
        MomentSums(shape=shape, by=by, degree=2, steps=2, axis=1),
        MomentSums(shape=shape, by=by, degree=1, where=((2, (1,)),)),
    )
    tree = GroupDistribution(
        shape=shape, by=by, axis=1, levels=3, tree=Hierarchy(3, 2), quantiles=(Fraction(1, 4), Fraction(1, 2))
    )
    return GroupStatistics(moments=moments, distributions=(tree,), shares=tuple(map(Fraction, shares)))


CARD = Card(
    name="group_statistics",
    family="linear",
    model="central",
    paper="foundations: the Laplace mechanism for sums; ours: count, sum and squares as shares of one row",
    summary="Counts, sums, means, spreads, shares and quantiles of groups, each under its share of one budget.",
    method=GroupStatistics,
    example=lambda loss, unit: MatrixMechanism(strategy=example(), loss=loss, unit=unit),
)
