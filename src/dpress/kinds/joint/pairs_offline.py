"""What the page needs to answer queries about one or two attributes that devices reported, without a request."""

from dataclasses import asdict
from typing import Any, Literal

from dpress.mechanisms.joint.pair_spread import PairSum
from dpress.mechanisms.joint.pairs import Pairs
from dpress.query.release import Release
from dpress.reporting.error_form import Form
from dpress.reporting.packed_numbers import packed

MOST_PAIR, MOST_CELLS = 2048, 20_000  # cells of a pair, and of all of them, whose sums a page knows


def form(release: Release) -> Form | Literal["doubled"] | None:
    """Return what gives the variance of a weighted sum of a table's cells; None where the command alone knows it.

    Of tables that each is estimated by itself that is twice what their cells' variances give; see `page_data`.

    `tables`: of every one the `axes`, and `each`, the variance of a share, or `shares` and `parts` as `PairSum` has
    them. Variances are of shares of `everybody`.
    """
    if (collection := release.collection) is None:
        return None
    estimator, tallies = collection.estimator, collection.tallies_in(release.kept)
    if not isinstance(estimator, Pairs):
        return None if estimator.query_variances(tallies) else "doubled"
    sums = estimator.pair_sums(tallies)
    sizes = [pair_sum.shares.size for pair_sum in sums if isinstance(pair_sum, PairSum)]
    if max(sizes, default=0) > MOST_PAIR or sum(sizes) > MOST_CELLS:
        return None
    tables = [{"axes": axes, **_sum(pair_sum)} for axes, pair_sum in zip(estimator.tables, sums, strict=True)]
    return {"form": "pairs", "everybody": collection.users, "tables": tables}


def _sum(pair_sum: PairSum | float) -> dict[str, Any]:
    if not isinstance(pair_sum, PairSum):
        return {"each": pair_sum}
    return {"shares": packed(pair_sum.shares), "parts": [asdict(part) for part in pair_sum.parts]}
