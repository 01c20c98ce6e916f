"""Several tables, each estimated by itself, as frequency oracles and the fits to their reports give them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpress.core.maps.linear import Array, Marginal, Stack, Variance
from dpress.core.maps.measurement import Measurement


@dataclass(frozen=True, slots=True)
class SeparateTables:
    """Answers a query from the smallest table that holds its attributes, and how many took part from their number.

    Error: sum of weight^2 times the cells' variances, times the table's inflation where the query adds up several
    cells: at least the exact variance for weights of one sign. The cells of one table do not correlate positively
    (inflation 1) unless an oracle says by how much they may.

    Args:
        shape: the number of cells of every attribute.
        tables: the axes of every table, rising.
        users: how many took part.
        inflation: of every table; empty where all are 1.
    """

    shape: tuple[int, ...]
    tables: tuple[tuple[int, ...], ...]
    users: int
    inflation: tuple[float, ...] = ()
    symmetric: ClassVar[bool] = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of cells of every table."""
        return tuple(math.prod(self.shape[axis] for axis in axes) for axes in self.tables)

    def estimate(self, measurement: Measurement) -> tuple[Array, ...]:
        """Return the estimate of every table, flat."""
        return tuple(np.asarray(table, dtype=np.float64) for table in self._split(measurement.answers))

    def cell_variances(self, variance: Variance) -> tuple[Array, ...]:
        """Return the variances of every table, flat."""
        return tuple(self._split(np.broadcast_to(np.asarray(variance, dtype=np.float64), (sum(self.sizes),))))

    def answer(self, measurement: Measurement, weights: Sequence[Array]) -> float:
        """Return the sum of one table's cells times their weights."""
        place = self.place(weights)
        return (
            float(self.users)
            if place is None
            else float(self._query(place, weights) @ self.estimate(measurement)[place])
        )

    def query_variance(self, variance: Variance, weights: Sequence[Array]) -> float:
        """Return the sum of one table's variances times the squared weights, inflated."""
        place = self.place(weights)
        if place is None:
            return 0.0
        query = self._query(place, weights)
        used = query != 0  # of cells that are not asked for nothing need be known
        several = np.count_nonzero(used) > 1 and bool(self.inflation)
        added = float(query[used] ** 2 @ self.cell_variances(variance)[place][used])
        return added * (self.inflation[place] if several else 1.0)

    def form_covariance(self, variance: Variance, axes: tuple[int, ...]) -> None:
        """Return nothing: how cells depend on each other is their oracle's and their estimator's to say."""
        del variance, axes

    def _query(self, place: int, weights: Sequence[Array]) -> Array:
        query = np.ones(1)
        for axis in self.tables[place]:
            query = np.multiply.outer(query, weights[axis]).ravel()
        return query

    def _split(self, values: Array) -> list[Array]:
        return np.split(values, np.cumsum(self.sizes)[:-1])

    def place(self, weights: Sequence[Array]) -> int | None:
        """Return which table answers a query, the smallest about its attributes; None where it counts everybody.

        Raises:
            ValueError: none holds them together.
        """
        axes = {axis for axis, values in enumerate(weights) if not np.all(values == 1)}
        if not axes:
            return None
        holding = [(size, place) for place, size in enumerate(self.sizes) if axes <= set(self.tables[place])]
        if not holding:
            raise ValueError("no table holds these attributes together; ask for fewer at a time")
        return min(holding)[1]


def stacked(
    shape: tuple[int, ...], tables: Sequence[tuple[int, ...]], counts: Sequence[Array], variances: Sequence[Array]
) -> Measurement:
    """Return separate tables as one measurement, one after the other.

    Args:
        shape: the number of cells of every attribute.
        tables: the axes of every table.
        counts: of every table, flat.
        variances: of every count.
    """
    maps = Stack(tuple(Marginal(shape, axes) for axes in tables))
    return Measurement(map=maps, answers=np.concatenate(counts), variance=np.concatenate(variances))
