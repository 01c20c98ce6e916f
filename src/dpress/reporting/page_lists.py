"""Tables of any columns that the script of a page lists whole: rows that are sorted, and saved as CSV or JSON.

columns of labels, estimates -> one JSON text that holds no more than the release does.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dpress.core.maps.linear import Array
from dpress.reporting.packed_numbers import packed
from dpress.reporting.page_data import as_data

MOST_CELLS = 200_000  # of all tables, in a page

List = Mapping[str, Any]


def listed(title: str, labels: Mapping[str, Sequence[str]], measured: Mapping[str, Array] | None = None) -> List:
    """Return a table for a page.

    Args:
        title: of the table, and of the files that are saved.
        labels: of the rows, by the name of their column.
        measured: `value`, `standard_error`, `low` and `high` of every row, each left out where it is in no row;
            missing ones are NaN.
    """
    columns = [{"name": name, **_short(values)} for name, values in labels.items()]
    numbers = {name: packed(values) for name, values in (measured or {}).items()}
    return {"title": title, "rows": len(next(iter(labels.values()))), "labels": columns, "measured": numbers}


def lists_data(lists: Sequence[List]) -> str | None:
    """Return tables as JSON that can stand in a `script` element; None where they are too long for a page, or empty."""
    cells = sum(table["rows"] * (len(table["labels"]) + len(table["measured"])) for table in lists)
    return as_data({"lists": lists}) if 0 < cells <= MOST_CELLS else None


def _short(values: Sequence[str]) -> dict[str, Any]:
    """Return texts as the different ones, and for every row which one it has."""
    places: dict[str, int] = {}
    at = [places.setdefault(text, len(places)) for text in values]
    return {"names": list(places), "at": at}
