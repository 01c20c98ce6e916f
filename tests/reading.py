"""Files of reports, read as the tests look at them."""

from collections import Counter
from pathlib import Path

import pyarrow as pa

from dpress.core.reports.wire import Expected, Report
from dpress.data.reports.report_batch import SCHEMA, Batch
from dpress.data.reports.report_files import read


def read_reports(*paths: Path, expected: Expected) -> tuple[list[Batch], dict[str, int]]:
    """Return the reports of files by type, and how many were left out, by reason."""
    left_out: Counter[str] = Counter()
    found = [batch for piece in read(paths, expected).pieces() for batch in piece.batches(left_out)]
    return found, dict(left_out)


def table_of(reports: list[Report]) -> pa.Table:
    """Return single reports as the table that a file of reports holds."""
    columns = {name: [getattr(report, name) for report in reports] for name in SCHEMA.names}
    return pa.table(columns, schema=SCHEMA)
