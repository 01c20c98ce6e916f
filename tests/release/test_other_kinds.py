"""Other kinds of release that answer what a plan does: their error is that of their own releases' answers."""

import itertools
from pathlib import Path

import pyarrow as pa
import pytest

from dpress import load_spec, plan, publish
from dpress.core.basics import rng
from dpress.release.plan.other_kinds import other_kinds

AGE = {"kind": "integer", "name": "age", "bounds": [0, 11]}
SIZE = {"kind": "ordinal", "name": "size", "values": ["s", "m", "l"]}
SEX = {"kind": "categorical", "name": "sex", "values": ["F", "M"]}
PLACE = {"kind": "location", "name": "place", "columns": ["x", "y"], "bounds": [[0, 1], [0, 1]]}
ROWS = pa.table({"age": [1, 2, 3], "size": ["s", "m", "l"], "sex": ["F", "M", "M"]})


def spec(kind, *attributes, privacy=None, **release):
    return load_spec(
        {
            "attribute": attributes,
            "privacy": {"epsilon": 1.0, **(privacy or {})},
            "release": {"kind": kind, **release},
        }
    )


def others(*asked, **fields):
    return {one.kind: one for one in other_kinds(plan(spec(*asked, **fields)))}


def error_of_answers(kind, attributes, queries):
    """Return the mean squared standard error of a release of that kind over some queries."""
    release = publish(spec(kind, *attributes), ROWS, rng=rng.seeded(1))
    return sum(release.query(query).standard_error ** 2 for query in queries) / len(queries)


def test_cells_from_ranges_have_the_error_of_the_ranges_own_answers():
    found = others("histogram", AGE)["ranges"]
    assert found.predicted_error == pytest.approx(
        error_of_answers("ranges", [AGE], [f"age = {age}" for age in range(12)])
    )
    assert found.predicted_error > plan(spec("histogram", AGE)).chosen.predicted_error


def test_tables_from_boxes_have_the_error_of_the_boxes_own_answers():
    found = others("marginals", AGE, SIZE, parameters={"ways": 1})["ranges"]
    queries = [*(f"age = {age}" for age in range(12)), *(f"size = {size}" for size in "sml")]
    assert found.predicted_error == pytest.approx(error_of_answers("ranges", [AGE, SIZE], queries))
    assert found.change == 'kind = "ranges" without `ways`'


def test_ranges_from_one_table_have_the_error_of_its_sums():
    planned = plan(spec("ranges", AGE, method="hierarchy"))
    found = {one.kind: one for one in other_kinds(planned)}["histogram"]
    ranges = [f"age in {low}..{high}" for low, high in itertools.combinations_with_replacement(range(12), 2)]
    assert found.predicted_error == pytest.approx(error_of_answers("histogram", [AGE], ranges))
    own = {one.method: one.predicted_error for one in planned.candidates}
    assert found.predicted_error == pytest.approx(own["identity"])
    assert found.change == 'kind = "histogram" without `method`'


def test_several_tables_from_one_that_has_them_all():
    found = others("marginals", AGE, SIZE, SEX)["histogram"]
    sizes = {"age": range(12), "size": "sml", "sex": "FM"}
    queries = [
        f"{one} = {first} and {two} = {second}"
        for one, two in itertools.combinations(sizes, 2)
        for first, second in itertools.product(sizes[one], sizes[two])
    ]
    assert found.predicted_error == pytest.approx(error_of_answers("histogram", [AGE, SIZE, SEX], queries))


def test_the_error_follows_the_question():
    """The control: another question has another error."""
    assert others("ranges", AGE)["histogram"].predicted_error != pytest.approx(
        others("ranges", AGE, parameters={"length": 2})["histogram"].predicted_error
    )


def test_records_have_no_error_beforehand_and_name_a_page_that_is_there():
    """They come last; in their place, tables of pairs have an error of their own unit."""
    found = other_kinds(plan(spec("histogram", AGE)))
    assert [one.kind for one in found] == ["ranges", "microdata"]
    assert (found[-1].predicted_error, found[0].page) == (None, "")
    assert (Path(__file__).parents[2] / found[-1].page).exists()
    tables = others("microdata", AGE, SEX)["marginals"]
    assert tables.predicted_error == plan(spec("marginals", AGE, SEX)).chosen.predicted_error


def test_a_table_too_large_to_publish_is_not_offered():
    """Boxes of eight attributes of twelve cells have 4 * 10^8; of seven, half of 2^26."""
    many = [AGE | {"name": f"a{number}"} for number in range(8)]
    assert "ranges" in others("marginals", *many[:7])
    assert "ranges" not in others("marginals", *many)


def test_what_does_not_serve_is_not_offered():
    """No ranges of categories, no tables of a map, nothing for devices, and no kind in its own place."""
    assert set(others("histogram", SEX)) == {"microdata"}
    assert not others("spatial", PLACE)
    assert not others("marginals", AGE, SEX, privacy={"model": "local"})
    assert not others("joint", AGE, SEX, privacy={"model": "local"})
