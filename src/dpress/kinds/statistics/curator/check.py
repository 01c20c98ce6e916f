"""What becomes of totals and bounds, for whoever holds the rows, before the budget is spent. Exact, so never private.

rows that persons keep -> the total of each person and group, as the mechanism adds it up -> those beyond the bounds;
rows -> counts between the numbers that bounds are chosen from -> draws of bounds -> the rows outside of them.
"""

from dataclasses import dataclass

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.core.basics import rng as generators
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.methods.people import Codes
from dpress.core.methods.table_sums import Edges, Integers, Sums
from dpress.data.person_totals import person_totals
from dpress.data.specification.spec import Spec
from dpress.data.table_rows import TableRows
from dpress.kinds.statistics.curator.first_step import bounds_first, decoder_of, names_first
from dpress.kinds.statistics.curator.sampling import check_replicates, replicate_attributes
from dpress.kinds.statistics.kind import Statistics
from dpress.mechanisms.discovery.bounds_first import ChosenBounds
from dpress.release.plan.parameter_checks import of_kind
from dpress.release.truth.finding import CheckedRows, Finding, share

SHRUNK = 0.2  # of the rows, from which on the error of sampling looks like a mistake
DRAWS = 20  # of bounds
MOST = 0.25  # of the rows, outside of half of the draws, from which on the bounds look like a mistake


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalsCheck:
    """What the bounds of an attribute's totals do.

    Args:
        attribute: whose totals are clipped.
        totals: how many there are: one for each person and group, and one over all where there are groups.
        low: of these below the bounds.
        high: of these above the bounds.
    """

    attribute: str
    totals: int
    low: int
    high: int


def totals_findings(rows: CheckedRows) -> dict[str, Finding]:
    """Return what becomes of the totals of every attribute that has some; nothing where none are asked for.

    Raises:
        OSError, SchemaMismatch: see `person_totals`.
    """
    if "totals" not in rows.spec.release.parameters:
        return {}
    checks = _cut(rows)
    return {"totals": Finding(figures=checks, lines=tuple(map(_lines_of_totals, checks)))}


def _cut(rows: CheckedRows) -> tuple[TotalsCheck, ...]:
    strategy, schema, unit = decoder_of(rows.mechanism).strategy, rows.design.schema, rows.spec.privacy.protected
    parts = () if strategy is None else tuple(part for part in strategy.persons if part.axis is not None)
    if not parts:
        return ()

    def cut(codes: Codes, persons: Integers) -> Integers:
        """Return of every part how many totals there are, below and above their bounds."""
        return np.concatenate([part.cut(codes, persons) for part in parts])

    sums = Sums(of_rows=lambda _: np.zeros(0, dtype=np.int64), of_persons=cut)
    counts = person_totals(schema, sums, rows.source, unit, progress=rows.progress).reshape(-1, 3).tolist()
    return tuple(
        TotalsCheck(attribute=schema.names[part.axis or 0], low=low, high=high, totals=totals)
        for part, (low, high, totals) in zip(parts, counts, strict=True)
    )


def _lines_of_totals(check: TotalsCheck) -> list[str]:
    cut = share(check.low + check.high, check.totals)
    what = f"{check.attribute}: {check.totals:,} totals of persons, in groups and over all"
    return [what, f"  {check.low:,} below their bounds, {check.high:,} above: {cut} would be cut"]


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
    checks = _drawn_bounds(rows)
    faults = tuple(_unsure(check) for check in checks if not check.passed)
    return {"bounds": Finding(figures=checks, lines=tuple(map(_lines_of_bounds, checks)), faults=faults)}


def _drawn_bounds(rows: CheckedRows) -> tuple[BoundsCheck, ...]:
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


def _lines_of_bounds(check: BoundsCheck) -> list[str]:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicatesCheck:
    """What the norm does to rows' replicate weights.

    Args:
        rows: that are read.
        shrunk: of these, rows whose replicates lie further from the weight than the method allows.
    """

    rows: int
    shrunk: int


def replicates_of(spec: Spec) -> tuple[Tabular, ...]:
    """Return the columns of replicate weights as attributes; none where there are none.

    Raises:
        ValueError: they are not as they should be, see `check_replicates`.
    """
    if "replicates" not in spec.release.parameters:
        return ()
    terms = of_kind(spec, Statistics)
    check_replicates(spec.schema, terms)
    return replicate_attributes(spec.schema, terms)[:-1]  # the last is the weight once more


def replicates_findings(rows: CheckedRows) -> dict[str, Finding]:
    """Return how many rows are shrunk, whose error of sampling is understated; nothing without replicates."""
    if "replicates" not in rows.spec.release.parameters or names_first(rows.mechanism) is not None:
        return {}
    strategy = decoder_of(rows.mechanism).strategy
    if strategy is None:
        return {}
    unit = rows.spec.privacy.protected
    table = TableRows(schema=rows.design.schema, source=rows.source, unit=unit, progress=rows.progress)
    try:
        count, shrunk = table.sums(Sums(of_rows=strategy.replicates[0].shrunk)).tolist()
    except SchemaMismatch:  # the attribute says why
        return {}
    words = (
        f"replicates: {shrunk:,} of {count:,} rows ({share(shrunk, count)}) lie further from the weight than "
        "`replicate_method` allows"
    )
    lines = [words, "  these are shrunk, and the error of sampling is understated"] if shrunk else []
    faults = (f"{words}: the error of sampling would be understated",) if shrunk > SHRUNK * count else ()
    figures = ReplicatesCheck(rows=count, shrunk=shrunk)
    return {"replicates": Finding(figures=figures, lines=(lines,) if lines else (), faults=faults)}
