"""One table for every attribute, each estimated by itself: what frequency oracles give."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.linear import Array, Variance
from dpress.core.measurement import Measurement


@dataclass(frozen=True, slots=True)
class OneWay:
    """Answers a query on one attribute from that attribute's table, and how many took part from their public number.

    Error: sum of weight^2 times the cells' variances. The cells of one table never correlate positively, so that this
    is the exact variance or more for weights of one sign.

    Args:
        shape: the number of cells of every attribute.
        users: how many took part.
    """

    shape: tuple[int, ...]
    users: int

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """One table for every attribute."""
        return tuple((axis,) for axis in range(len(self.shape)))

    def estimate(self, measurement: Measurement) -> tuple[Array, ...]:
        """Return the estimate of every table."""
        return tuple(np.asarray(own, dtype=np.float64) for own in self._split(measurement.answers))

    def cell_variances(self, variance: Variance) -> tuple[Array, ...]:
        """Return the variances of every table."""
        return tuple(self._split(np.broadcast_to(np.asarray(variance, dtype=np.float64), (sum(self.shape),))))

    def answer(self, measurement: Measurement, weights: Sequence[Array]) -> float:
        """Return the sum of one table's cells times their weights."""
        axis = self._asked(weights)
        return float(self.users) if axis is None else float(weights[axis] @ self.estimate(measurement)[axis])

    def query_variance(self, variance: Variance, weights: Sequence[Array]) -> float:
        """Return the sum of one table's variances times the squared weights."""
        axis = self._asked(weights)
        return 0.0 if axis is None else float(weights[axis] ** 2 @ self.cell_variances(variance)[axis])

    def _split(self, values: Array) -> list[Array]:
        return np.split(values, np.cumsum(self.shape)[:-1])

    def _asked(self, weights: Sequence[Array]) -> int | None:
        """Return the one attribute that the query is about; None where it counts everybody."""
        asked = [axis for axis, own in enumerate(weights) if not np.all(own == 1)]
        if len(asked) > 1:
            raise ValueError("each table is about one attribute; ask for one at a time")
        return asked[0] if asked else None
