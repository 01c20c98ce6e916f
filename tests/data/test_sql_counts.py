"""Counts by statements are those of the fold, as are codes of which the engine makes some and the codec others."""

import contextlib

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sql_engines import counted
from sqlglot import exp

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.attributes.sql.engine_column import Column
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec import codec
from dpress.data.sources.open_source import open_source
from dpress.data.sql import cell_counts as module
from dpress.data.sql.cell_counts import cell_counts
from dpress.data.sql.coded_rows import Relation, coded_select, encode_coded
from dpress.data.true_counts import true_counts

ROWS = 3000
DECLARED = {
    "duckdb": {"age": "INTEGER", "sex": "VARCHAR", "job": "VARCHAR", "pay": "DOUBLE"},
    "postgres": {"age": "integer", "sex": "text", "job": "text", "pay": "double precision"},
    "spark": {"age": "int", "sex": "string", "job": "string", "pay": "double"},
}
TABLES = [(0, 1), (3, 1), (2,), ()]


def schema_of(*, outside="clamp", null="none", other="else"):
    plain = [
        {"name": "age", "kind": "integer", "bounds": [3, 80], "outside": outside, "null": null},
        {"name": "sex", "kind": "categorical", "values": ["M", "F"], "other": other},
        {"name": "job", "kind": "categorical", "values": [f"job {n}" for n in range(12)], "other": other, "null": null},
        {"name": "pay", "kind": "numeric", "bounds": [0.0, 1000.0], "bins": 50, "outside": outside, "null": null},
    ]
    return Schema(tuple(msgspec.convert(one, Attribute) for one in plain))


def rows():
    """Return made-up people, some of them without a value, some outside, some without a number."""
    place = np.arange(ROWS)
    return pa.table(
        {
            "age": pa.array((place * 7 % 90).tolist(), pa.int32(), mask=place % 41 == 0),
            "sex": pa.array([("M", "F", "f", None)[one] for one in place % 7 % 4]),
            "job": pa.array([f"job {one}" if one < 13 else None for one in place * 5 % 14]),
            "pay": pa.array(np.where(place % 29 == 0, np.nan, place * 13.7 % 1100 - 50)),
        }
    )


def relation_in(engine, people):
    if engine.dialect == "duckdb":
        engine.run("DROP TABLE IF EXISTS people")
        engine.make(people)
    elif engine.dialect == "spark":
        columns = ", ".join(f"{name} {kind}" for name, kind in DECLARED["spark"].items())
        engine.session.createDataFrame(people.to_pylist(), columns).createOrReplaceTempView("people")
    else:
        engine.connection.execute("DROP TABLE IF EXISTS people")
        columns = ", ".join(f"{name} {kind}" for name, kind in DECLARED["postgres"].items())
        engine.connection.execute(f"CREATE TABLE people ({columns})")
        with engine.connection.cursor() as cursor, cursor.copy("COPY people FROM STDIN") as copy:
            for row in people.to_pylist():
                copy.write_row(list(row.values()))
    return Relation(query="SELECT * FROM people", declared=DECLARED[engine.dialect], dialect=engine.dialect)


def by_sql(engine, relation, schema, tables):
    statement = cell_counts(schema, relation, tables)
    found = pa.concat_tables([engine.arrow(one) for one in statement.statements])
    return statement.add_up(*(np.asarray(found.column(place)) for place in range(3)))


@pytest.fixture(
    params=[
        "duck",
        pytest.param("postgres", marks=pytest.mark.slow),
        pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.long, pytest.mark.filterwarnings("ignore")]),
    ]
)
def engine(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("together", [0, 1 << 40])
@pytest.mark.parametrize("policies", [{}, {"outside": "drop"}, {"null": "drop", "other": "drop"}], ids=str)
def test_counts_are_the_fold_s(engine, monkeypatch, policies, together):
    monkeypatch.setattr(module, "MOST_TOGETHER", together)
    schema = schema_of(**policies)
    relation = relation_in(engine, rows())
    for tables in (TABLES, [(1,)], [()]):
        assert by_sql(engine, relation, schema, tables).tolist() == counted(schema, rows(), tables).tolist()


@pytest.mark.parametrize("together", [0, 1 << 40])
@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ({"null": "reject"}, "attribute age: a value is missing"),
        ({"outside": "reject"}, "attribute age: a value is not"),
        ({"other": "reject"}, "attribute sex: a value is missing"),
    ],
)
def test_what_is_rejected_is_refused_in_the_codec_s_words(duck, monkeypatch, policies, message, together):
    monkeypatch.setattr(module, "MOST_TOGETHER", together)
    schema, relation = schema_of(**policies), relation_in(duck, rows())
    for tables in ([(0, 1)], [(2,)], [()]):
        with pytest.raises(SchemaMismatch, match=message):
            by_sql(duck, relation, schema, tables)
    batch = duck.arrow(coded_select(schema, relation)).combine_chunks().to_batches()[0]
    with pytest.raises(SchemaMismatch, match=message):
        encode_coded(schema, batch)


