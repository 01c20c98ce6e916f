"""What may be typed next in a session: columns and listed values of the specification, SQL, the session's commands."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpress.attributes.attribute import Tabular
from dpress.data.specification.spec import Spec
from dpress.query.sql.query_in_sql import name_in_sql, text_in_sql

SQL = (
    *("select", "count(*)", "avg(", "sum(", "median(", "from", "where", "and", "or", "not", "in", "between", "like"),
    *("is null", "group by", "order by", "having", "limit", "case when", "then", "else", "end", "filter (where"),
    *("percentile_cont(", "within group (order by", "date_trunc(", "rollup", "grouping sets"),
)
COMMANDS = ("spend", "within", "free", "history", "show", "left", "resume", "help", "quit")
MOST = 1000  # values of a column that are offered
WORD = re.compile(r"[^\s,()<>=;]*\Z")
WANTING = "select|from|where|and|or|not|in|between|like|by|having|when|then|else|case|as|join|using|filter"
UNFINISHED = re.compile(rf"(?:[,=<>+/-]|\b(?:{WANTING}))\s*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word that may stand in the place of the last one.

    Args:
        text: of the word.
        kind: "column", "value of ward", "SQL" or "command".
    """

    text: str
    kind: str


def last_word(before: str) -> str:
    """Return what the cursor stands behind: a text from its open quote on, else all since a space or an operator.

    >>> last_word("where ward = 'ey"), last_word("select count(*) from v where wa"), last_word("a = 'b' ")
    ("'ey", 'wa', '')
    """
    for quote in "'\"":
        if before.count(quote) % 2:
            return before[before.rindex(quote) :]
    return before[len(WORD.sub("", before)) :]


def completions(spec: Spec, before: str) -> list[Word]:
    """Return all that the last word may be: columns, then values, those of the column behind which it stands first.

    Commands are only offered at the beginning.

    Args:
        spec: that lists columns and values.
        before: what was typed up to the cursor.

    >>> from dpress import load_spec
    >>> ward = {"name": "ward", "kind": "categorical", "values": ["eyes", "ear"]}
    >>> spec = load_spec({"attribute": [ward], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}})
    >>> [word.text for word in completions(spec, "select w")], completions(spec, "where ward = 'ey")
    (['ward', 'where', 'within group (order by'], [Word(text="'eyes'", kind='value of ward')])
    """
    start = last_word(before)
    earlier = before[: len(before) - len(start)]
    offered = [*_words(spec, earlier), *((Word(text=word, kind="command") for word in COMMANDS) if not earlier else ())]
    folded = start.casefold()
    return [word for word in dict.fromkeys(offered) if word.text.casefold().startswith(folded)]


def _words(spec: Spec, earlier: str) -> Iterator[Word]:
    columns = spec.schema.tabular
    yield from (Word(text=name_in_sql(column.name), kind="column") for column in columns)
    for column in sorted(columns, key=lambda column: -_place(column, earlier)):
        yield from (Word(text=value, kind=f"value of {column.name}") for value in _values(column))
    yield from (Word(text=word, kind="SQL") for word in sorted(SQL))


def _place(column: Tabular, earlier: str) -> int:
    """Return where a column was named last; -1 where it was not."""
    return max((place.start() for place in re.finditer(rf"\b{re.escape(column.name)}\b", earlier)), default=-1)


def _values(column: Tabular) -> Sequence[str]:
    """Return the listed values of a column as SQL has them; none of numbers and dates, nor where nobody lists them."""
    if column.discovered or column.line is not None:
        return ()
    return [*map(text_in_sql, column.labels_between(0, min(column.size, MOST)))]


def unfinished(text: str) -> bool:
    """Return whether a statement surely goes on: a quote or parenthesis is open, or its last word wants another.

    >>> [unfinished(text) for text in ("select ward,", "select count(", "select a from v where", "left", "spend 1")]
    [True, True, True, False, False]
    """
    if any(text.count(quote) % 2 for quote in "'\""):
        return True
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "''", text)
    return bare.count("(") > bare.count(")") or UNFINISHED.search(bare) is not None
