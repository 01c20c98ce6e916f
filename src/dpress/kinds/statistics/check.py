"""What becomes of names, totals, bounds and replicates in rows that are checked. Exact, so never private."""

from dpress.kinds.statistics.curator.check import bounds_findings, replicates_findings, replicates_of, totals_findings
from dpress.release.truth.discovered_check import names_findings
from dpress.release.truth.finding import CheckedRows, Checking, Finding


def findings(rows: CheckedRows) -> dict[str, Finding]:
    """Return what would be found of names, which totals would be cut, where bounds would lie, which rows be shrunk."""
    return {**names_findings(rows), **totals_findings(rows), **bounds_findings(rows), **replicates_findings(rows)}


CHECKING = Checking(findings=findings, beside=replicates_of)
