"""What `--explain` says: of every answer of every stored release, from which table, and what so many cells err."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpress
from dpress.core.basics import rng
from dpress.query.explained import Explanation, explanations, together
from dpress.query.sources import Source

STORED = Path(__file__).parents[1] / "formats" / "stored"
PLACES = sorted(path.parent for path in STORED.glob("*/answers.json"))
SOURCE = Source(file="table_1.parquet", attributes=("age",), parts=4, error=2.0, independent=4.0)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_every_answer_comes_from_a_file_that_is_there(place):
    release = dpress.load_release(place / "release")
    for query in [answer["query"] for answer in json.loads((place / "answers.json").read_text())["answers"]]:
        (explained,) = explanations(release, query)
        result = release.query(query)
        assert explained.of == result.of
        assert explained.errors == pytest.approx((result.standard_error,) * 2, nan_ok=True)
        assert explained.reason.endswith(".")
        for source in explained.sources:
            assert (place / "release" / source.file).is_file()
            assert source.parts > 0
        if not explained.sources:
            assert result.note is not None


def explained(name, query):
    return explanations(dpress.load_release(STORED / name / "release"), query)[0]


def test_independent_cells_add_up_their_squares():
    """As the published table has them: 4 of the cells of age, with both sexes."""
    told = explained("histogram", "sex = Female")
    rows = pq.read_table(STORED / "histogram" / "release" / "table_1.parquet").to_pylist()
    errors = [row["standard_error"] for row in rows if row["sex"] == "Female"]
    (source,) = told.sources
    assert (source.file, source.attributes, source.parts) == ("table_1.parquet", ("age", "sex"), len(errors))
    assert source.error == pytest.approx(errors[0])
    assert source.independent == pytest.approx(math.hypot(*errors)) == told.errors[0]
    assert "independent: the squares" in told.reason


def test_the_smallest_table_answers_and_larger_ones_stand_below():
    told = explained("residual_marginals", "sex = Female")
    assert [source.attributes for source in told.sources] == [("sex", "region"), ("age", "sex")]
    first, second = told.sources
    assert told.errors[0] < first.independent < second.independent
    assert "10.7 % less than of so many independent cells" in told.reason


def test_of_a_union_and_of_a_difference_no_cell_counts_twice():
    assert explained("marginals", "sex = Female or region = North").sources[0].parts == 36
    both = explained("marginals", "count sex = Female - count region = North")
    assert both.sources[0].parts == 30 + 12 - 2 * 6
    assert explained("marginals", "ratio sex = Female / total").sources[0].independent is None


@pytest.mark.parametrize(
    ("name", "query", "sums"),
    [
        ("statistics", "sex = Female", ("count",)),
        ("statistics", "mean income where sex = Female", ("sum income", "count")),
        ("statistics", "variance age", ("sum age", "squares of age", "count")),
        ("statistics", "median income", ("counts by income",)),
        ("statistics", "share region = Other", ("rows with region = Other", "count")),
        ("statistics_persons", "total income per person", ("total income", "persons")),
        ("statistics_persons", "persons", ("persons",)),
    ],
)
def test_statistics_say_which_sums_of_groups(name, query, sums):
    (source,) = explained(name, query).sources
    assert (source.unit, source.sums) == ("groups", sums)
    assert source.parts == (1 if "Female" in query else 2)


@pytest.mark.parametrize(
    ("name", "query", "words"),
    [
        ("joint_tables", "sex = Female and education = Master and region = Other", "fitted to all of them"),
        ("records_graphical", "sex = Female", "No error is known"),
        ("sets", "total", "known without error"),
        ("names", "region = Other", "a single one"),
        ("queries_persons", "sex = Male", "Only together are these atoms known"),
        ("queries_rho", "total", "less than of so many independent atoms"),
        ("census_uniform_grid", "lon in -74.0..-73.9 and lat in 40.7..40.8", "times the error of so many"),
        ("local_ranges_three", "mean age where income < 25000", "weighted sums of these cells"),
    ],
)
def test_the_reason_is_that_of_the_kind(name, query, words):
    assert words in explained(name, query).reason


def test_what_errs_more_than_independent_cells_says_by_how_much():
    told = Explanation(name="n", of="count", answers=1, errors=(5.0, 5.0), sources=(SOURCE,))
    assert "25 % more than the error of so many independent cells" in told.reason
    assert (
        "a single one" in replace(told, errors=(2.0, 2.0), sources=(replace(SOURCE, parts=1, independent=2.0),)).reason
    )


def test_groups_with_the_same_sources_are_told_once():
    release = dpress.load_release(STORED / "marginals" / "release")
    (told,) = together(explanations(release, "count by region"))
    assert told.answers == len(release.results("count by region"))
    other = replace(told, sources=(replace(SOURCE, error=2.0 + 1e-13), SOURCE))
    assert len(together([told, other, replace(other, errors=(0.0, 99.0)), replace(other, name="m")])) == 3
    assert together([other, replace(other, errors=(0.0, 99.0))])[0].errors == (0.0, 99.0)


def test_nothing_of_the_rows_is_needed():
    """Explanations are of the kept integers and the design: the same of two tables whose noise is the same."""
    spec = {"attribute": [{"name": "age", "kind": "integer", "bounds": [0, 9]}], "privacy": {"epsilon": 1},
            "release": {"kind": "histogram"}}  # fmt: skip
    tables = [pa.table({"age": np.arange(size) % 10}) for size in (10, 900)]
    first, second = (
        explanations(dpress.publish(dpress.load_spec(spec), table, rng=rng.seeded(2)), "age < 4") for table in tables
    )
    assert first == second
