"""What the script of a page reads: attributes, noisy counts, and the linear form of their noise, as JSON.

facts, views, form -> one JSON text that holds no more than the release does.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpress.core.attribute import Bounded, Tabular
from dpress.core.bounded_attribute import Integer, Number, Numeric
from dpress.core.dated_attribute import Dated
from dpress.core.linear import Array
from dpress.inference.consistency import ConsistentTables
from dpress.inference.interval import critical, half_width
from dpress.inference.least_squares import LeastSquares
from dpress.inference.separate_tables import SeparateTables
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release.published_tables import CONFIDENCE
from dpress.reporting.error_form import Form, of_collection, of_curator
from dpress.reporting.facts import Facts
from dpress.reporting.packed_numbers import packed
from dpress.reporting.views import LONGEST, View

MOST_CELLS = 100_000  # of all tables, in a page


def page_data(facts: Facts, whole: Sequence[View], *, separate: bool = True) -> str | None:
    """Return the data as JSON that can stand in a `script` element; None where the page cannot answer queries.

    That is so of dates of more than 4,096, where no formula gives the error, and where no table fits: the smallest
    tables are in the page, up to 100,000 cells in all.

    Args:
        facts: of the release.
        whole: the views of its published tables.
        separate: whether the error of a collection's query is that of its separate tables.
    """
    places = _smallest([view.count.size for view in whole])
    attributes = [_attribute(one) for one in facts.schema.tabular]
    decoder = facts.mechanism.decoder
    form = _form(facts, {place: whole[place].error for place in places}, separate=separate)
    if form is None or not places or None in attributes:
        return None
    found = {
        "attributes": attributes,
        "tables": [_table(whole[place], decoder.tables[place]) for place in places],
        "missing": len(whole) - len(places),
        "noun": facts.noun,
        "critical": critical(CONFIDENCE, facts.tail),
        "users": decoder.users if isinstance(decoder, SeparateTables) else None,
        "error": form,
        "signed": not facts.local,
        "note": facts.query("total").note,
        "symmetric": isinstance(decoder, LeastSquares | ConsistentTables),
    }
    return as_data(found)


def one_table_data(facts: Facts, view: View) -> str | None:
    """Return the data of one table of one attribute whose queries the page leaves to the command.

    None where the table has more than 100,000 cells, or where an interval is not that of its cell's error alone, as
    when it is corrected for selection.
    """
    variances = view.error.ravel() ** 2
    plain = np.isfinite(variances).all() and view.centre is None
    halves = half_width(variances, CONFIDENCE, facts.tail)
    if view.count.size > MOST_CELLS or not plain or np.any(halves != view.half.ravel()):
        return None
    found = {
        "attributes": [_attribute(one) for one in facts.schema.tabular],
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
    }
    return as_data(found)


def as_data(found: Mapping[str, Any]) -> str:
    """Return JSON that can stand in a `script` element."""
    return json.dumps(found, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _smallest(sizes: Sequence[int]) -> list[int]:
    """Return the places of the smallest tables that fit into a page together, in their order."""
    order = np.argsort(sizes, kind="stable")
    fitting = np.cumsum(np.asarray(sizes)[order]) <= MOST_CELLS
    return sorted(order[fitting].tolist())


def _table(view: View, axes: Sequence[int]) -> dict[str, Any]:
    return {"file": view.file, "axes": axes, "counts": packed(view.count)}


def _form(facts: Facts, errors: Mapping[int, Array], *, separate: bool) -> Form | None:
    mechanism = facts.mechanism
    if facts.local:
        return of_collection(mechanism.decoder, errors) if separate else None
    return of_curator(mechanism.decoder, mechanism.variance) if isinstance(mechanism, MatrixMechanism) else None


def _attribute(own: Tabular) -> dict[str, Any] | None:
    """Return an attribute as the script reads it; None where it is too long."""
    found: dict[str, Any] = {"name": own.name, "caption": own.caption, "size": own.size, "ordered": own.ordered}
    if isinstance(own, Bounded):
        return found | numbers if (numbers := _numbers(own)) else None
    found |= {"kind": "listed", "names": own.labels}
    if own.captions != own.labels:
        found["labels"] = own.captions
    return found | ({"groups": own.groups} if own.groups else {})


def _numbers(own: Number | Dated) -> dict[str, Any] | None:
    short = own.size <= LONGEST
    found: dict[str, Any] = {"names": own.labels} if short else {"missing": next(iter(own.extra), None)}
    if isinstance(own, Integer):
        return found | {"kind": "integer", "bounds": own.bounds}
    if isinstance(own, Numeric):
        return found | {"kind": "numeric"} | ({"bounds": own.ends} if own.cuts is None else {"edges": own.cuts})
    return found | {"kind": "dated", "cyclic": own.cyclic, "edges": own.edges.tolist()} if short else None
