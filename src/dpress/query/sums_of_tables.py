"""A table that was asked for, as the sums of a larger table that was published.

Published table of all attributes -> table of some of them, with the exact error of its cells.
"""

from collections.abc import Callable

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.methods.mechanism import Weights
from dpress.query.published_tables import PublishedTable


def summed(
    whole: PublishedTable, axes: tuple[int, ...], name: str, query_variance: Callable[[Weights], float]
) -> PublishedTable:
    """Return a marginal of the full table; by symmetry each of its cells has the same variance.

    Args:
        whole: of all attributes, each of whose cells has noise of its own, all of one variance.
        axes: the attributes that are kept, in this order.
        name: of its file.
        query_variance: of the answer to a query given by its weights on every axis, in counts squared.
    """
    first_cell = [np.eye(1, n)[0] if axis in axes else np.ones(n) for axis, n in enumerate(whole.shape)]
    count = _marginal(whole.count, whole.shape, axes)
    return PublishedTable(
        name=name,
        axes=tuple(whole.axes[axis] for axis in axes),
        count=count,
        variance=np.full_like(count, query_variance(first_cell)),
        adjusted=None if whole.adjusted is None else _marginal(whole.adjusted, whole.shape, axes),
        tail=whole.tail,
        most=whole.most,
    )


def _marginal(values: Array, shape: tuple[int, ...], axes: tuple[int, ...]) -> Array:
    """Return the sums over the other axes, flat, with the kept ones in their order."""
    others = tuple(axis for axis in range(len(shape)) if axis not in axes)
    kept = values.reshape(shape).sum(axis=others)
    return np.ascontiguousarray(kept.transpose([sorted(axes).index(axis) for axis in axes])).ravel()
