"""Relations of a table against the truth. Exact, so never private.

rows -> moments without noise -> true statistics.
"""

import numpy as np

from dpress.data.table_rows import TableRows
from dpress.inference.interval import critical
from dpress.kinds.statistics.evaluate import Truth, metrics_of
from dpress.kinds.statistics.group_results import GroupResults
from dpress.kinds.statistics.relations.answers import ANSWERING
from dpress.kinds.statistics.relations.estimates import relation_estimates
from dpress.query.published_tables import CONFIDENCE
from dpress.query.release import Release
from dpress.release.truth.evaluate import TrueRows


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return for every statistic the errors over all groups whose rows determine all of them; see `metrics_of`."""
    answers = ANSWERING.of(release)
    table = TableRows(schema=release.schema, source=rows.data, unit=release.claim.unit, progress=rows.progress)
    exact = answers.mechanism.counted(table)
    z = critical(CONFIDENCE, release.tail)
    results = GroupResults(sums=relation_estimates(answers.strategy, release.schema, (exact, 0.0), z=z), chosen={})
    filled = np.all([np.isfinite(results.of(name).value) for name in results.names], axis=0)
    return metrics_of(answers.groups(), Truth(results=results, filled=filled), {})
