"""What to ask instead of a query that names periods, where every period answers by itself."""

from dataclasses import replace
from shlex import quote

from dpress.query.query_tree import TOTAL, Condition, Query

SQUARES = "; the squares of their standard errors add up to that of the difference"


def single_period(query: Query, dated: str, folder: str) -> str:
    """Return in words what does work: the query without its periods, of all of them or of those that it names.

    Args:
        query: with tests of periods.
        dated: the attribute that has them.
        folder: of the series.

    >>> january = Condition(word="=", attribute="day", values=("2024-01",))
    >>> single_period(Query(of="mean", attribute="cost", where=january), "day", "visits")
    "of all periods `dpress query visits 'mean cost'` answers, of one `dpress query visits/2024-01 'mean cost'`"
    """
    conditions = (query.first, query.second, query.where or TOTAL)
    names = [test.values[0] for part in conditions for test in part.tests if test.attribute == dated and test.values]
    first, where = (_without(part, dated) for part in (query.first, query.where or TOTAL))
    plain = replace(query, first=first, second=TOTAL, where=None if where == TOTAL else where)
    compared = query.of == "difference"
    text = quote(replace(plain, of="count").text if compared else plain.text)
    periods = [*dict.fromkeys(names)][: 1 + compared]
    ones = " and ".join(f"`dpress query {folder}/{period} {text}`" for period in periods)
    behind = SQUARES if compared else ""
    return f"of all periods `dpress query {folder} {text}` answers, of one {ones or 'its folder'}{behind}"


def _without(condition: Condition, dated: str) -> Condition:
    """Return a condition without what names periods."""
    parts = condition.parts if condition.word == "and" else (condition,)
    kept = tuple(part for part in parts if all(test.attribute != dated for test in part.tests))
    return replace(condition, parts=kept) if len(kept) > 1 else kept[0] if kept else TOTAL
