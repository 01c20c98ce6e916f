"""A person whom several columns name together: the same persons by threads and in SQL, none where one is missing."""

import datetime as dt

import duckdb
import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.count_names import name_counts
from dpress.data.persons import person_columns
from dpress.data.persons.contributions import contributions
from dpress.data.sources.open_source import open_source
from dpress.data.sql import person_rows
from dpress.data.sql.coded_rows import Relation
from dpress.data.sql.person_rows import bounded_rows, nameless_rows
from dpress.data.table import Table
from dpress.data.true_counts import true_counts

TEXTS = ["a", "bc", "ab", "c", "abc", "", "1:a", "1:", ":", "n", "3", "3:", "ä", "a ", "A", "\u00e4b"]
PAIRS = [(one, other) for one in TEXTS for other in TEXTS]
COUNTED = Schema((msgspec.convert({"name": "y", "kind": "integer", "bounds": [0, 4]}, Attribute),))
NAMES = msgspec.convert({"name": "y", "kind": "categorical", "values": "discover"}, Attribute)
DECLARED = {"duckdb": ("VARCHAR", "INTEGER"), "postgres": ("text", "integer"), "spark": ("string", "int")}


def kept(source, cap, engine=None):
    unit = Unit(column="h", also=("p",), rows=cap)
    return int(true_counts(COUNTED, [(0,)], open_source(source, engine=engine), unit).sum())


def pairs_of(pairs):
    return pa.table({"h": [h for h, _ in pairs], "p": [p for _, p in pairs], "y": [k % 5 for k in range(len(pairs))]})


@given(
    st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(TEXTS)), min_size=1, max_size=40),
    st.integers(1, 3),
)
def test_two_rows_are_of_one_person_where_all_columns_are_equal(pairs, cap):
    times = [pairs.count(one) for one in set(pairs)]
    found = contributions(lambda: pairs_of(pairs).to_batches(max_chunksize=7), ("h", "p"), (cap,))
    assert (found.persons, found.rows, found.largest) == (len(times), len(pairs), max(times))
    assert found.kept[cap] == sum(min(cap, one) for one in times)


@pytest.mark.parametrize(
    ("first", "second", "persons"),
    [
        ([1, 11, 1, 1], [11, 1, 1, 1], 3),
        ([1.0, 0.0, -0.0, 2.0], ["a", "b", "b", "a"], 3),
        ([b"\x00", b"", b"\x00\x00", b""], [b"\x00", b"\x00\x00", b"", b"\x00\x00"], 3),
        ([dt.date(2024, 1, 1)] * 4, [True, False, True, True], 2),
        (pa.array(["x", "y", "x", "x"]).dictionary_encode(), [2**62, 2**62, 2**62, 2**62 + 1], 3),
    ],
)
def test_columns_of_any_types_name_persons_together(first, second, persons):
    rows = pa.table({"h": first, "p": second, "y": [1, 2, 3, 4]})
    for table in (rows, rows.slice(0, 4), pa.concat_tables([rows, rows]).slice(2, 4)):
        assert kept(table, 1) == persons
    assert kept(rows, 4) == 4


@pytest.mark.parametrize("engine", ["threads", "sql"])
def test_every_engine_keeps_the_same_rows_of_the_same_persons(tmp_path, engine):
    path, copy = tmp_path / "shop.duckdb", tmp_path / "rows.parquet"
    pairs = [pair for place, pair in enumerate(PAIRS) for _ in range(1 + place % 3)]
    rows = pairs_of(pairs)  # DuckDB finds it by its name
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM rows")
        connection.execute(f"COPY t TO '{copy}'")
    times = np.array([1 + place % 3 for place in range(len(PAIRS))])
    for cap in (1, 2):
        expected = np.minimum(times, cap).sum()
        assert [kept(source, cap, engine) for source in (f"{path}#t", copy)] == [expected] * 2
        assert kept(rows, cap) == expected


def test_a_person_counts_once_for_a_name(tmp_path):
    rows = pa.table({"h": ["a", "ab", "a"], "p": ["bc", "c", "bc"], "y": ["tea"] * 3})
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM rows")
    for source in (rows, f"{path}#t"):
        found = name_counts(NAMES, open_source(source), Unit(column="h", also=("p",), rows=2))
        assert dict(zip(found.names, found.counts.tolist(), strict=True)) == {"tea": 2}


@pytest.mark.parametrize("missing", ["h", "p"])
def test_where_one_part_is_missing_there_is_no_person(tmp_path, missing):
    rows = pa.table({"h": ["a", "b"], "p": [1, 2], "y": [1, 2]})
    rows = rows.set_column(rows.column_names.index(missing), missing, pa.array([None, 1 if missing == "p" else "b"]))
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM rows")
    with pytest.raises(SchemaMismatch, match=f"a row has no '{missing}'; every row needs its person"):
        kept(rows, 1)
    with pytest.raises(SchemaMismatch, match="a row has no 'h' or 'p'; every row needs its person"):
        kept(f"{path}#t", 1)
    with pytest.raises(SchemaMismatch):
        Table(rows, ("y",), Unit(column="h", also=("p",))).contributions((1,))


@pytest.fixture(
    params=[
        "duck",
        pytest.param("postgres", marks=pytest.mark.slow),
        pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.long, pytest.mark.filterwarnings("ignore")]),
    ]
)
def engine(request):
    return request.getfixturevalue(request.param)


def relation_of(engine, rows):
    text, number = DECLARED[engine.dialect]
    values = ", ".join(f"({', '.join('NULL' if one is None else repr(one) for one in row)})" for row in rows)
    columns = f"CAST(h AS {text}) AS h, CAST(p AS {text}) AS p, CAST(v AS {number}) AS v"
    query = f"SELECT {columns} FROM (VALUES {values}) AS t(h, p, v)"  # ours
    return Relation(query=query, declared={"h": text, "p": text, "v": number}, dialect=engine.dialect)


def found_pairs(engine, pairs):
    relation = relation_of(engine, [(*pair, number) for pair in pairs for number in range(2)])
    found = engine.arrow(bounded_rows(relation, ("h", "p"), ("h", "p"), rows=1, key="'k'"))
    return sorted((row["h"], row["p"]) for row in found.to_pylist())


def test_every_engine_of_sql_tells_persons_apart(engine):
    assert found_pairs(engine, PAIRS) == sorted(PAIRS)
    relation = relation_of(engine, [("a", "b", 1), (None, "b", 1), ("a", None, 1), (None, None, 1)])
    assert engine.arrow(nameless_rows(relation, ("h", "p"))).column(0).to_pylist() == [3]


def test_parts_that_run_together_are_found(duck, monkeypatch):
    """A planted fault in both: without their lengths ("a", "bc") is ("ab", "c")."""
    monkeypatch.setattr(person_rows, "_after_length", lambda text: text)
    assert len(found_pairs(duck, PAIRS)) < len(PAIRS)
    real = person_columns._measured
    monkeypatch.setattr(person_columns, "_measured", lambda own: real(own)[-1:])
    with pytest.raises(AssertionError):
        test_two_rows_are_of_one_person_where_all_columns_are_equal.hypothesis.inner_test([("a", "bc"), ("ab", "c")], 1)
