"""Where chosen bounds would come to lie, for whoever holds the rows, before the budget is spent. Exact: never private.

rows -> counts between the numbers that bounds are chosen from -> draws of bounds -> the rows outside of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpress.attributes.bounded_attribute import Numeric
from dpress.attributes.domain import Schema
from dpress.core.basics import rng as generators
from dpress.data.add_up import Counts
from dpress.mechanisms.discovery.bounds_first import BoundsFirst, ChosenBounds, Edges

DRAWS = 20  # of bounds
MOST = 0.25  # of the rows, outside of half of the draws, from which on the bounds look like a mistake


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsCheck:
    """Bounds of an attribute as they might be chosen.

    Args:
        attribute: whose bounds are chosen.
        rows: that have a value.
        ends: the medians of the lower and of the upper bound.
        outside: the median number of rows outside, and that of the worst draw.
        fewest: rows that are enough to find bounds.
    """

    attribute: str
    rows: int
    ends: tuple[float, float]
    outside: tuple[int, int]
    fewest: int

    @property
    def passed(self) -> bool:
        """Whether the rows are enough, and most of them within the bounds."""
        return self.rows >= self.fewest and self.outside[0] <= MOST * self.rows


def bounds_check(
    mechanism: BoundsFirst, schema: Schema, counted: Mapping[int, tuple[Numeric, Counts]]
) -> tuple[BoundsCheck, ...]:
    """Return what a mechanism would choose, by a few draws.

    Args:
        mechanism: that was planned.
        schema: of the design.
        counted: by axis the intervals between the numbers that bounds are chosen from, and the exact counts of rows.
    """
    generator, checks = generators.secure(), []
    for axis, (between, counts) in counted.items():
        values = np.asarray(counts[: between.ordered], dtype=np.int64)
        found = [mechanism.bounds(values, between.edges, rng=generator) for _ in range(DRAWS)]
        outside = sorted(_outside(own, values, between.edges) for own in found)
        low, high = np.median([own.ends for own in found], axis=0).tolist()
        checks.append(
            BoundsCheck(
                attribute=schema.names[axis],
                rows=int(values.sum()),
                ends=(low, high),
                outside=(outside[DRAWS // 2], outside[-1]),
                fewest=mechanism.fewest,
            )
        )
    return tuple(checks)


def _outside(drawn: ChosenBounds, counts: Counts, edges: Edges) -> int:
    low, high = np.searchsorted(edges, drawn.ends)
    return int(counts[:low].sum() + counts[high:].sum())
