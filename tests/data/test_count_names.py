"""Counts of names are those of a dictionary, for every type that holds names; what is none counts without one."""

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpress.attributes.listed.attribute import Categorical
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.methods.name_counts import NameCounts
from dpress.data import sql_names
from dpress.data.count_names import name_counting, name_counts
from dpress.data.counted_names import SCHEMA, counted_names
from dpress.data.sources.open_source import open_source

ITEM = Categorical(name="item", values="discover", other="rest")
SECRET = "only one person has this"
LONGEST = "\u00e9" * 128  # 256 bytes
TEXTS = ["tea", "Tea", "tea ", None, "", "rest", LONGEST, LONGEST + "x", "tea", SECRET, "\u00e9", "e\u0301", None, "7"]
WEIGHTS = [6400 // names for names in range(1, 101)]
NAMES = {"tea": 2, "Tea": 1, "tea ": 1, LONGEST: 1, SECRET: 1, "\u00e9": 1, "e\u0301": 1, "7": 1}


def counted(column: pa.Array, attribute: Categorical = ITEM, **more: pa.Array) -> NameCounts:
    return name_counts(attribute, pa.table({"item": column, **more}), Unit())


def as_dict(found: NameCounts) -> dict[str, int]:
    assert list(found.names) == sorted(found.names, key=str.encode)
    return dict(zip(found.names, found.counts.tolist(), strict=True))


@pytest.mark.parametrize(
    "column",
    [
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS, pa.string_view()),
        pa.array(TEXTS).dictionary_encode(),
        pa.array([None if text is None else text.encode() for text in TEXTS], pa.binary()),
    ],
    ids=lambda column: str(column.type),
)
def test_names_are_compared_by_their_bytes(column: pa.Array) -> None:
    found = counted(column)
    assert as_dict(found) == NAMES
    assert found.unnamed == 5  # two missing, the empty one, one too long, and the name of the rest
    assert found.total == len(TEXTS)


def test_integers_and_truths_are_named_as_they_are_written() -> None:
    assert as_dict(counted(pa.array([7, -7, 7, None], pa.int16()))) == {"7": 2, "-7": 1}
    assert as_dict(counted(pa.array([True, False, True]))) == {"true": 2, "false": 1}


def test_an_integer_in_a_float_is_named_as_one_and_no_other_number_is() -> None:
    found = counted(pa.array([7.0, -0.0, 0.0, None, 7.5, float("nan"), float("inf"), 2.0**53, 2.0**53 - 1]))
    assert as_dict(found) == {"7": 1, "0": 2, "9007199254740991": 1}
    assert found.unnamed == 5
    objects = pd.DataFrame({"item": pd.Series([7.0, 7, "7", True, 7.5, Decimal("7.0"), 2.5 + 0j], dtype=object)})
    assert as_dict(name_counts(ITEM, objects, Unit())) == {"7": 4, "true": 1}


def test_bytes_that_are_no_text_have_no_name() -> None:
    found = counted(pa.array([b"tea", b"\xff\xfe", None], pa.binary()))
    assert (as_dict(found), found.unnamed) == ({"tea": 1}, 2)


@pytest.mark.parametrize("kind", [pa.decimal128(9, 2), pa.date32(), pa.list_(pa.string())])
def test_a_column_without_names_is_refused_by_its_type(kind: pa.DataType) -> None:
    with pytest.raises(SchemaMismatch, match=r"attribute item: a column of type .* holds no names; convert it to text"):
        counted(pa.array([None], kind))


def test_a_missing_value_is_counted_dropped_or_refused() -> None:
    dropped = Categorical(name="item", values="discover", null="drop")
    assert counted(pa.array(["tea", None]), dropped).total == 1
    refused = Categorical(name="item", values="discover", null="reject")
    with pytest.raises(SchemaMismatch, match=r"attribute item: a value is missing; say what to do in `null`"):
        counted(pa.array(["tea", None]), refused)
    assert counted(pa.array(["tea"]), refused).total == 1


