"""Copies as CSV with titles, units and labels, for every kind's columns; Parquet keeps names and values."""

import pyarrow as pa
import pyarrow.parquet as pq

import dpress
from dpress.core.basics import rng
from dpress.query.titled_rows import titled

SEX = {"name": "sex", "title": "Sex", "kind": "categorical", "values": ["f", "m"], "labels": {"f": "=Women"}}
AGE = {"name": "age", "title": "Age", "unit": "years", "kind": "integer", "bounds": [0, 19], "bins": 2}
PRIVACY = {"epsilon": 1}
ROWS = pa.table({"sex": ["f", "m"] * 30, "age": [0, 11, 12] * 20})


def written(folder, kind, parameters=None, attributes=(SEX | {"other": "else"}, AGE), *, titles):
    """Return the lines of every CSV of a release, by its name, cut into fields."""
    release = {"kind": kind, **({"parameters": parameters} if parameters else {})}
    spec = {"attribute": [*attributes], "privacy": PRIVACY, "release": release}
    dpress.publish(dpress.load_spec(spec), ROWS, out=folder, csv=True, titles=titles, rng=rng.seeded(1))
    return {
        path.name: [line.split(",") for line in path.read_text().replace('"', "").splitlines()]
        for path in folder.glob("*.csv")
    }


def test_a_table_has_titles_units_and_labels_and_the_same_numbers(tmp_path):
    (named,) = written(tmp_path / "named", "histogram", titles=False).values()
    (shown,) = written(tmp_path / "titled", "histogram", titles=True).values()
    assert named[0][:5] == ["sex", "sex_label", "age", "age_from", "age_below"]
    assert shown[0] == ["Sex", "Age (years)", "Age (years) from", "Age (years) below", *named[0][5:]]
    assert [line[0] for line in shown[1:]] == [line[1] for line in named[1:]] != [line[0] for line in named[1:]]
    assert [line[1:] for line in shown[1:]] == [line[2:] for line in named[1:]]
    assert pq.read_schema(tmp_path / "titled" / "sex-age.parquet").names[:5] == named[0][:5]


def test_groups_that_are_all_say_so_in_titled_copies_too(tmp_path):
    parameters = {"by": ["sex"], "mean": ["age"]}
    age = {"name": "age", "title": "Age", "unit": "years", "kind": "numeric", "bounds": [0, 19], "bins": 2}
    named, shown = (
        written(tmp_path / str(titles), "statistics", parameters, (SEX | {"other": "else"}, age), titles=titles)
        for titles in (False, True)
    )
    assert named.keys() == shown.keys()
    for name, lines in shown.items():
        assert len(lines) == len(named[name])
        if "sex" in named[name][0]:
            assert lines[0][0] == "Sex"
            assert {line[0] for line in lines[1:]} <= {"'=Women", "m", "else", "all"}
            assert [line[0] == "all" for line in lines] == [line[0] == "all" for line in named[name]]
    assert any("all" in line for lines in shown.values() for line in lines)


def test_records_have_labels_in_the_place_of_values(tmp_path):
    found = written(tmp_path / "out", "microdata", titles=True)
    lines = found["records.csv"]
    assert lines[0] == ["Sex", "Age (years)"]
    assert {line[0] for line in lines[1:]} <= {"'=Women", "m", "else"}


def test_one_title_of_two_columns_is_that_of_neither():
    attributes = [SEX, {**SEX, "name": "other"}]
    spec = dpress.load_spec({"attribute": attributes, "privacy": PRIVACY, "release": {"kind": "histogram"}})
    batch = pa.record_batch({"sex": ["f"], "other": ["m"], "count": [1]})
    assert titled(batch, spec.schema.tabular).to_pydict() == {"sex": ["=Women"], "other": ["m"], "count": [1]}
