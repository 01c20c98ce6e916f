"""Where chosen bounds would come to lie, for whoever holds the rows, before the budget is spent. Exact: never private.

rows -> counts between the numbers that bounds are chosen from -> draws of bounds -> the rows outside of them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpress.core import rng as generators
from dpress.core.domain import Schema
from dpress.core.mechanism import Mechanism
from dpress.data.add_up import Counts, Progress
from dpress.mechanisms.discovery.bounds_first import BoundsFirst, ChosenBounds, Edges
from dpress.release.bounded import chosen, interval_counts

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
    mechanism: Mechanism, schema: Schema, source: Any, *, progress: Progress | None = None
) -> tuple[BoundsCheck, ...]:
    """Return what a mechanism would choose, by a few draws; nothing where it chooses no bounds, or has chosen them.

    Args:
        mechanism: that was planned.
        schema: of the design.
        source: the rows, as `open_source` takes or returns them.
        progress: called with the number of rows done so far.

    Raises:
        OSError, SchemaMismatch: see `interval_counts`.
    """
    if not isinstance(mechanism, BoundsFirst) or mechanism.done:
        return ()
    generator, checks = generators.secure(), []
    for axis, (between, counts) in interval_counts(schema, mechanism, source, progress).items():
        found = [chosen(mechanism, between, counts, rng=generator) for _ in range(DRAWS)]
        values = np.asarray(counts[: between.ordered])
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
