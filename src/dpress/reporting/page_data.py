"""What the script of a page reads: attributes, noisy counts, and the linear form of their noise, as JSON.

facts, views, form -> one JSON text that holds no more than the release does.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.interval import critical
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.query.published_tables import CONFIDENCE
from dpress.reporting.error_form import Form, of_collection, of_curator
from dpress.reporting.facts import Facts
from dpress.reporting.packed_numbers import packed
from dpress.reporting.script_json import as_data
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


def page_data(facts: Facts, whole: Sequence[View], **options: Any) -> str | None:
    """Return `answering_data` as JSON for a `script` element; None where there is none, or numbers are hidden."""
    data = answering_data(facts, whole, **options) if facts.display.whole else None
    return None if data is None else as_data(data)


def answering_data(
    facts: Facts,
    whole: Sequence[View],
    *,
    separate: bool = True,
    signed: Form | Literal["doubled"] | None = None,
    tiles: Tiles | None = None,
    fitted: bool = False,
    examples: Sequence[str] = (),
) -> dict[str, Any] | None:
    """Return what a page answers queries with, as plain objects; None where it cannot.

    That is so of dates of more than 4,096, where no formula gives the error, and where no table fits: the smallest
    tables are in the page, up to 100,000 cells in all.

    Args:
        facts: of the release.
        whole: the views of its published tables.
        separate: whether the error of a collection's count is that of its separate tables; else that of `signed`.
        signed: of a collection, the form of sums with weights of any sign; "doubled" where their variance is twice that
            of weights of one sign; None where the page leaves shares and differences to the command.
        tiles: within which people are taken as evenly spread.
        fitted: whether the command answers what no table holds by what was fitted to all of them.
        examples: queries that the page begins with; left out, it makes some.
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
        "fitted": fitted,
        "symmetric": decoder.symmetric,
    }
    if examples:
        data["examples"] = examples
    if (most := whole[places[0]].most) is not None:
        data["most"] = most
    return data


def _smallest(sizes: Sequence[int]) -> list[int]:
    """Return the places of the smallest tables that fit into a page together, in their order."""
    order = np.argsort(sizes, kind="stable")
    fitting = np.cumsum(np.asarray(sizes)[order]) <= MOST_CELLS
    return sorted(order[fitting].tolist())


def _table(view: View, axes: Sequence[int]) -> dict[str, Any]:
    plain = {"file": view.file, "axes": axes}
    if view.most is None or view.centre is None:
        return plain | {"counts": packed(view.count)}
    return plain | {"counts": packed(view.centre), "adjusted": packed(view.count)}


def _form(facts: Facts, errors: Mapping[int, Array]) -> Form | None:
    mechanism = facts.mechanism
    if facts.local:
        return of_collection(mechanism.decoder, errors)
    return of_curator(mechanism.decoder, mechanism.variance) if isinstance(mechanism, MatrixMechanism) else None
