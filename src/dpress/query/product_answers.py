"""Means, sums, shares and differences from product queries: what all kinds have in common that answer these.

conditions -> product queries -> `answering` -> weighted sums and pairs of counts, with errors.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.sampling_variance import FIVE_PERCENT, SamplingVariance
from dpress.inference.two_samples import SampledRows, variance_of_means, variance_of_share
from dpress.query import table_forms
from dpress.query.answers import Progress, ReleaseAnswers, Sides
from dpress.query.cell_table import MOST_CELLS, CellTable
from dpress.query.linear_forms import Compared, Group
from dpress.query.query_tree import TOTAL, Condition, Query
from dpress.query.release import Release
from dpress.query.result import Result
from dpress.query.table_forms import ProductSums

if TYPE_CHECKING:
    from dpress.query.cell_relations import Solver


@dataclass(frozen=True, kw_only=True)
class ProductAnswers(ReleaseAnswers):
    """A base of the answers of kinds that answer weights of cells along every attribute.

    Args:
        release: whose kept counts or records are answered from.
    """

    release: Release

    @property
    def of_unbiased(self) -> tuple[str, ...]:
        """That cells are the unbiased ones, where others answer counts."""
        return ()

    @abstractmethod
    def answering(self, weights: list[Array], text: str, progress: Progress | None = None) -> ProductSums:
        """Return who answers queries about the attributes that one weighs, and their weighted sums.

        Args:
            weights: one vector for every attribute, shape (cells,); all ones where it does not matter.
            text: of the query.
            progress: called with the number of fits done, where a fitted joint is fitted again.

        Raises:
            ValueError: nothing answers about these attributes together.
        """
        ...

    def group(self, attribute: str, where: Condition | None, progress: Progress | None = None) -> Group:
        """Return weighted sums of one attribute's cells; see `answers.ReleaseAnswers.group`."""
        return table_forms.group(self.release.schema, partial(self.answering, progress=progress), attribute, where)

    def compared(self, first: Condition, second: Condition, progress: Progress | None = None) -> Compared:
        """Return two counts with their errors; see `answers.ReleaseAnswers.compared`."""
        return table_forms.compared(self.release.schema, partial(self.answering, progress=progress), first, second)

    def cell_table(self, names: Sequence[str], progress: Progress | None = None) -> CellTable:
        """Return the counts of all combinations of some attributes' cells; see `answers.ReleaseAnswers.cell_table`."""
        schema, axes = self.release.schema, tuple(sorted({*self.release.schema.axes(names)}))
        if (cells := math.prod(schema.shape[axis] for axis in axes)) > MOST_CELLS:
            raise ValueError(f"{' x '.join(names)}: {cells:,} cells, at most {MOST_CELLS:,} are read together")
        weights = [np.zeros(size) if axis in axes else np.ones(size) for axis, size in enumerate(schema.shape)]
        source = self.answering(weights, " x ".join(names), progress)
        if (counted := source.cells(axes)) is None:
            raise ValueError(f"how the errors of the cells of {' x '.join(names)} depend on each other is not known")
        counts, covariance = counted
        return CellTable(
            attributes=tuple(schema.tabular[axis] for axis in axes),
            counts=counts,
            covariance=covariance,
            critical=source.critical,
            tail=self.release.tail,
            notes=(*source.notes, *self.of_unbiased),
        )

    def statistic(self, query: Query, text: str, confidence: float) -> Result | None:
        """Answer a relation from the cells of its attributes; None for what follows from counts."""
        if query.of != "relation":
            return None
        from dpress.query.cell_relations import answered  # noqa: PLC0415  # for relations alone

        return answered(query, self._solver, self.release.schema, confidence, text)

    @cached_property
    def _solver(self) -> "Solver":
        """What solves relations, and keeps the last one."""
        from dpress.query.cell_relations import solver  # noqa: PLC0415  # for relations alone

        return solver(self, self.release.schema)

    def terms(self, query: Query) -> Sequence[tuple[tuple[tuple[str, str], ...], Query]]:
        """Return every coefficient of a regression, or number of a test, with the query of it; else the query alone."""
        if query.of != "relation":
            return super().terms(query)
        from dpress.query.cell_relations import parts_of  # noqa: PLC0415  # for relations alone

        return parts_of(self.release.schema, query)

    def correlation(self, sides: Sides, results: tuple[Result, Result]) -> tuple[float | None, tuple[str, ...]]:
        """Return the correlation of the noise of two means, shares or sums; see `ReleaseAnswers.correlation`."""
        return table_forms.correlation(self.release.schema, self.answering, sides, (results[0].value, results[1].value))

    def sampling(self, sides: Sides, results: tuple[Result, Result]) -> SamplingVariance | None:
        """Return the variance of sampling of a difference, of rows that are drawn one by one; None of a quotient."""
        if sides[0].of == "sum":
            return None
        return variance_of_means([self._drawn(*pair) for pair in zip(sides, results, strict=True)])

    def _drawn(self, side: Query, result: Result) -> SampledRows:
        """Return how the rows of a mean or a share vary: as their cells' middles do, or as a condition does."""
        if side.of == "share":
            rows = side.where or TOTAL
            counts = self.compared(rows, rows).pair
            count, error = counts.first, math.sqrt(counts.variances[0])
            variance, most = variance_of_share(result.value, result.interval)
        else:
            group = self.group(side.attribute, side.where)
            squares, spread = group.form(((group.low + group.high) / 2 - result.value) ** 2)
            count, noise = group.form(np.ones(group.low.size))
            error, count = math.sqrt(noise), max(count, 1.0)
            variance, most = squares / count, (squares + FIVE_PERCENT * math.sqrt(spread)) / count
        return SampledRows(variance=variance, most=most, count=count, count_error=error)