@pytest.mark.parametrize(
    "persons", [list(range(8)) * 5, [f"p{one % 8}" for one in range(40)], [0.0, -0.0] * 20], ids=str
)
def test_a_person_counts_once_for_a_name(persons: list[object]) -> None:
    items = [f"item {place % 3}" for place in range(40)]
    unit = Unit(column="who", rows=40)
    found = name_counts(ITEM, pa.table({"item": items, "who": persons}), unit)
    assert as_dict(found) == Counter(item for item, _ in set(zip(items, persons, strict=True)))


def test_rows_of_a_person_that_were_left_out_are_never_counted() -> None:
    place = np.arange(4000)
    rows = pa.table({"item": [f"item {one % 20}" for one in place], "who": place // 20})
    unit = Unit(column="who", rows=2)
    count = name_counting(ITEM, rows, unit)
    first = count([1, 1], None)
    assert as_dict(count([1, 1], first.names)) == as_dict(first)
    apart = [count([1, 1], [name]) for name in first.names]  # alone, a name is of no more persons than among others
    assert [each.counts.tolist() for each in apart] == [[number] for number in first.counts.tolist()]
    assert as_dict(name_counts(ITEM, rows, unit, weights=[1, 1])) != as_dict(first)  # the control: another draw


def by_weight(rows: pa.Table, column: str) -> Counter[str]:
    """The sums of weights by name, person by person."""
    summed, held = Counter[str](), dict[int, set[str]]()
    for who, name in zip(rows["who"].to_pylist(), rows[column].to_pylist(), strict=True):
        held.setdefault(who, set()).update({str(name)} if name not in (None, "", "rest", LONGEST + "x") else ())
    for own in held.values():
        summed.update(dict.fromkeys(own, WEIGHTS[len(own) - 1]))
    return summed


@pytest.mark.parametrize("rows", [1, 2])
def test_a_unit_changes_at_most_its_rows_by_one_each(rows: int) -> None:
    items = pa.array([f"item {place % 7}" for place in range(60)])
    persons = pa.array([place // 10 for place in range(60)])
    unit = Unit(column="who", rows=rows)
    found = name_counts(ITEM, pa.table({"item": items, "who": persons}), unit)
    assert found.total <= 6 * rows
    only = name_counts(ITEM, pa.table({"item": items[:10], "who": persons[:10]}), unit)
    assert only.total <= rows
    assert set(only.counts.tolist()) == {1}


def test_sums_are_the_same_however_small_the_batches() -> None:
    texts = [f"name {place * place % 97}" for place in range(5000)]
    whole = as_dict(counted(pa.array(texts)))
    batches = pa.Table.from_batches(pa.table({"item": texts}).to_batches(max_chunksize=64))
    assert as_dict(name_counts(ITEM, batches, Unit())) == whole == Counter(texts)


def test_no_name_is_in_a_message() -> None:
    table = pa.table({"item": pa.array([SECRET]), "who": pa.array([None], pa.string())})
    with pytest.raises(SchemaMismatch) as refused:
        name_counts(ITEM, table, Unit(column="who", rows=1))
    assert SECRET not in str(refused.value)
    with pytest.raises(SchemaMismatch, match="has no column 'item'"):
        name_counts(ITEM, pa.table({"it": [SECRET]}), Unit())


def test_nothing_has_no_names() -> None:
    found = counted(pa.array([None, None], pa.string()))
    assert found.names == ()
    assert np.array_equal(found.counts, [])
    assert found.unnamed == 2


def test_batches_without_a_row_that_counts_are_passed_over() -> None:
    attribute = Categorical(name="item", values="discover", null="drop")
    parts = [{"item": [None], "who": ["a"]}, {"item": ["tea"], "who": ["a"]}, {"item": [None], "who": ["b"]}]
    kind = pa.schema([("item", pa.string()), ("who", pa.string())])
    batches = [pa.record_batch(part, schema=kind) for part in parts]
    unit = Unit(column="who", rows=2)
    assert as_dict(name_counts(attribute, pa.Table.from_batches(batches), unit)) == {"tea": 1}
    nobody = name_counts(attribute, pa.Table.from_batches([batches[0], batches[2]]), unit)
    assert (nobody.names, nobody.total) == ((), 0)


ENGINES = [
    "duckdb",
    pytest.param("postgres", marks=pytest.mark.slow),
    pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.long, pytest.mark.filterwarnings("ignore")]),
]


@pytest.fixture(params=ENGINES)
def held(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Rows of persons, and where an engine has them."""
    place = np.arange(600)
    texts = [*(text for text in TEXTS if text != "7"), "it's", "a\\b"]
    rows = pa.table(
        {
            "item": pa.array([texts[one] for one in place * 7 % 101 % len(texts)]),
            "number": pa.array((place * 5 % 13 - 4).tolist(), pa.int32(), mask=place % 17 == 0),
            "who": pa.array(place * 3 % 41),
        }
    )
    if request.param == "spark":
        session = request.getfixturevalue("spark_session")
        return rows, session.createDataFrame(rows.to_pylist(), "item string, number int, who bigint")
    if request.param == "postgres":
        import psycopg

        url = request.getfixturevalue("new_database")()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE shop (item text, number integer, who bigint)")
            with connection.cursor() as cursor, cursor.copy("COPY shop FROM STDIN") as copy:
                for row in rows.to_pylist():
                    copy.write_row(list(row.values()))
        return rows, f"{url}#shop"
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE shop AS FROM rows")
    return rows, f"{tmp_path / 'shop.duckdb'}#shop"


def test_an_engine_counts_what_threads_count(held: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, where = held
    asked, own = [], sql_names.sql_names
    monkeypatch.setattr(sql_names, "sql_names", lambda *of, **how: asked.append(own(*of, **how)) or asked[-1])
    for name in ("item", "number"):
        for null in (None, "drop"):
            attribute = Categorical(name=name, values="discover", other="rest", null=null)
            for unit in (Unit(), Unit(column="who", rows=100)):
                expected, found = name_counts(attribute, rows, unit), name_counts(attribute, where, unit)
                assert as_dict(found) == as_dict(expected)
                assert found.unnamed == expected.unnamed
        many = Unit(column="who", rows=100)
        for data in (rows, where):
            weighted = name_counts(Categorical(name=name, values="discover", other="rest"), data, many, weights=WEIGHTS)
            assert as_dict(weighted) == by_weight(rows, name)
            assert weighted.unnamed == 0
            some = [*weighted.names[::2], "a name that nobody has"]
            count = name_counting(Categorical(name=name, values="discover", other="rest"), data, many)
            again = count(WEIGHTS, some)
            left = [text if str(text) in some else None for text in rows[name].to_pylist()]
            assert as_dict(again) == by_weight(pa.table({name: left, "who": rows["who"]}), name)
            assert not count(WEIGHTS, []).names
        plain = name_counts(ITEM, where, Unit(), weights=[7])
        assert as_dict(plain) == {one: 7 * count for one, count in as_dict(name_counts(ITEM, rows, Unit())).items()}
    assert len(asked) == 12
    assert all(one is not None for one in asked)
    count = name_counting(ITEM, where, Unit(column="who", rows=1))
    capped = count(None, None)
    assert capped.total == len(set(rows["who"].to_pylist()))
    assert as_dict(count(None, capped.names)) == as_dict(capped)
    strict = Categorical(name="number", values="discover", null="reject")
    with pytest.raises(SchemaMismatch, match="attribute number: a value is missing; say what to do in `null`"):
        name_counts(strict, where, Unit())


def test_names_of_a_file_are_counted_by_a_statement_unless_threads_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(rows := pa.table({"item": TEXTS}), tmp_path / "rows.parquet")
    asked, own = [], sql_names.sql_names
    monkeypatch.setattr(sql_names, "sql_names", lambda *of, **how: asked.append(own(*of, **how)) or asked[-1])
    for engine, statements in ((None, 1), ("sql", 2), ("threads", 2)):
        found = name_counts(ITEM, open_source(tmp_path / "rows.parquet", engine=engine), Unit())
        assert as_dict(found) == as_dict(name_counts(ITEM, rows, Unit()))
        assert len(asked) == statements


def test_what_batches_raise_is_no_word_of_duckdb() -> None:
    def batches() -> Any:
        yield pa.record_batch([pa.array([SECRET], pa.large_string()), pa.array([0])], schema=SCHEMA)
        raise SchemaMismatch("a row is refused")

    with pytest.raises(SchemaMismatch, match=r"^a row is refused$") as refused:
        counted_names("rows", batches(), persons=False, sizes=False)
    assert refused.value.__context__ is None
