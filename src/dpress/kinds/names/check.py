"""What a selection would find of names in rows that are checked. Exact, so never private."""

from dpress.release.truth.discovered_check import names_findings
from dpress.release.truth.finding import Checking

CHECKING = Checking(findings=names_findings)
