"""Answers of a release of ranges of one attribute, or boxes of several: also very many at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dpress.core.linear import Array
from dpress.core.mechanism import BoxDecoder, Mechanism
from dpress.core.ranges import Places, Ranges
from dpress.core.workload import Areas, Boxes, Workload
from dpress.inference.interval import half_width
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.product import box_variances
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.ranges.level_tree import LevelTree
from dpress.release import linear_error
from dpress.release.release import CONFIDENCE
from dpress.release.table_answers import TableAnswers, collected, live, measured, restored

__all__ = ["Answers", "collected", "live", "measured", "predicted", "restored"]


@dataclass(frozen=True, kw_only=True)
class Answers(TableAnswers):
    """The table of all cells, and ranges."""

    def query_ranges(self, left: Any, right: Any, *, confidence: float = CONFIDENCE) -> pa.Table:
        """Answer many ranges, or boxes, at once.

        Error: exact, as for `query`; a million ranges take about a second.

        Args:
            left: the first cells, counted from 1, integers of shape (m,); for several attributes (m, attributes).
            right: the last cells, included, of the same shape.
            confidence: of the intervals.

        Returns:
            A table with the columns count, standard_error, low and high.

        Raises:
            ValueError: another shape; or a range is reversed or ends outside the cells, and the message names its
                number.
        """
        decoder, shape = self.box_decoder, self.release.schema.shape
        ends = [_ends(name, end, len(shape)) for name, end in (("left", left), ("right", right))]
        if ends[0].shape != ends[1].shape:
            raise ValueError(f"left and right must have one shape, got {np.shape(left)} and {np.shape(right)}")
        ranges = [Ranges(size, ends[0][:, axis], ends[1][:, axis]) for axis, size in enumerate(shape)]
        count, variance = decoder.box_answers(self.measurement, ranges), self.box_variances(ranges)
        half = half_width(variance, confidence, self.release.tail)
        columns = {"count": count, "standard_error": np.sqrt(variance), "low": count - half, "high": count + half}
        return pa.table(columns)

    @property
    def box_decoder(self) -> BoxDecoder:
        """How many boxes are answered at once."""
        decoder = self.decoder
        if not isinstance(decoder, BoxDecoder):
            raise TypeError(f"{type(decoder).__name__} answers no boxes")
        return decoder

    def box_variances(self, ranges: list[Ranges]) -> Array:
        """Return the variance of the answer to every box, in counts squared, shape (m,)."""
        mechanism = self.release.mechanism
        if isinstance(mechanism, MatrixMechanism):
            return box_variances(mechanism.strategy, ranges, [noise.variance for noise in mechanism.noises])
        (own,) = ranges
        return np.array([self.query_variance([own.weights(place)]) for place in range(own.size)])

    def query_variance(self, weights: list[Array]) -> float:
        """Return the variance of the answer to a query: of a collection with how its counts depend on one another."""
        if isinstance(self.release.mechanism, MatrixMechanism):
            return super().query_variance(weights)
        return self.variance(weights)


def predicted(mechanism: Mechanism, workload: Workload | Areas) -> float | None:
    """Return the mean variance of a range over a workload, in counts squared; of a collection for even shares."""
    if isinstance(mechanism, Collection) and isinstance(mechanism.estimator, LevelTree) and isinstance(workload, Boxes):
        return mechanism.estimator.axis_variance(workload.axes[0], mechanism.users)
    return linear_error.predicted(mechanism, workload)


def _ends(name: str, ends: Any, attributes: int) -> Places:
    """Return the ends of many boxes, shape (m, attributes)."""
    try:
        found = np.asarray(ends)
    except ValueError:
        raise ValueError(f"{name}: the rows of the list have different lengths") from None
    if found.size == 0:
        return np.zeros((0, attributes), dtype=np.int64)
    if attributes == 1 and found.ndim == 1:
        return found[:, None]
    if found.ndim != 2 or found.shape[1] != attributes:
        wanted = "(m,) for one attribute" if attributes == 1 else f"(m, {attributes}) for {attributes} attributes"
        raise ValueError(f"{name} must have the shape {wanted}, got {found.shape}")
    return found
