"""Where persons keep a bounded number of rows, every total says so, and the truth is counted the same way."""

import math

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from dpress import load_release, load_spec, plan, publish
from dpress.query.counted_rows import COUNTS_OF, counted_of
from dpress.release.truth.evaluate import compared_with, evaluate
from dpress.reporting.page import page

PERSON = {"epsilon": 1000.0, "unit": "uid", "rows_per_unit": 2}
METHODS = ("marginals", "histogram")


def test_an_answer_says_which_rows_it_counts(make_spec, rows):
    release = publish(make_spec(privacy=PERSON), rows)
    assert release.query("total").note == "Counts are of at most 2 rows for each uid."
    assert publish(make_spec(), rows).query("total").note is None


@pytest.mark.parametrize("kind", [*METHODS, "ranges"])
def test_the_files_say_it_themselves(make_spec, rows, tmp_path, kind):
    """The metadata of Parquet and of tables in memory, the last column of CSV, the page; and the control without."""
    attributes = ["age"] if kind == "ranges" else None
    for name, privacy, words in (("capped", PERSON, "at most 2 rows for each uid"), ("all", {"epsilon": 1.0}, "")):
        out = tmp_path / name
        release = publish(make_spec(kind, attributes, privacy=privacy), rows, out=out, csv=True)
        loaded = load_release(out)
        files = [*release.answers.tables, *release.answers.asked]
        assert files
        for file in files:
            assert counted_of(pq.read_schema(out / file)) == words
            copy = csv.read_csv((out / file).with_suffix(".csv"))
            assert copy.column_names == pq.read_schema(out / file).names + ([COUNTS_OF] if words else [])
            assert not words or set(copy[COUNTS_OF].to_pylist()) == {words}
        for own in (release, loaded):
            assert {counted_of(table.to_arrow().schema) for table in own.tables.values()} == {words}
            assert (f"Counts are of {words}." in next(iter(own.tables.values()))._repr_html_()) is bool(words)
            assert own.query("total").note == (f"Counts are of {words}." if words else None)
        assert ("Counts are of at most 2 rows for each uid." in page(loaded)) is bool(words)


def test_no_attribute_hides_what_counts_are_of(make_spec):
    spec = load_spec(
        {
            "attribute": [{"kind": "categorical", "name": "counts_of", "values": ["a"]}],
            "privacy": PERSON,
            "release": {"kind": "histogram"},
        }
    )
    with pytest.raises(ValueError, match="two columns 'counts_of'"):
        plan(spec)
    assert plan(msgspec.structs.replace(spec, privacy=make_spec("histogram").privacy)).chosen


@pytest.mark.parametrize("kind", METHODS)
def test_the_truth_is_of_the_rows_that_persons_keep(make_spec, rows, kind):
    """All rows of a person are alike here, so that every draw gives the same counts; there is next to no noise."""
    people = rows.set_column(0, "age", pa.array([k // 4 % 10 for k in range(500)]))
    people = people.set_column(1, "sex", pa.array(["FM"[k // 4 % 2] for k in range(500)]))
    people = people.set_column(2, "size", pa.array([float(k // 4 % 8) for k in range(500)]))
    metrics = evaluate(publish(make_spec(kind, privacy=PERSON), people), people)
    assert metrics["rows"] == 250  # of 500
    assert metrics["cell_largest_error"] < 0.1
    assert metrics["redrawn_root_mean_squared_difference"] == 0
    assert "redrawn_root_mean_squared_difference" not in evaluate(publish(make_spec(kind), people), people)


def test_ranges_and_their_queries_too(make_spec, rows):
    metrics = evaluate(publish(make_spec("ranges", ["age"], privacy=PERSON), rows), rows)
    assert metrics["rows"] == 250


def test_another_draw_is_part_of_the_error_and_is_told(make_spec):
    """200 persons keep one of two rows, one in each cell: a draw is binomial, two differ by sqrt(2 * 200 / 4) = 10.

    A difference of zero has a chance of about 0.04 for one table; over eight evaluations below 1e-10.
    """
    visits = pa.table({"sex": ["F", "M"] * 200, "uid": [k // 2 for k in range(400)]})
    spec = make_spec("histogram", ["sex"], privacy=PERSON | {"rows_per_unit": 1})
    release = publish(spec, visits)
    apart = [evaluate(release, visits)["redrawn_root_mean_squared_difference"] for _ in range(8)]
    assert 0 < max(apart) < 200
    assert math.isfinite(sum(apart))
    assert compared_with(release).startswith("Compared with at most 1 row for each uid, drawn anew")
    assert not compared_with(publish(make_spec("histogram", ["sex"]), visits))
