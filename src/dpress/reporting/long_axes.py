"""Axes of many values without an order: the largest stand in a figure, the others together in its caption.

view, what answers of several cells together -> the largest cells along every such axis, and the rest of each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.reporting.views import View

FEW = 30
"""So many values without an order stand in a figure as they are listed; of more the largest."""
TOP = 20
Together = Callable[[str, Sequence[int]], str]
"""From an attribute and some of its cells to their count with its interval, as text; empty where nothing answers it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """The values of an axis that a figure leaves out.

    Args:
        caption: of the axis.
        shown: how many values stand in the figure.
        values: how many the axis has.
        answer: the count of the others together with its interval, as text; empty where nothing answers it.
    """

    caption: str
    shown: int
    values: int
    answer: str


def is_long(view: View) -> bool:
    """Return whether a view is of one axis of many values without an order."""
    return len(view.axes) == 1 and view.axes[0].ordered == 0 and view.axes[0].size > FEW


def largest_first(view: View) -> View:
    """Return such a view with the largest values first; any other as it is."""
    return view.taken(0, np.argsort(-view.count, kind="stable")) if is_long(view) else view


def shortened(view: View, together: Together | None) -> tuple[View, tuple[Rest, ...]]:
    """Return a view with the largest values of every axis of more than 30 without an order, and what it leaves out.

    Which are the largest, the noisy counts decide.
    """
    rests = []
    for place, axis in enumerate(view.axes):
        if axis.ordered or axis.size <= FEW:
            continue
        counts = view.count.sum(axis=tuple(other for other in range(len(view.axes)) if other != place))
        order = np.argsort(-counts, kind="stable")
        answer = together(axis.name, sorted(order[TOP:].tolist())) if together else ""
        rests.append(Rest(caption=axis.caption, shown=TOP, values=axis.size, answer=answer))
        view = view.taken(place, order[:TOP])
    return view, tuple(rests)
