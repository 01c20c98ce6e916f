"""Maps through the commands: what `plan` says, what `report --query` draws, and the remark on exchanged columns."""

import pytest

pytestmark = pytest.mark.slow

PLACE = """
[[attribute]]
name = "place"
kind = "location"
columns = ["lon", "lat"]
bounds = [[-74.3, -73.7], [40.4, 41.0]]
"""
POINTS = [(-74.0 + i % 5 / 50, 40.7 + i % 3 / 50) for i in range(600)]
REMARK = "note: no position lies in the box; most would with the columns lon and lat exchanged\n"


@pytest.fixture
def maps(tmp_path):
    """A folder with local.toml, table.toml, and points.csv beside turned.csv."""
    for name, model, method, more in (
        ("local", "local", "gtr_top_down", "height = 3\nusers = 600\n"),
        ("table", "central", "quadtree", "height = 3\n"),
    ):
        privacy = f'[privacy]\nmodel = "{model}"\nepsilon = 2.0\n'
        release = f'[release]\nkind = "spatial"\nmethod = "{method}"\n[release.parameters]\n{more}'
        (tmp_path / f"{name}.toml").write_text(PLACE + privacy + release)
    for name, header in (("points", "lon,lat"), ("turned", "lat,lon")):
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *(f"{x},{y}" for x, y in POINTS)]) + "\n")
    return tmp_path


@pytest.mark.usefixtures("maps")
def test_plan_names_grid_levels_and_what_the_error_is_about(here):
    text = here("plan", "local.toml").out
    for words in ("8 x 8", "quadtree of height 3", "subset_selection", "between any two positions.", "drawn at random"):
        assert words in text
    assert "600 people over rectangles of 1 to 25 % of the box" in text
    assert "equally frequent" not in text
    assert "mean variance below" not in text
    plain = here("plan", "local.toml", "--json").json
    assert (plain["candidates"][0]["side"], plain["candidates"][0]["report_bytes"]) == (8, 8)
    assert here("plan", "table.toml", "--json").json["candidates"][0]["side"] == 8


def test_queries_are_drawn_on_the_page(here, maps):
    sent = here("perturb", "local.toml", "--data", "points.csv", "--out", "r.parquet")
    assert "epsilon = 2 (proven) for each report, between any two positions\n" in sent.out
    assert REMARK not in sent.err
    assert here("estimate", "local.toml", "--reports", "r.parquet", "--out", "out").code == 0
    asked = "lon in -80..-74 and lat in 40.6..40.8"
    done = here("report", "out", "--query", asked, "--query", "lat > 40.9")
    assert done.code == 0, done.err
    html = (maps / "out" / "report.html").read_text()
    assert html.count('class="query"') == 4
    assert asked in html
    answers = here("query", "out", asked, "lon < -74", "total")
    assert answers.out.count("outside the box counts nobody") == 1
    refused = here("report", "out", "--query", "nowhere")
    assert (refused.code, refused.err.count("\n")) == (1, 1)


def test_boundaries_are_drawn_or_refused_in_one_line(here, maps):
    assert here("publish", "table.toml", "--data", "points.csv", "--out", "out").code == 0
    ring = "[[-74.1, 40.5], [-73.9, 40.5], [-73.9, 40.9], [-74.1, 40.9], [-74.1, 40.5]]"
    for name, properties in (("d.geojson", '{"name": "Old town"}'), ("unnamed.geojson", "{}")):
        shape = f'{{"type": "Polygon", "coordinates": [{ring}]}}'
        (maps / name).write_text(f'{{"type": "Feature", "properties": {properties}, "geometry": {shape}}}')
    done = here("report", "out", "--boundaries", "d.geojson")
    assert done.code == 0, done.err
    assert "<title>Old town: " in (maps / "out" / "report.html").read_text()
    for file, words in (
        ("none.geojson", "none.geojson"),
        ("unnamed.geojson", 'property "name"'),
        ("points.csv", "no GeoJSON"),
    ):
        refused = here("report", "out", "--boundaries", file)
        assert (refused.code, refused.err.count("\n")) == (1, 1)
        assert words in refused.err
    assert here("report", "out", "--registry", "--boundaries", "d.geojson").code == 2


@pytest.mark.usefixtures("maps")
def test_exchanged_columns_are_remarked_upon_without_a_value(here):
    sent = here("perturb", "local.toml", "--data", "turned.csv", "--out", "r.parquet")
    assert (sent.code, REMARK in sent.err, "74" in sent.err) == (0, True, False)
    again = here("perturb", "local.toml", "--data", "points.csv", "--out", "right.parquet")
    assert (again.code, REMARK in again.err) == (0, False)


def test_publishing_answers_nothing_that_no_budget_pays_for(here, maps):
    path = maps / "table.toml"
    path.write_text(
        path.read_text().replace('columns = ["lon", "lat"]', 'columns = ["lon", "lat"]\noutside = "reject"')
    )
    done = here("publish", "table.toml", "--data", "turned.csv", "--out", "out", "--ledger", "l.sqlite")
    assert done.code == 1
    assert REMARK not in done.err
    assert not (maps / "out").exists()
    assert not (maps / "l.sqlite").exists()
