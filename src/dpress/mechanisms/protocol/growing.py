"""What trees that grow in rounds share: a round's whole counts, and which nodes the next one splits."""

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.reports.oracle import Mask, Oracle, Tally
from dpress.mechanisms.protocol.report_type import per_user

HALF = 2  # a node that was not asked yet may hold this part of the one above it


def whole_counts(oracle: Oracle, tally: Tally) -> Array:
    """Return the estimated counts in whole numbers, all 0 where nobody answered."""
    users = int(tally[-1])
    return np.rint(oracle.estimate(tally[:-1], users).answers) if users else np.zeros(oracle.size)


def split(
    shares: Array, divisible: Mask, oracle: Oracle, users: float, *, sure: float, children: int
) -> tuple[Mask, Array]:
    """Return which nodes of a tree are split, and the shares of what there is then, shape (nodes and new children,).

    Split are those whose share exceeds `sure` standard deviations of that of a node that nobody is in, were so many
    users asked by the oracle.
    """
    which = (shares > sure * np.sqrt(per_user(oracle, 0.0) / users)) & divisible
    return which, np.repeat(np.where(which, shares / HALF, shares), np.where(which, children, 1))
