"""The answer to a statement as a table: its columns, types and forms, and a release in DuckDB."""

import datetime as dt

import duckdb
import pyarrow as pa
import pytest
from tests.query.sql.visits import release

import dpress
from dpress.core.basics import rng
from dpress.query.sql.sql_table import FREE


def test_every_number_has_its_error_and_interval_behind_it() -> None:
    table = release().sql("select count(*), ward, avg(age) as mean_age from visits group by ward").table
    of_count, of_mean = (
        [name + suffix for suffix in ("", "_error", "_low", "_high")] for name in ("count", "mean_age")
    )
    assert table.column_names == [*of_count, "ward", *of_mean]
    result = release().query("mean age where ward = eyes")
    row = next(row for row in table.to_pylist() if row["ward"] == "eyes")
    assert [row[name] for name in of_mean] == [result.value, result.standard_error, *result.interval]


def test_names_are_stable_and_never_the_same() -> None:
    numbers = (
        "count(*), count(*), avg(age), sum(age), median(age), percentile_cont(0.9) within group (order by age), "
        "count(*) filter (where sex = 'f') / count(*), count(*) - count(*) filter (where sex = 'f'), "
        "count(*) filter (where sex = 'f') / count(*) filter (where sex = 'm')"
    )
    names = release().sql(f"select {numbers} from visits").numbers
    shares = ("share", "difference", "ratio")
    assert names == ("count", "count_2", "avg", "sum", "median", "percentile_cont", *shares)


def test_a_factor_multiplies_error_and_interval_and_turns_it_where_it_is_negative() -> None:
    plain = release().sql("select avg(age) as x from visits").table.to_pylist()[0]
    turned = release().sql("select -2 * avg(age) as x from visits").table.to_pylist()[0]
    assert turned == {
        "x": -2 * plain["x"], "x_error": 2 * plain["x_error"], "x_low": -2 * plain["x_high"],
        "x_high": -2 * plain["x_low"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "dtype"),
    [
        ("age", pa.int64()), ("ward", pa.string()), ("age // 50 * 50", pa.int64()), ("age >= 50", pa.bool_()),
        ("date_trunc('month', visited)", pa.date32()), ("extract(month from visited)", pa.int64()),
        ("sex", pa.string()),
    ],
)  # fmt: skip
def test_keys_have_the_types_of_their_values(key: str, dtype: pa.DataType) -> None:
    table = release().sql(f"select {key} as k, count(*) from visits group by k").table
    assert table.schema.field("k").type == dtype
    assert table["k"].null_count == (key == "sex")


def test_groups_are_those_that_are_listed_also_where_nobody_is() -> None:
    nobody = "select age, count(*) from visits where age in (3, 4) and ward = 'eyes' group by age"
    assert release().sql(nobody).table["age"].to_pylist() == [3, 4]


def test_notes_say_what_is_to_be_known_and_that_nothing_is_charged() -> None:
    answer = release().sql("select avg(age) from visits where age = 3 and sex = 'f' and ward = 'eyes'")
    assert FREE in answer._repr_html_()


def test_it_is_handed_to_pandas_and_polars() -> None:
    answer = dpress.sql(release(), "select visited, count(*) from visits group by 1 order by 2 desc, 1 limit 2")
    assert list(answer.to_pandas().columns) == answer.to_arrow().column_names
    assert answer.to_polars().shape == (2, 5)
    assert isinstance(answer.to_arrow()["visited"][0].as_py(), str | dt.date)
    assert answer.to_csv().splitlines()[0] == b'"visited","count","count_error","count_low","count_high"'
    assert repr(answer) == "SqlTable(2 rows: visited, count, count_error, count_low, count_high)"


def test_one_statement_at_a_time_from_python() -> None:
    with pytest.raises(ValueError, match="2 statements; give them one at a time"):
        release().sql("select count(*) from visits; select avg(age) from visits")


def test_a_release_opens_in_duckdb() -> None:
    connection = duckdb.connect()
    assert dpress.attach(connection, release()) == ("release.age_sex_ward", "release.ward_size_age", "release.visited")
    (count,) = connection.execute("select sum(count) from release.age_sex_ward where ward = 'eyes'").fetchone() or ()
    assert count == pytest.approx(release().query("ward = eyes").value)
    names = [row[0] for row in connection.execute("describe release.visited").fetchall()]
    assert {"count", "standard_error", "low", "high"} <= set(names)
    with pytest.raises(ValueError, match="attach under another `schema`"):
        dpress.attach(connection, release())
    assert dpress.attach(connection, release(), schema="again")[0] == "again.age_sex_ward"


