"""A made-up key: no two records have the same, in every file; what is released cannot be promised to be."""

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pyreadstat
import pytest
from tests.data.linked_people import ABOVE, ATTRIBUTES, BELOW

import dpress
from dpress.core.basics import rng
from dpress.query.made_records import write_records

AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}
SEX = {"name": "sex", "kind": "categorical", "values": ["f", "m"]}
ROWS = pa.table({"age": [k % 10 for k in range(300)], "sex": ["f", "m"] * 150})


def spec(constraints):
    release = {"kind": "microdata", "method": "dp_prototypes", "parameters": {"clusters": 1, "users": 300}}
    return {"attribute": [AGE, SEX], "privacy": {"epsilon": 2}, "release": release, "constraint": constraints}


def test_every_file_has_it_and_no_two_records_the_same(tmp_path):
    planned = dpress.plan(spec([{"unique": "pid"}, {"impossible": "age = 9 and sex = m"}]))
    dpress.publish(planned.design, ROWS, out=tmp_path / "r", csv=True, rng=rng.seeded(3))
    records = pq.read_table(tmp_path / "r" / "records.parquet")
    assert records.column_names == ["pid", "age", "sex"]
    assert len({*records["pid"].to_pylist()}) == records.num_rows > 200
    assert pyarrow.csv.read_csv(tmp_path / "r" / "records.csv").column_names == ["pid", "age", "sex"]
    read = dpress.load_release(tmp_path / "r")
    assert read.query("total").value == records.num_rows
    read.write(tmp_path / "again")
    assert pq.read_table(tmp_path / "again" / "records.parquet").equals(records)
    drawn = pq.read_table(write_records(read, 1000, tmp_path / "drawn.parquet", where="sex = m"))
    assert {*drawn["pid"].to_pylist()} == {*range(1, 1001)}
    assert 9 not in drawn["age"].to_pylist()
    frame, _ = pyreadstat.read_dta(str(write_records(read, 50, tmp_path / "drawn.dta")))
    assert sorted(frame["pid"]) == [*range(1, 51)]


def test_records_are_the_same_as_without_one():
    with_key, without = (
        dpress.publish(spec(each), ROWS, rng=rng.seeded(3)).detail.table
        for each in ([{"unique": "pid"}, {"impossible": "age = 9"}], [{"impossible": "age = 9"}])
    )
    assert with_key.equals(without)
    report = dpress.check(spec([{"unique": "pid"}, {"impossible": "age = 9"}]), ROWS)
    assert [figure.broken for figure in report.findings["constraints"].figures] == [30]


LINKED = {
    "table": [{**ABOVE, "derived": {}}, {**BELOW, "attributes": ["role"]}],
    "attribute": ATTRIBUTES[:2],
    "privacy": {"unit": "hhid", "epsilon": 2.0},
    "release": {"kind": "microdata"},
    "constraint": [{"unique": "pid"}],
}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            spec([{"unique": "age"}]),
            r"\[#1\].unique: age is a released attribute; expected the name of a column that is",
        ),
        (spec([{"unique": "a"}, {"unique": "b"}]), r"\[#1\].unique: expected a single made-up key"),
        (spec([{"unique": ["age", "sex"]}]), r"constraint.*unique"),
        (spec([{"unique": "a", "persons": "each"}]), r"persons: expected beside a condition"),
        (LINKED, r"\[#1\].unique: records of two tables have made-up keys"),
    ],
)
def test_what_no_model_promises_is_refused_in_a_line(wrong, message):
    with pytest.raises(ValueError, match=message) as refusal:
        dpress.plan(wrong)
    assert "\n" not in str(refusal.value)
