"""What gives the exact variance of weighted sums of counts that devices reported, small enough for a page.

estimator's sums of every table, level or round -> JSON; `script/reports.js` computes the same as its `query_variances`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Places
from dpress.mechanisms.protocol.sum_form import SumForm
from dpress.reporting.error_form import Form
from dpress.reporting.packed_numbers import packed

MOST_COUNTS = 1 << 13  # that sums are of, in a page: half a megabyte


def of_tables(sums: Sequence[SumForm]) -> Form | None:
    """Return the form of counts of separate attributes; None where the page cannot have it.

    Args:
        sums: of every attribute.
    """
    if any(form.beyond is not None for form in sums) or _counts(sums) > MOST_COUNTS:
        return None
    return {"form": "reports", "sums": [_sum(form) for form in sums]}


def of_partitions(
    sums: Sequence[SumForm], starts: Sequence[Places], variances: Sequence[Array], known: float, **beside: Any
) -> Form | None:
    """Return the form of an order's cells that least squares makes of nested partitions; see `nested_partitions`.

    Args:
        sums: of every partition, the coarsest first.
        starts: the first cell of every interval of each.
        variances: of every interval's count, by which least squares weighs it.
        known: the variance of the sum.
        beside: `drawing`: the `shares` of the finest partition and how many were `asked` about each, where rounds'
            drawing is not in the sums.
    """
    form = of_tables(sums)
    if form is None:
        return None
    nested = {
        "starts": [packed(partition.astype(np.float64)) for partition in starts],
        "variances": [packed(spread) for spread in variances],
    }
    return {**form, "nested": {**nested, "known": known}, **beside}


def _counts(sums: Sequence[SumForm]) -> int:
    return sum(form.squares.size for form in sums)


def _sum(form: SumForm) -> dict[str, Any]:
    rows = [packed(row) for row in form.rows]
    return {"squares": packed(form.squares), "rows": rows, "between": np.asarray(form.between).tolist()}