def test_levels_of_a_hierarchy_are_keys_and_conditions() -> None:
    ward = {
        "name": "ward", "kind": "categorical", "values": ["eyes", "ear", "skin"], "other": "elsewhere",
        "hierarchy": [["eyes", "head", "all"], ["ear", "head", "all"], ["skin", "outside", "all"]],
    }  # fmt: skip
    plain = {"attribute": [ward], "privacy": {"epsilon": 1000}, "release": {"kind": "histogram"}}
    rows = pa.table({"ward": ["eyes"] * 5 + ["ear"] * 2 + ["skin"] + ["hand"]})
    made = dpress.publish(plain, rows, rng=rng.seeded(1))
    table = made.sql("select level(ward, 1) as part, count(*) from visits group by part").table
    assert table["part"].to_pylist() == ["head", "outside", None]
    assert table["count"].to_pylist() == pytest.approx([7, 1, 1])
    (head,) = made.sql("select count(*) from visits where level(ward, 1) = 'head'").table["count"].to_pylist()
    assert head == pytest.approx(7)
    with pytest.raises(ValueError, match=r"ward has levels 1 to 2; write level\(column, 1\)"):
        made.sql("select level(ward, 3), count(*) from visits group by 1")


def test_an_interval_that_is_rounded_holds_what_it_held() -> None:
    plain, rounded = (
        release().sql(f"select {number} as x from visits where age < 37").table.to_pylist()[0]
        for number in ("avg(age)", "round(avg(age), 1)")
    )
    assert rounded["x"] == round(plain["x"], 1)
    assert rounded["x_low"] <= plain["x_low"] <= plain["x_high"] <= rounded["x_high"]
    assert rounded["x_high"] - rounded["x_low"] < plain["x_high"] - plain["x_low"] + 0.2
    assert rounded["x_error"] >= plain["x_error"]
    assert all(round(value, 1) == value for value in rounded.values())


def test_a_group_that_where_excludes_is_no_row_also_that_of_missing_values() -> None:
    table = release().sql("select sex, count(*) from visits where sex = 'f' group by sex").table
    assert table["sex"].to_pylist() == ["f"]
    (total,) = release().sql("select count(*) from visits where sex = 'f' and sex = 'm'").table["count"].to_pylist()
    assert total == 0


def test_a_note_says_where_cells_leave_numbers_open() -> None:
    binned = {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 10}
    plain = {"attribute": [binned], "privacy": {"epsilon": 1000}, "release": {"kind": "histogram"}}
    made = dpress.publish(plain, pa.table({"age": [3, 44, 71]}), rng=rng.seeded(1))
    unbiased, note = made.sql("select avg(age) as mean_age, count(*) from visits").notes
    assert unbiased == "mean_age: From the unbiased counts."
    assert note.startswith("mean_age: Numbers are known to within their cells")
    assert release().sql("select avg(age) from visits").notes == ("From the unbiased counts.",)


@pytest.mark.parametrize("where", ["(" * 400 + "age = 1" + ")" * 400, " or ".join(["age = 1"] * 1000)])
def test_what_is_nested_deeply_is_refused_in_a_line(where) -> None:
    with pytest.raises(ValueError, match="this is nested too deeply to be read; write `in "):
        release().sql(f"select count(*) from visits where {where}")


def test_a_csv_may_have_titles_and_labels_for_people() -> None:
    sex = {"name": "sex", "title": "Sex", "kind": "categorical", "values": ["f", "m"], "labels": {"f": "=Women"}}
    age = {"name": "age", "title": "Age", "unit": "years", "kind": "integer", "bounds": [0, 2]}
    plain = {"attribute": [sex | {"other": "else"}, age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    made = dpress.publish(dpress.load_spec(plain), pa.table({"sex": ["f", "m"] * 30, "age": [0, 1, 2] * 20}))
    answer = made.sql("select sex, age, count(*) as people from t group by sex, age")
    named, titled = (answer.to_csv(titles=titles).decode().splitlines() for titles in (False, True))
    assert named[0].startswith('"sex","age","people",')
    assert titled[0].startswith('"Sex","Age (years)","people",')
    assert [line.split(",")[0] for line in titled[1::3]] == ['"\'=Women"', '"m"', '"else"']
    assert [line.split(",")[1:] for line in titled[1:]] == [line.split(",")[1:] for line in named[1:]]
    called = made.sql("select sex as age, count(*) from t group by sex").to_csv(titles=True).decode()
    assert called.startswith('"age","count",')


def test_two_columns_of_one_title_keep_their_names() -> None:
    listed = {"kind": "categorical", "values": ["f", "m"], "other": "else", "title": "Same"}
    both = [{"name": "first", **listed}, {"name": "second", **listed}]
    plain = {"attribute": both, "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    made = dpress.publish(dpress.load_spec(plain), pa.table({"first": ["f"] * 9, "second": ["m"] * 9}))
    head = made.sql("select first, second, count(*) from t group by first, second").to_csv(titles=True)
    assert head.startswith(b'"first","second","count",')
