"""The words of a specification for people: on pages and in tables of every kind, and in queries."""

import html
import re
from typing import Any

import pyarrow as pa
import pytest
from tests.kinds.conftest import BOX, PEOPLE, SEX, collect, make

from dpress.core.basics import rng
from dpress.data.specification.spec import from_dict
from dpress.release.curator.publish import publish
from dpress.reporting.page import page

pytestmark = pytest.mark.slow

SMOKER: dict[str, Any] = {
    "kind": "categorical",
    "name": "smoker",
    "values": [0, 1],
    "other": "unknown",
    "labels": {"0": "never did", "1": "does <daily>"},
    "title": "Smokes",
}
AGE: dict[str, Any] = {"kind": "integer", "name": "age", "bounds": [0, 19], "title": "Age at birthday", "unit": "years"}
ROWS = PEOPLE.append_column("smoker", pa.array([row % 3 for row in range(400)]))
TEXTS = {
    "title": "Health & town",
    "source": "A <survey>",
    "contact": "me@example.org",
    "license": "CC <0>",
    "language": "de-AT",
}


def visible(text: str) -> str:
    return html.unescape(" ".join(re.sub(r"<style>.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL).split()))


def test_a_table_keeps_its_values_and_has_the_labels_beside() -> None:
    release = make("histogram", [SMOKER, AGE], data=ROWS)
    table = release.answers.all_tables["smoker-age.parquet"]
    assert table.column_names[:5] == ["smoker", "smoker_label", "age", "age_from", "age_below"]
    pairs = set(zip(table["smoker"].to_pylist(), table["smoker_label"].to_pylist(), strict=True))
    assert pairs == {("0", "never did"), ("1", "does <daily>"), ("unknown", "unknown")}


def test_a_column_that_a_label_s_would_hide_is_refused() -> None:
    other = {"kind": "categorical", "name": "smoker_label", "values": ["a"]}
    with pytest.raises(ValueError, match="two columns 'smoker_label'; rename an attribute"):
        make("histogram", [SMOKER, other], data=ROWS)


def test_queries_take_values_and_labels() -> None:
    release = make("histogram", [SMOKER, AGE], data=ROWS)
    value = release.query("smoker = 0").value
    assert release.query('smoker = "never did"').value == value
    assert release.query("smoker in ('never did', 1)").value == release.query("smoker in (0, 1)").value
    with pytest.raises(ValueError, match=re.escape("it has 0 (never did), 1 (does <daily>), unknown")):
        release.query("smoker = 2")


@pytest.mark.parametrize("kind", ["histogram", "marginals", "local", "joint", "microdata", "spatial", "ranges"])
def test_pages_speak_of_titles_units_and_labels(kind: str) -> None:
    attributes = [SMOKER, AGE]
    if kind == "local":
        release = collect([{**AGE, "title": "Smokes", "unit": "years"}])
    elif kind == "joint":
        release = collect([{**SEX, "title": "Smokes", "labels": {"Male": "never did"}}, AGE], kind="joint")
    elif kind == "spatial":
        place = {"kind": "location", "name": "place", "columns": ["lon", "lat"], "bounds": BOX, "title": "Smokes"}
        release = make("spatial", [{**place, "unit": "years"}], data="points", parameters={"side": 4})
    elif kind == "ranges":
        release = make("ranges", [{**AGE, "title": "Smokes"}])
    else:
        method = {"method": "graphical"} if kind == "microdata" else {}
        release = make(kind, attributes, data=ROWS, **method)
    shown = visible(page(release))
    assert "Smokes" in shown
    assert "(years)" in shown
    if kind in ("histogram", "marginals", "microdata", "joint"):
        assert "never did" in shown
        assert "name in queries" in shown


def test_a_page_has_the_release_s_own_texts_escaped() -> None:
    spec = {"attribute": [AGE], "privacy": {"epsilon": 1}, "release": {"kind": "histogram", **TEXTS}}
    text = page(publish(from_dict(spec), ROWS, rng=rng.seeded(1)))
    assert '<html lang="de-AT">' in text
    assert "<h1>Health &amp; town</h1>" in text
    assert "Source: A &lt;survey&gt;. Contact: me@example.org" in text
    assert "Counts by Age at birthday (years)" in text
    assert "<title>NOT PRIVATE: Health &amp; town</title>" in text
    without = page(make("histogram", [AGE]))
    assert '<html lang="en">' in without
    assert "Source:" not in without
