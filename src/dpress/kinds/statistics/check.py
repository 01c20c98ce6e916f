"""What becomes of names, totals and bounds in rows that are checked. Exact, so never private."""

from dpress.kinds.statistics.bounds_check import bounds_found
from dpress.kinds.statistics.totals_check import totals_found
from dpress.release.truth.discovered_check import names_found
from dpress.release.truth.finding import CheckedRows, Checking, Finding


def findings(rows: CheckedRows) -> dict[str, Finding]:
    """Return what would be found of names, which totals would be cut, and where bounds would lie."""
    return {**names_found(rows), **totals_found(rows), **bounds_found(rows)}


CHECKING = Checking(findings=findings)
