"""Completes what is typed in a session: columns and listed values of the specification, the words of SQL, commands."""

import contextlib
from collections.abc import Iterator

from dpress.data.specification.spec import Spec

WORDS = (
    *("select", "count(*)", "avg(", "sum(", "median(", "from", "where", "and", "or", "not", "in", "between", "like"),
    *("is null", "group by", "order by", "having", "limit", "case when", "then", "else", "end", "filter (where"),
    *("percentile_cont(", "within group (order by", "date_trunc(", "rollup", "grouping sets"),
    *("spend", "within", "free", "history", "show", "left", "resume", "help", "quit"),
)
ENDS = " \t\n,()<>=;"  # that a word begins behind
MOST = 1000  # values of a column that are offered


def completions(spec: Spec, start: str) -> list[str]:
    """Return all that a word may be that begins so: columns first, then values in quotes, then words.

    >>> from dpress import load_spec
    >>> ward = {"name": "ward", "kind": "categorical", "values": ["eyes", "ear"]}
    >>> spec = load_spec({"attribute": [ward], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}})
    >>> completions(spec, "w"), completions(spec, "'e")
    (['ward', 'where', 'within', 'within group (order by'], ["'eyes'", "'ear'"])
    """
    columns = [column.name for column in spec.schema.tabular]
    values = [
        "'" + label.replace("'", "''") + "'"
        for column in spec.schema.tabular
        if not column.discovered and column.line is None
        for label in column.labels_between(0, min(column.size, MOST))
    ]
    folded = start.casefold()
    return [word for word in dict.fromkeys((*columns, *values, *sorted(WORDS))) if word.casefold().startswith(folded)]


@contextlib.contextmanager
def completing(spec: Spec) -> Iterator[None]:
    """Complete what is typed meanwhile by the tabulator, where Python has readline; nothing of it is kept."""
    try:
        import readline  # noqa: PLC0415  # not on every system
    except ImportError:
        yield
        return
    before, ends = readline.get_completer(), readline.get_completer_delims()
    readline.set_completer(lambda text, place: dict(enumerate(completions(spec, text))).get(place))
    readline.set_completer_delims(ENDS)
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_completer(before)
        readline.set_completer_delims(ends)
