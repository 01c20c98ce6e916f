"""What the script of a page reads: attributes, noisy counts, and the linear form of their noise, as JSON.

facts, views, form -> one JSON text that holds no more than the release does.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.interval import critical, half_width
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.query.published_tables import CONFIDENCE
from dpress.reporting.error_form import Form, of_collection, of_curator
from dpress.reporting.facts import Facts
from dpress.reporting.packed_numbers import packed
from dpress.reporting.views import LONGEST, View

MOST_CELLS = 100_000  # of all tables, in a page


class Tiles(TypedDict):
    """The first cell of every tile, of every attribute, and the note on a count that cuts one.

    Those of a count of one attribute `alone`, and of several `together`, whose bounds are taken by `critical` standard
    errors.
    """

    alone: list[list[int]]
    together: list[list[int]]
    critical: float
    note: str


def page_data(
    facts: Facts,
    whole: Sequence[View],
    *,
    separate: bool = True,
    signed: Form | Literal["doubled"] | None = None,
    tiles: Tiles | None = None,
) -> str | None:
    """Return the data as JSON that can stand in a `script` element; None where the page cannot answer queries.

    That is so of dates of more than 4,096, where no formula gives the error, and where no table fits: the smallest
    tables are in the page, up to 100,000 cells in all.

    Args:
        facts: of the release.
        whole: the views of its published tables.
        separate: whether the error of a collection's count is that of its separate tables; else that of `signed`.
        signed: of a collection, the form of sums with weights of any sign; "doubled" where their variance is twice that
            of weights of one sign; None where the page leaves shares and differences to the command.
        tiles: within which people are taken as evenly spread.
    """
    places = _smallest([view.count.size for view in whole])
    attributes = [attribute.for_script(LONGEST) for attribute in facts.schema.tabular]
    decoder = facts.mechanism.decoder
    errors = {place: whole[place].error for place in places}
    form = signed if facts.local and not separate else _form(facts, errors)
    if form is None or not places or None in attributes:
        return None
    data = {
        "attributes": attributes,
        "tables": [_table(whole[place], decoder.tables[place]) for place in places],
        "missing": len(whole) - len(places),
        "noun": facts.noun,
        "critical": critical(CONFIDENCE, facts.tail),
        "users": getattr(facts.mechanism, "users", None) if facts.local else None,
        "error": form,
        "signed": signed if facts.local and separate else True,
        "note": facts.query("total").note,
        "tiles": tiles,
        "symmetric": decoder.symmetric,
    }
    return as_data(data)


def table_data(facts: Facts, view: View) -> str | None:
    """Return the data of one table of one attribute whose queries the page leaves to the command.

    Each cell has its interval as it is stated, which may be corrected for selection. None where the table has more
    than 100,000 cells, a cell has no error, or its interval is not about its count.
    """
    variances = view.error.ravel() ** 2
    if view.count.size > MOST_CELLS or not np.isfinite(variances).all() or view.centre is not None:
        return None
    halves = half_width(variances, CONFIDENCE, facts.tail)
    data = {
        "attributes": [attribute.for_script(LONGEST) for attribute in facts.schema.tabular],
        "tables": [_table(view, [0])],
        "missing": 0,
        "noun": facts.noun,
        "critical": critical(CONFIDENCE, facts.tail),
        "users": None,
        "error": {"form": "cells", "inflation": [], "variances": [packed(variances)]},
        "signed": False,
        "note": None,
        "symmetric": False,
        "asked": False,
        "half": packed(view.half) if np.any(halves != view.half.ravel()) else None,
    }
    return as_data(data)


def as_data(data: Mapping[str, Any]) -> str:
    """Return JSON that can stand in a `script` element."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _smallest(sizes: Sequence[int]) -> list[int]:
    """Return the places of the smallest tables that fit into a page together, in their order."""
    order = np.argsort(sizes, kind="stable")
    fitting = np.cumsum(np.asarray(sizes)[order]) <= MOST_CELLS
    return sorted(order[fitting].tolist())


def _table(view: View, axes: Sequence[int]) -> dict[str, Any]:
    return {"file": view.file, "axes": axes, "counts": packed(view.count)}


def _form(facts: Facts, errors: Mapping[int, Array]) -> Form | None:
    mechanism = facts.mechanism
    if facts.local:
        return of_collection(mechanism.decoder, errors)
    return of_curator(mechanism.decoder, mechanism.variance) if isinstance(mechanism, MatrixMechanism) else None
