"""Where chosen bounds would come to lie, for whoever holds the rows, before the budget is spent. Exact: never private.

rows -> counts between the numbers that bounds are chosen from -> draws of bounds -> the rows outside of them.
"""

from dataclasses import dataclass

import numpy as np

from dpress.core.basics import rng as generators
from dpress.core.methods.table_sums import Edges, Integers
from dpress.data.table_rows import TableRows
from dpress.kinds.statistics.curator.measured import bounds_first
from dpress.mechanisms.discovery.bounds_first import ChosenBounds
from dpress.release.truth.finding import CheckedRows, Finding, share

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


def bounds_findings(rows: CheckedRows) -> dict[str, Finding]:
    """Return where bounds that are chosen would lie, by a few draws; nothing where none are."""
    if "private_bounds" not in rows.spec.release.parameters:
        return {}
    checks = _checked(rows)
    faults = tuple(_unsure(check) for check in checks if not check.passed)
    return {"bounds": Finding(figures=checks, lines=tuple(map(_lines, checks)), faults=faults)}


def _checked(rows: CheckedRows) -> tuple[BoundsCheck, ...]:
    mechanism, schema = bounds_first(rows.mechanism), rows.design.schema
    if mechanism is None or mechanism.done:
        return ()
    table = TableRows(schema=schema, source=rows.source, unit=mechanism.unit, progress=rows.progress)
    between = table.between(mechanism.axes, mechanism.edges)
    generator, checks = generators.secure(), []
    for axis, (edges, counts) in between.items():
        drawn = [mechanism.bounds(counts, edges, rng=generator) for _ in range(DRAWS)]
        outside = sorted(_outside(bounds, counts, edges) for bounds in drawn)
        low, high = np.median([bounds.ends for bounds in drawn], axis=0).tolist()
        checks.append(
            BoundsCheck(
                attribute=schema.names[axis],
                rows=int(counts.sum()),
                ends=(low, high),
                outside=(outside[DRAWS // 2], outside[-1]),
                fewest=mechanism.fewest,
            )
        )
    return tuple(checks)


def _outside(drawn: ChosenBounds, counts: Integers, edges: Edges) -> int:
    low, high = np.searchsorted(edges, drawn.ends)
    return int(counts[:low].sum() + counts[high:].sum())


def _lines(check: BoundsCheck) -> list[str]:
    (low, high), (half, most) = check.ends, check.outside
    return [
        f"{check.attribute}: bounds as they might be chosen, by {DRAWS} draws: {low:.10g}..{high:.10g} at the median",
        f"  {half:,} rows ({share(half, check.rows)}) would be outside and count as the bounds, {most:,} at worst",
    ]


def _unsure(check: BoundsCheck) -> str:
    """Return why bounds that are chosen would be of no use."""
    if check.rows < check.fewest:
        enough = f"{check.fewest:,} are enough at this budget"
        return f"{check.attribute}: {check.rows:,} rows are too few to find bounds; {enough}"
    outside = share(check.outside[0], check.rows)
    return f"{check.attribute}: bounds that are chosen would leave {outside} of the rows outside; state the bounds"
