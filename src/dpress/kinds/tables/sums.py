"""A marginal table as the sums of a larger table that was published.

View of all attributes -> view of some of them, with the exact error of its cells.
"""

import math
from collections.abc import Callable

import numpy as np

from dpress.core.mechanism import Weights
from dpress.inference.interval import half_width
from dpress.release.published_tables import CONFIDENCE
from dpress.report.views import View


def summed(whole: View, axes: tuple[int, ...], query_variance: Callable[[Weights], float]) -> View:
    """Return a marginal of the full table; by symmetry each of its cells has the same variance.

    Args:
        whole: of all attributes.
        axes: the attributes that are kept, in this order.
        query_variance: of the answer to a query given by its weights on every axis, in counts squared.
    """
    others = tuple(axis for axis in range(len(whole.axes)) if axis not in axes)
    sizes = [axis.size for axis in whole.axes]
    spread = query_variance([np.eye(1, n)[0] if axis in axes else np.ones(n) for axis, n in enumerate(sizes)])
    count = whole.count.sum(axis=others)
    half, error = (np.full_like(count, x) for x in (half_width(spread, CONFIDENCE, whole.tail), math.sqrt(spread)))
    view = View(
        axes=tuple(whole.axes[axis] for axis in sorted(axes)),
        count=count,
        half=half,
        error=error,
        adjusted=None if whole.adjusted is None else whole.adjusted.sum(axis=others),
        file=whole.file,
        derived=True,
        tail=whole.tail,
    )
    return view.transposed(tuple(sorted(axes).index(axis) for axis in axes))
