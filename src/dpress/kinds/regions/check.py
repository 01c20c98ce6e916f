"""Whether rows have the totals that are stated as public, for whoever holds them. Exact: never private.

rows -> rows of every region -> at every level with stated totals the regions that miss theirs.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.maps.linear import Numbers
from dpress.data.true_counts import true_counts
from dpress.kinds.regions.kind import Regions
from dpress.mechanisms.linear.region_tables import PublicTotals, RegionTables
from dpress.release.plan.parameter_checks import of_kind
from dpress.release.truth.finding import CheckedRows, Checking, Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalsCheck:
    """How many regions of a level have other rows than their public total says.

    Args:
        level: its name.
        regions: how many it has.
        missed: how many of them miss their total.
        first: the code of the first of these, with what is stated and what is counted; None where there is none.
    """

    level: str
    regions: int
    missed: int
    first: tuple[str, int, int] | None


def findings(rows: CheckedRows) -> dict[str, Finding]:
    """Return what became of stated totals; nothing where none are, or the rows would be refused.

    Raises:
        OSError: see `true_counts`.
    """
    if not of_kind(rows.spec, Regions).invariants:
        return {}
    mechanism, schema = cast("RegionTables", rows.mechanism), rows.design.schema
    stated = [totals for totals in mechanism.public if totals.counts]
    try:
        leaves = true_counts(schema, [(0,)], rows.source, mechanism.claim.unit, progress=rows.progress)
    except SchemaMismatch:  # the check says of which attribute the rows would be refused
        return {}
    counts = mechanism.strategy.spine.up(leaves.astype(np.float64))
    checks = tuple(_compared(totals, counts[totals.depth], schema.tabular[0]) for totals in stated)
    if not checks:
        return {}
    faults = tuple(_fault(check) for check in checks if check.first is not None)
    return {"public_totals": Finding(figures=checks, lines=([*map(_line, checks)],), faults=faults)}


def _compared(totals: PublicTotals, counts: Numbers, place: Tabular) -> TotalsCheck:
    """Return how the totals of a level compare with the rows of its regions, shape (regions,)."""
    missed = np.flatnonzero(counts != np.array(totals.counts))
    first = None
    if missed.size:
        region = int(missed[0])
        (code,) = place.coarsened(totals.level).labels_between(region, region + 1)
        first = (code, totals.counts[region], int(counts[region]))
    return TotalsCheck(level=totals.level, regions=counts.size, missed=missed.size, first=first)


def _line(check: TotalsCheck) -> str:
    right = check.regions - check.missed
    return f"{check.level}: {right:,} of {check.regions:,} regions have as many rows as their public total states"


def _fault(check: TotalsCheck) -> str:
    code, stated, counted = cast("tuple[str, int, int]", check.first)
    missed = f"{check.missed:,} of {check.regions:,} regions have other rows than their public total states"
    return f"{check.level}: {missed}, the first of them {code}, {counted:,} where {stated:,} are stated"


CHECKING = Checking(findings=findings)
