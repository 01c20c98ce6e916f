"""What post-processing changed: for every table how many cells, the largest change, and the change of the total.

Data flow: names, views -> the names, their biases and rows of text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.inference.postprocess import CONSISTENT, NAMES
from dpress.reporting.page_tables import Table
from dpress.reporting.rounding import MINUS, error, listed, number
from dpress.reporting.views import View

DUST = 1e-6
"""Changes smaller than this, in counts, are rounding of floating-point numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The section on adjusted counts.

    Args:
        names: of the functions, as a phrase, in the order of application.
        biases: every name with its direction in one sentence.
        table: a row for every published table.
        several: there is more than one table.
        agree: all of them agree.
        answers: the adjusted counts are shown, and answer.
    """

    names: str
    biases: tuple[tuple[str, str], ...]
    table: Table
    several: bool
    agree: bool
    answers: bool


def effect(names: Sequence[str], whole: Sequence[View]) -> Effect | None:
    """Return what post-processing did to the published tables, or None where the specification names none."""
    if not names:
        return None
    columns = ("file", "attributes", "cells", "cells changed", "largest change", "change of the total")
    return Effect(
        names=listed(list(names)),
        biases=tuple((name, NAMES[name].bias) for name in names),
        table=Table(
            caption="What adjusting changed", names=columns, labels=2, rows=tuple(_row(view) for view in whole)
        ),
        several=len(whole) > 1,
        agree=CONSISTENT in names,
        answers=all(view.most is not None for view in whole),
    )


def _row(view: View) -> tuple[str, ...]:
    before = view.count if view.most is None or view.centre is None else view.centre
    change = (view.count if view.adjusted is None else view.adjusted) - before
    largest = float(change.flat[np.abs(change).argmax()])
    changed = number(int(np.count_nonzero(np.abs(change) > DUST)))
    return view.file, view.name, number(change.size), changed, _signed(largest), _signed(float(change.sum()))


def _signed(change: float) -> str:
    """Return a change with its sign, two significant digits at least."""
    if abs(change) <= DUST:
        return "0"
    return f"{'+' if change > 0 else MINUS}{error(abs(change))}"
