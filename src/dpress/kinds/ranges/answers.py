"""Answers of a release of ranges of one attribute, or boxes of several: also very many at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dpress.core.mechanism import BoxDecoder
from dpress.core.ranges import Places, Ranges
from dpress.inference.interval import half_width
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.product import box_variances
from dpress.release.linear_error import predicted
from dpress.release.release import CONFIDENCE
from dpress.release.table_answers import TableAnswers, collected, measured, restored

__all__ = ["Answers", "collected", "measured", "predicted", "restored"]


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
        mechanism, decoder, shape = self._mechanism, self.box_decoder, self.release.schema.shape
        ends = [_ends(name, end, len(shape)) for name, end in (("left", left), ("right", right))]
        if ends[0].shape != ends[1].shape:
            raise ValueError(f"left and right must have one shape, got {np.shape(left)} and {np.shape(right)}")
        ranges = [Ranges(size, ends[0][:, axis], ends[1][:, axis]) for axis, size in enumerate(shape)]
        count = decoder.box_answers(self.measurement, ranges)
        variance = box_variances(mechanism.strategy, ranges, [noise.variance for noise in mechanism.noises])
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

    @property
    def _mechanism(self) -> MatrixMechanism:
        mechanism = self.release.mechanism
        if not isinstance(mechanism, MatrixMechanism):
            raise TypeError(f"{type(mechanism).__name__} measures no ranges")
        return mechanism


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
