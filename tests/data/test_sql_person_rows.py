"""A person keeps at most k rows, which depend on that person's rows and the key alone."""

import pytest

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sql import person_rows
from dpress.data.sql.coded_rows import Relation
from dpress.data.sql.person_rows import bounded_rows, nameless_rows

PEOPLE = {"duckdb": "VARCHAR", "postgres": "text", "spark": "string"}
INTEGERS = {"duckdb": "INTEGER", "postgres": "integer", "spark": "int"}


def relation_of(engine, people, person="", value="", extra=""):
    """Return rows (p, v), written out in SQL that all engines read."""
    person, value = person or PEOPLE[engine.dialect], value or INTEGERS[engine.dialect]
    pairs = ", ".join(f"({'NULL' if one is None else repr(one)}, {number!r})" for one, number in people)
    columns = f"CAST(p AS {person}){extra} AS p, CAST(v AS {value}) AS v"
    query = f"SELECT {columns} FROM (VALUES {pairs}) AS t(p, v)"  # ours
    return Relation(query=query, declared={"p": person, "v": value}, dialect=engine.dialect)


def kept(engine, relation, rows, key="secret", columns=("p", "v")):
    sql = bounded_rows(relation, ("p",), columns, rows=rows, key=f"'{key}'")
    found = engine.arrow(sql)
    return sorted(zip(*(engine_values(found[name]) for name in columns), strict=True))


def engine_values(column):
    values = column.to_pylist()
    return [one["dpress_text"] if isinstance(one, dict) else one for one in values]


@pytest.fixture(
    params=[
        "duck",
        pytest.param("postgres", marks=pytest.mark.slow),
        pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.long, pytest.mark.filterwarnings("ignore")]),
    ]
)
def engine(request):
    return request.getfixturevalue(request.param)


MANY = [(name, number) for name in ("ann", "Ann", "bob", "bob ", "12") for number in range(9)]


def test_a_person_keeps_at_most_so_many_rows(engine):
    relation = relation_of(engine, MANY)
    for rows in (1, 3, 9):
        found = kept(engine, relation, rows)
        assert [name for name, _ in found] == sorted(name for name, _ in MANY[::9] for _ in range(rows))
        assert set(found) <= set(MANY)


def test_which_rows_stay_is_the_person_s_own_and_the_key_s(engine):
    found = kept(engine, relation_of(engine, MANY), 3)
    others = [*MANY[:9], *[("zoe", number) for number in range(50)], *MANY[27:36]]
    again = kept(engine, relation_of(engine, others[::-1]), 3)
    assert [row for row in again if row[0] == "ann"] == [row for row in found if row[0] == "ann"]
    assert kept(engine, relation_of(engine, MANY), 3, key="another") != found


@pytest.mark.parametrize(("kinds", "texts"), [
    ({"duckdb": "DOUBLE", "postgres": "double precision", "spark": "double"}, ["7", "0", "-0.0", "7.5", "1e300", "-7"]),
    ({"duckdb": "DECIMAL(10,2)", "postgres": "numeric(10,2)", "spark": "decimal(10,2)"}, ["7", "0", "-0.0", "70"]),
    ({"duckdb": "TIMESTAMP WITH TIME ZONE", "postgres": "timestamp with time zone", "spark": "timestamp"},
     ["2020-10-25 00:30:00+00:00", "2020-10-25 01:30:00+00:00"]),
])  # fmt: skip
def test_persons_are_told_apart_by_value(engine, kinds, texts):
    """Hours that come twice in a zone are two, both zeros are one."""
    relation = relation_of(engine, [(one, number) for one in texts for number in range(4)], kinds[engine.dialect])
    assert len(kept(engine, relation, 1, columns=("v",))) == len(texts) - ("-0.0" in texts)


def test_a_row_without_its_person_is_counted(engine):
    relation = relation_of(engine, [("ann", 1), (None, 2), ("bob", 3), (None, 4)])
    assert engine_values(engine.arrow(nameless_rows(relation, ("p",))).column(0)) == [2]


def test_equal_rows_are_interchangeable(engine):
    relation = relation_of(engine, [("ann", 1)] * 5 + [("ann", 2)])
    assert len(kept(engine, relation, 4)) == 4


def test_persons_under_a_collation_are_told_apart_by_bytes(duck, monkeypatch):
    collated = relation_of(duck, [("ann", 1), ("Ann", 2), ("ANN", 3)], extra=" COLLATE NOCASE")
    assert len(kept(duck, collated, 1)) == 3
    monkeypatch.setattr(person_rows, "_bytes", lambda text, _: text)
    assert len(kept(duck, collated, 1)) == 1


def test_texts_that_run_together_are_two(duck):
    relation = Relation(
        query="FROM (VALUES ('p', 'a', 'bc'), ('p', 'ab', 'c'), ('p', NULL, 'abc'), ('p', 'n', 'abc')) AS t(p, a, b)",
        declared={"p": "VARCHAR", "a": "VARCHAR", "b": "VARCHAR"},
        dialect="duckdb",
    )
    sql = bounded_rows(relation, ("p",), ("a", "b"), rows=4, key="'k'")
    digest = sql[sql.index("SHA256") : sql.index(") AS dpress_rank")]
    assert duck.run(f"SELECT count(DISTINCT {digest}) FROM ({relation.query})").fetchall() == [(4,)]  # ours


def test_a_type_without_texts_is_refused():
    relation = Relation(query="SELECT 1", declared={"p": "INTEGER[]", "v": "INTEGER"}, dialect="duckdb")
    with pytest.raises(SchemaMismatch, match=r"column 'p' of type INTEGER\[\] has no text"):
        bounded_rows(relation, ("p",), ("v",), rows=1, key="'k'")
