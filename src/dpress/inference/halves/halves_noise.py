"""The noise of differences between halves: computed for a few of a size, and taken for all that are nearest to them."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Places
from dpress.inference.halves.halvings import Halving

SAMPLED = 24  # parts of a size


@dataclass(frozen=True, slots=True, eq=False)
class HalvesNoise:
    """Variances of the estimated first half less the second.

    Args:
        variance: of the answer to a query, given by its weights on every axis, in counts squared.
        computed: the variances of parts that were met, by their axis and size; tables are halved in several ways,
            and parts of one size differ little from way to way.
    """

    variance: Callable[[list[Array]], float]
    computed: dict[tuple[int, tuple[int, ...]], Array] = field(default_factory=dict)

    def variances(self, halving: Halving) -> Array:
        """Return the variance for every part that is cut, in their order with the cut axis first, flat."""
        others = tuple(len(starts) - 1 for axis, starts in enumerate(halving.starts) if axis != halving.axis)
        shape = (len(halving.cut), *others)
        parts = math.prod(shape)
        sampled = self.computed.get((halving.axis, halving.blocks))
        if sampled is None:
            places = np.unravel_index(np.linspace(0, parts - 1, min(SAMPLED, parts)).astype(int), shape)
            sampled = np.array([self.variance(_difference(halving, part)) for part in zip(*places, strict=True)])
            self.computed[halving.axis, halving.blocks] = sampled
        every = np.arange(parts) * (len(sampled) - 1) / max(parts - 1, 1)
        return np.asarray(sampled[np.rint(every).astype(int)])


def _difference(halving: Halving, part: tuple[Places, ...]) -> list[Array]:
    """Return the weights of the first half less the second of one part, by its place along the cut axis and others."""
    place, rest = halving.cut[part[0]], list(part[1:])
    rest.insert(halving.axis, place)
    weights = []
    for axis, (starts, at) in enumerate(zip(halving.starts, rest, strict=True)):
        along = np.zeros(starts[-1])
        along[starts[at] : starts[at + 1]] = 1.0
        if axis == halving.axis:
            along[halving.middles[at] : starts[at + 1]] = -1.0
        weights.append(along)
    return weights
