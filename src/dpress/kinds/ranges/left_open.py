"""What tiles leave open: a count that cuts tiles lies between counts of whole ones, wherever people are in them.

query -> boxes of whole tiles within and around it -> their counts with errors -> between which counts; an interval.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.interval import Tail, several_critical, whole_counts
from dpress.kinds.ranges.tiles import Tiled, aligned

Count = tuple[float, float]  # an estimate and its variance
Form = Callable[[list[Array]], Count]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOpen:
    """Counts of which a query's is no smaller than any, or no larger than any, in truth.

    Args:
        least: estimates with their variances, of what it is at least.
        most: the same of what it is at most.
        tail: of the estimates' noise.
    """

    least: tuple[Count, ...]
    most: tuple[Count, ...]
    tail: Tail

    @property
    def within(self) -> tuple[float, float]:
        """Between which counts it lies, were there no noise."""
        low = max(value for value, _ in self.least)
        return low, max(low, min(value for value, _ in self.most))

    def interval(self, value: float, confidence: float) -> tuple[float, float]:
        """Return the ends of an interval that holds the count wherever people are in their tiles, and an estimate.

        Which bound is the narrowest the noise decides, so that each holds with a part of what the interval may miss.
        """
        z = several_critical(confidence, len(self.most), self.tail)
        low = max(count - whole_counts(variance, z) for count, variance in self.least)
        high = min(count + whole_counts(variance, z) for count, variance in self.most)
        return min(low, value), max(high, value)


def left_open(tiles: Tiled, weights: list[Array], users: int, form: Form, tail: Tail) -> LeftOpen:
    """Return what a query's count is at least and at most.

    It is no smaller than that of whole tiles within it, and no larger than that of those around it. Of two attributes
    it is no larger than the count of either alone, and with N users no smaller than both added up less N (Frechet).

    Args:
        tiles: that devices report.
        weights: of the query, 0 or 1, along every attribute.
        users: N.
        form: from the weights of a box to its count and variance.
        tail: of its noise.
    """
    least, most = ([form(box)] for box in aligned(tiles, weights))
    axes = [axis for axis, along in enumerate(weights) if not np.all(along == 1)]
    if len(axes) == 2:
        boxes = []
        for place in axes:
            alone = [along if axis == place else np.ones(along.size) for axis, along in enumerate(weights)]
            boxes.append(aligned(tiles, alone))
        (first, spread), (second, other) = (form(inner) for inner, _ in boxes)
        least.append((first + second - users, (math.sqrt(spread) + math.sqrt(other)) ** 2))
        most += [form(outer) for _, outer in boxes]
    return LeftOpen(least=tuple(least), most=tuple(most), tail=tail)