def test_no_rows_are_no_counts(engine):
    relation = relation_in(engine, rows().slice(0, 0).cast(rows().schema) if engine.dialect != "spark" else rows())
    if engine.dialect == "spark":
        relation = Relation(query="SELECT * FROM people WHERE age = -1", declared=relation.declared, dialect="spark")
    assert not by_sql(engine, relation, schema_of(), TABLES).any()


def test_the_statement_depends_on_no_row(duck):
    few = cell_counts(schema_of(), relation_in(duck, rows().slice(0, 5)), TABLES)
    assert few == cell_counts(schema_of(), relation_in(duck, rows()), TABLES)


@pytest.mark.parametrize("policies", [{}, {"outside": "drop", "null": "drop"}], ids=str)
def test_what_sql_does_not_code_the_codec_does(engine, policies):
    schema = schema_of(**policies)
    whole = msgspec.convert({"name": "job", "kind": "ordinal", "values": [1, 2], "other": "else"}, Attribute)
    mixed = Schema((*schema.attributes[:2], whole, schema.attributes[3]))
    relation = relation_in(engine, rows())
    assert cell_counts(mixed, relation, TABLES) is None
    found = engine.arrow(coded_select(mixed, relation)).combine_chunks().to_batches()[0]
    found = pa.record_batch(
        {name: plain(column) for name, column in zip(found.schema.names, found.columns, strict=True)}
    )
    right = np.concatenate([codec.encode(mixed, batch) for batch in rows().to_batches()], axis=1)
    assert sorted(encode_coded(mixed, found).T.tolist()) == sorted(right.T.tolist())


def plain(column):
    """Return integers in the type that an engine hands them over in."""
    return column.cast(pa.int32()) if pa.types.is_integer(column.type) else column


def test_a_row_that_another_attribute_drops_is_found(duck, monkeypatch):
    monkeypatch.setattr(module, "MOST_TOGETHER", 0)
    schema, relation = schema_of(outside="drop"), relation_in(duck, rows())
    right = counted(schema, rows(), [(1,)]).tolist()
    assert by_sql(duck, relation, schema, [(1,)]).tolist() == right
    monkeypatch.setattr(module, "DROPPED", 7)
    assert by_sql(duck, relation, schema, [(1,)]).tolist() != right


def test_rows_that_are_none_are_no_table_even_where_nothing_is_told_apart(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"age": pa.array([], pa.int32())}), path)
    schema = Schema(
        (msgspec.convert({"name": "age", "kind": "integer", "bounds": [3, 80], "null": "none"}, Attribute),)
    )
    for tables in ([()], [(0,)]):
        with pytest.raises(SchemaMismatch, match="has no rows"):
            true_counts(schema, tables, open_source(path, engine="sql"), ROW)


@pytest.mark.parametrize("bounds", [[0.0, 1000.0], [100.0, 200.0], [-2000.0, -1000.0]])
def test_nan_in_parquet_is_missing_whatever_its_statistics_say(tmp_path, monkeypatch, bounds):
    place = np.arange(4000)
    pay = pa.table({"pay": np.where(place % 29 == 0, np.nan, place * 13.7 % 900)})
    pq.write_table(pay, path := tmp_path / "rows.parquet")
    schema = Schema(
        (
            msgspec.convert({"name": "pay", "kind": "numeric", "bounds": bounds, "bins": 5, "null": "none"}, Attribute),
            msgspec.convert(
                {
                    "name": "half",
                    "kind": "ordinal",
                    "column": "pay",
                    "values": [0, 1],
                    "other": "else",
                    "null": "none",
                },
                Attribute,
            ),
        )
    )

    def by_sql_on_the_file():
        return true_counts(schema, [(0,), (1,)], open_source(path, engine="sql"), ROW).tolist()

    right = true_counts(schema, [(0,), (1,)], pay, ROW).tolist()
    assert right[5] == right[-1] == 138
    assert by_sql_on_the_file() == right
    monkeypatch.setattr(
        Column, "nan", property(lambda own: own.raw > exp.cast(exp.Literal.string("Infinity"), own.type))
    )
    with contextlib.suppress(OSError):  # what such a cell is cast to
        assert by_sql_on_the_file() != right
