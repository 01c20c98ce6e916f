"""Files of reports, read as the tests look at them."""

from collections import Counter
from pathlib import Path

from dpress.core.reports.wire import Expected
from dpress.data.reports.report_batch import Batch
from dpress.data.reports.report_files import read


def read_reports(*paths: Path, expected: Expected) -> tuple[list[Batch], dict[str, int]]:
    """Return the reports of files by type, and how many were left out, by reason."""
    left_out: Counter[str] = Counter()
    found = [batch for piece in read(paths, expected).pieces() for batch in piece.batches(left_out)]
    return found, dict(left_out)
