"""Tables of any columns that the script of a page lists whole: rows that are sorted, and saved as CSV or JSON.

columns of labels, estimates -> one JSON text that holds no more than the release does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpress.core.maps.linear import Array
from dpress.reporting.packed_numbers import packed
from dpress.reporting.script_json import as_data

MOST_CELLS = 200_000  # of all tables, in a page

List = Mapping[str, Any]
Column = tuple[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a table of a page shows beyond the usual.

    Args:
        heads: of numbers, by their names, on the page and in the file that is saved.
        links: where the texts of a column of labels lead.
        linked: the place of that column.
    """

    heads: Mapping[str, str]
    links: Mapping[str, str]
    linked: int


def listed(
    title: str, labels: Sequence[Column], measured: Mapping[str, Array] | None = None, shown: Shown | None = None
) -> List:
    """Return a table for a page.

    Args:
        title: of the table, and of the files that are saved.
        labels: the columns that say which row it is, with their titles, which need not differ.
        measured: `count` or `value`, `standard_error`, `low` and `high` of every row, each left out where it is in no
            row; missing ones are NaN.
        shown: what else is shown; None where that is nothing.
    """
    columns = [{"name": name, **_short(values)} for name, values in labels]
    if shown is not None and shown.links:
        column = columns[shown.linked]
        column["links"] = [shown.links.get(text, "") for text in column["names"]]
    numbers = {name: packed(values) for name, values in (measured or {}).items()}
    heads = {} if shown is None else {"heads": dict(shown.heads)}
    return {"title": title, "rows": len(labels[0][1]), "labels": columns, "measured": numbers, **heads}


def lists_data(lists: Sequence[List], **beside: Any) -> str | None:
    """Return tables as JSON that can stand in a `script` element; None where they are too long for a page, or empty.

    Args:
        lists: the tables.
        beside: what else the script reads, by its name.
    """
    cells = sum(table["rows"] * (len(table["labels"]) + len(table["measured"])) for table in lists)
    return as_data({"lists": lists, **beside}) if 0 < cells <= MOST_CELLS else None


def _short(values: Sequence[str]) -> dict[str, Any]:
    """Return texts as the different ones, and for every row which one it has."""
    places: dict[str, int] = {}
    at = [places.setdefault(text, len(places)) for text in values]
    return {"names": list(places), "at": at}
