"""What the script of a page reads: attributes, noisy counts, and the linear form of their noise, as JSON.

facts, views, form -> one JSON text that holds no more than the release does.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dpress.core.attribute import Bounded, Tabular
from dpress.core.bounded_attribute import Integer, Number, Numeric
from dpress.core.dated_attribute import Dated
from dpress.inference.consistency import ConsistentTables
from dpress.inference.interval import critical
from dpress.inference.least_squares import LeastSquares
from dpress.inference.separate_tables import SeparateTables
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release.published_tables import CONFIDENCE
from dpress.reporting.error_form import Form, of_collection, of_curator
from dpress.reporting.facts import Facts
from dpress.reporting.packed_numbers import packed
from dpress.reporting.views import LONGEST, View

MOST_CELLS = 1 << 17  # of all tables, in a page


def page_data(facts: Facts, whole: Sequence[View], *, separate: bool = True) -> str | None:
    """Return the data as JSON that can stand in a `script` element; None where the page cannot answer queries.

    That is so of more than 2^17 cells, of dates of more than 4,096, and where no formula gives the error.

    Args:
        facts: of the release.
        whole: the views of its published tables.
        separate: whether the error of a collection's query is that of its separate tables.
    """
    if sum(view.count.size for view in whole) > MOST_CELLS:
        return None
    attributes = [_attribute(one) for one in facts.schema.tabular]
    form = _form(facts, whole, separate=separate)
    if form is None or None in attributes:
        return None
    decoder = facts.mechanism.decoder
    tables = zip(decoder.tables, whole, strict=True)
    found = {
        "attributes": attributes,
        "tables": [{"file": view.file, "axes": axes, "counts": packed(view.count)} for axes, view in tables],
        "noun": facts.noun,
        "critical": critical(CONFIDENCE, facts.tail),
        "users": decoder.users if isinstance(decoder, SeparateTables) else None,
        "error": form,
        "signed": not facts.local,
        "note": facts.query("total").note,
        "symmetric": isinstance(decoder, LeastSquares | ConsistentTables),
    }
    return as_data(found)


def as_data(found: Mapping[str, Any]) -> str:
    """Return JSON that can stand in a `script` element."""
    return json.dumps(found, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _form(facts: Facts, whole: Sequence[View], *, separate: bool) -> Form | None:
    mechanism = facts.mechanism
    if facts.local:
        return of_collection(mechanism.decoder, [view.error for view in whole]) if separate else None
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
