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
    if any(own.beyond is not None for own in sums) or _counts(sums) > MOST_COUNTS:
        return None
    return {"form": "reports", "sums": [_sum(own) for own in sums]}


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
    found = of_tables(sums)
    if found is None:
        return None
    nested = {
        "starts": [packed(own.astype(np.float64)) for own in starts],
        "variances": [packed(own) for own in variances],
    }
    return {**found, "nested": {**nested, "known": known}, **beside}


def _counts(sums: Sequence[SumForm]) -> int:
    return sum(own.squares.size for own in sums)


def _sum(own: SumForm) -> dict[str, Any]:
    rows = [packed(one) for one in own.rows]
    return {"squares": packed(own.squares), "rows": rows, "between": np.asarray(own.between).tolist()}
