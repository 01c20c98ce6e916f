"""The page of records: of the release alone, stamped where nothing is proven, and no word of what it is not."""

import functools

import pyarrow as pa
import pytest
from tests.kinds.reading import read

from dpress.core.basics.errors import NotSupported
from dpress.data.example_people import people
from dpress.data.specification.spec import from_dict
from dpress.kinds.microdata.page import example, histogram_variance, records_of
from dpress.query.release import Release
from dpress.release.curator.publish import publish
from dpress.reporting.facts import facts
from dpress.reporting.page import page

pytestmark = pytest.mark.slow

ATTRIBUTES = [
    {"name": "age", "kind": "integer", "bounds": [0, 84]},
    {"name": "sex", "kind": "categorical", "values": ["Female", "Male"]},
    {"name": "region", "kind": "categorical", "values": ["North", "East", "South", "West"]},
]
MADE = {
    "dp_prototypes": {"clusters": 4},
    "graphical": {},
    "per_record": {"users": 500},
    "dp_k_prototypes": {"clusters": 4, "restarts": 1},
}


@functools.cache
def made(method: str) -> Release:
    """Return the records of one method, made once."""
    release = {"kind": "microdata", "method": method, "parameters": MADE[method]}
    spec = from_dict({"attribute": ATTRIBUTES, "privacy": {"epsilon": 1.0}, "release": release})
    return publish(spec, people(500), allow_unproven=True)


@functools.cache
def html_of(method: str) -> str:
    """Return the page of one method, drawn once."""
    return page(made(method))


@pytest.mark.parametrize("method", MADE)
def test_every_method_has_a_page_that_says_what_it_is(method: str) -> None:
    release = made(method)
    html = html_of(method)
    text = read(html).text
    assert ("NOT PROVEN" in text) is (method == "dp_k_prototypes")
    assert method in text
    assert f"{release.answers.made.table.num_rows:,}" in text
    assert "dpress evaluate FOLDER --data FILE" in text
    assert html.count("<script") == 2  # the records, and what lists them
    assert html.count('class="chart wide"') == 1 + 3 + 3  # odds, attributes, pairs


@pytest.mark.parametrize("method", MADE)
def test_no_page_promises_more_than_its_method(method: str) -> None:
    text = read(html_of(method)).text
    assert ("none of them is anybody's" in text) is (method in ("dp_prototypes", "graphical"))
    assert ("one for every row and in the order of the rows" in text) is (method == "dp_k_prototypes")
    assert ("publication: nothing is proven" in text) is (method == "dp_k_prototypes")


def test_thin_lines_are_the_noise_that_was_drawn() -> None:
    release = made("dp_prototypes")
    variance = histogram_variance(records_of(release), release.schema.shape, 1)
    assert variance == release.answers.made.measured[1][1] > 0
    assert read(html_of("dp_prototypes")).text.count("95 % noise") == 3
    for method in ("per_record", "dp_k_prototypes"):
        other = made(method)
        assert histogram_variance(records_of(other), other.schema.shape, 1) is None
        assert read(html_of(method)).text.count("their error is not known here") == 3


def test_queries_are_drawn_on_maps_only() -> None:
    with pytest.raises(NotSupported, match='only a map, kind = "spatial"'):
        page(made("dp_prototypes"), queries=("total",))


def test_the_example_of_a_page_names_a_value_by_its_label() -> None:
    coded = [
        {"name": "sex", "kind": "categorical", "values": [1, 2], "labels": {"1": "Women", "2": "Men"}},
        *ATTRIBUTES[:1],
    ]
    made_up = {"kind": "microdata", "method": "graphical"}
    spec = from_dict({"attribute": coded, "privacy": {"epsilon": 1.0}, "release": made_up})
    release = publish(spec, pa.table({"sex": [1, 2] * 200, "age": [*range(80)] * 5}))
    assert example(facts(release)) == "sex = Women"
    assert release.query("sex = Women").value == release.query("sex = 1").value
