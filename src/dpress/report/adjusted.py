"""What post-processing changed: for every table how many cells, the largest change, and the change of the total.

Data flow: release, views -> the names, their biases and rows of text.
"""

from dataclasses import dataclass

import numpy as np

from dpress.inference.postprocess import NAMES
from dpress.release.release import Release
from dpress.report.rounding import MINUS, error, listed, number
from dpress.report.tables import Table
from dpress.report.views import View

DUST = 1e-6
"""Changes smaller than this, in counts, are rounding of floating-point numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The section on adjusted counts.

    Args:
        names: of the functions, as a phrase, in the order of application.
        several: there is more than one, so that the order matters.
        biases: every name with its direction in one sentence.
        table: a row for every published table.
    """

    names: str
    several: bool
    biases: tuple[tuple[str, str], ...]
    table: Table


def effect(release: Release, whole: list[View]) -> Effect | None:
    """Return what post-processing did to the published tables, or None where the specification names none."""
    names = release.spec.release.postprocess
    if not names:
        return None
    columns = ("file", "attributes", "cells", "cells changed", "largest change", "change of the total")
    note = "Several tables are adjusted each by itself, so that adjusted tables need not agree with one another."
    rows = tuple(_row(view) for view in whole)
    return Effect(
        names=listed(list(names)),
        several=len(names) > 1,
        biases=tuple((name, NAMES[name].bias) for name in names),
        table=Table(names=columns, labels=2, rows=rows, note=note if len(rows) > 1 else ""),
    )


def _row(view: View) -> tuple[str, ...]:
    change = (view.count if view.adjusted is None else view.adjusted) - view.count
    largest = float(change.flat[np.abs(change).argmax()])
    changed = number(int(np.count_nonzero(np.abs(change) > DUST)))
    return view.file, view.name, number(change.size), changed, _signed(largest), _signed(float(change.sum()))


def _signed(change: float) -> str:
    """Return a change with its sign, two significant digits at least."""
    if abs(change) <= DUST:
        return "0"
    return f"{'+' if change > 0 else MINUS}{error(abs(change))}"
