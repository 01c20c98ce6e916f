"""How many persons' totals their bounds cut, for whoever holds the rows, before the budget is spent. Never private.

rows that persons keep -> the total of each person and group, as the mechanism adds it up -> those beyond the bounds.
"""

from dataclasses import dataclass

import numpy as np

from dpress.core.methods.people import Codes
from dpress.core.methods.table_sums import Integers, Sums
from dpress.data.person_totals import person_totals
from dpress.kinds.statistics.curator.measured import decoder_of
from dpress.release.truth.finding import CheckedRows, Finding, share


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
    checks = _checked(rows)
    return {"totals": Finding(figures=checks, lines=tuple(map(_lines, checks)))}


def _checked(rows: CheckedRows) -> tuple[TotalsCheck, ...]:
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


def _lines(check: TotalsCheck) -> list[str]:
    cut = share(check.low + check.high, check.totals)
    what = f"{check.attribute}: {check.totals:,} totals of persons, in groups and over all"
    return [what, f"  {check.low:,} below their bounds, {check.high:,} above: {cut} would be cut"]
