"""SQL and the query language ask the same: random queries of every stored release, of every kind, in both."""

import functools
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.query.sql import as_sql

from dpress import Release, load_release
from dpress.attributes.attribute import Tabular
from dpress.query.query_tree import TOTAL, Condition, Query

STORED = Path(__file__).parents[2] / "formats" / "stored"
RELEASES = sorted(path.parent.parent.name for path in STORED.glob("*/release/release.json"))
EXAMPLES, EXAMPLES_OF_FITS = 12, 2  # where every answer fits a joint again
FEW = 4  # groups
OF = ("count", "mean", "sum", "quantile", "share", "ratio", "difference")


@functools.cache
def stored(name: str) -> Release:
    return load_release(STORED / name / "release")


@st.composite
def comparisons(draw: st.DrawFn, columns: tuple[Tabular, ...]) -> Condition:
    """A test of one attribute, by the names of its cells; none of a negation where values may be missing."""
    column = draw(st.sampled_from(columns))
    labels = column.labels_between(0, min(column.size, 50))
    words = ["=", "in"] + (["missing"] if column.missing_cell is not None else ["!="])
    words += ["between", ">=", "<="] if column.ordered > 1 else []
    word = draw(st.sampled_from(words))
    if word == "missing":
        return Condition(word="missing", attribute=column.name)
    if word == "between":
        places = sorted(draw(st.tuples(*[st.integers(0, min(column.ordered, 50) - 1)] * 2)))
        return Condition(word="between", attribute=column.name, values=tuple(labels[place] for place in places))
    if word == "in":
        values = draw(st.lists(st.sampled_from(labels), min_size=1, max_size=3, unique=True))
        return Condition(word="in", attribute=column.name, values=tuple(values))
    return Condition(word=word, attribute=column.name, values=(draw(st.sampled_from(labels)),))


def conditions(columns: tuple[Tabular, ...]) -> st.SearchStrategy[Condition]:
    """Up to three tests, joined."""
    test = comparisons(columns)
    whole = tuple(column for column in columns if column.missing_cell is None)
    negated = comparisons(whole).map(lambda part: Condition(word="not", parts=(part,))) if whole else test
    joined = st.builds(
        lambda word, parts: Condition(word=word, parts=tuple(parts)),
        st.sampled_from(["and", "or"]),
        st.lists(test | negated, min_size=2, max_size=3),
    )
    return test | negated | joined


@st.composite
def queries(draw: st.DrawFn, release: Release) -> Query:
    columns = tuple(release.answers.columns or release.schema.tabular)
    rows = conditions(columns)
    of = draw(st.sampled_from(OF))
    numbers, short = [column.name for column in columns], [column.name for column in columns if column.size <= FEW]
    return Query(
        of=of,
        attribute=draw(st.sampled_from(numbers)) if of in ("mean", "sum", "quantile") else "",
        level=draw(st.sampled_from([0.5, 0.25, 0.9])) if of == "quantile" else 0.5,
        first=draw(rows)
        if of in ("share", "ratio", "difference") or (of == "count" and draw(st.booleans()))
        else TOTAL,
        second=draw(rows) if of in ("ratio", "difference") else TOTAL,
        where=draw(st.none() | rows),
        by=tuple(draw(st.lists(st.sampled_from(short), max_size=1))) if short else (),
    )


def by_query(release: Release, query: Query) -> list[list[float | None]] | None:
    """Value, error and interval of every group; None where it is refused."""
    try:
        results = release.results(query.text)
    except ValueError:
        return None
    rows = [[result.value, result.standard_error, *result.interval] for result in results]
    return [[plain(number) if math.isfinite(number) else None for number in row] for row in rows]


def plain(number: float | None) -> float | None:
    """A number without what the order of its sum may change."""
    return number if number is None else float(f"{number:.9g}")


def by_sql(release: Release, query: Query) -> list[list[float | None]] | None:
    try:
        table = release.sql(as_sql.statement(query)).table
    except ValueError:
        return None
    return [
        [*map(plain, row)] for row in zip(*(table[name].to_pylist() for name in table.column_names[-4:]), strict=True)
    ]


@pytest.mark.parametrize("name", RELEASES)
def test_both_say_the_same(name: str) -> None:
    release = stored(name)

    examples = EXAMPLES_OF_FITS if release.design.kind == "joint" else EXAMPLES

    @settings(max_examples=examples, deadline=None, derandomize=True)
    @given(queries(release))
    def same(query: Query) -> None:
        asked, answered = by_query(release, query), by_sql(release, query)
        if asked is None or answered is None:
            assert answered == asked or query.by, (query.text, as_sql.statement(query))
            return
        left = iter(asked)  # groups that `where` excludes are no rows in SQL
        assert all(row in left for row in answered), (query.text, as_sql.statement(query))
        assert query.by or len(answered) == len(asked)

    same()
