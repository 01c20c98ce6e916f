"""Named areas on a map: read from GeoJSON or refused in one line, measured cell by cell, counted with their error."""

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.kinds.conftest import KINDS, mapped, mapped_table
from tests.kinds.reading import read

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.grid import Grid
from dpress.inference.maps.density import Cells, TreeNoise
from dpress.inference.normal import normal
from dpress.kinds.spatial.area_counts import area_counts
from dpress.kinds.spatial.area_shares import area_shares
from dpress.kinds.spatial.boundaries import read_boundaries
from dpress.kinds.spatial.where_most import fullest_area
from dpress.reporting.page import page, write_report

BOX = ((-74.2, -73.8), (40.5, 40.9))
NAMES = ("lon", "lat")
FALSE_ALARM = 1e-6
SQUARE = [[-74.0, 40.6], [-73.9, 40.6], [-73.9, 40.7], [-74.0, 40.7], [-74.0, 40.6]]
FAR = [[10.0, 50.0], [11.0, 50.0], [11.0, 51.0], [10.0, 50.0]]


def feature(name: Any = "Here", rings: Any = (SQUARE,), **more: Any) -> dict[str, Any]:
    properties = {"name": name, **more}
    return {"type": "Feature", "properties": properties, "geometry": {"type": "Polygon", "coordinates": rings}}


def collection(*features: Any, **more: Any) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": list(features), **more}


def unnamed(**properties: Any) -> dict[str, Any]:
    return {**feature(), "properties": properties}


def turned() -> list[Any]:
    return [[up, across] for across, up in SQUARE]


@pytest.fixture
def written(tmp_path):
    """Write a file of boundaries."""

    def write(content: Any) -> str:
        path = tmp_path / "b.geojson"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    return write


REFUSED = {
    "no JSON": ("<kml/>", "it is not JSON"),
    "other JSON": ([1, 2], "expected {"),
    "TopoJSON": ({"type": "Topology"}, "expected {"),
    "no features": (collection(), "it has no features"),
    "no feature": (collection({"type": "Polygon"}), r"\$.features\[0\]: expected a Feature"),
    "no properties": (collection({**feature(), "properties": None}), 'need a property "name"; they have no properties'),
    "no names": (collection(unnamed(area=1.5), unnamed(area=2.5)), 'need a property "name"; they have area'),
    "a name left out": (collection(feature("A"), unnamed(x=1)), r"features\[1\].properties: expected a text"),
    "points alone": (
        collection({**feature(), "geometry": {"type": "Point", "coordinates": [1, 2]}}),
        "no feature is a Polygon",
    ),
    "no geometry": (collection({**feature(), "geometry": None}), "no feature is a Polygon"),
    "texts for numbers": (collection(feature(rings=[[["a", "b"], ["c", "d"], ["e", "f"]]])), "no rings of"),
    "a ring too few": (collection(feature(rings=SQUARE)), "no rings of"),
    "two points": (collection(feature(rings=[SQUARE[:2]])), "no rings of"),
    "other units": (
        collection(feature(), crs={"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}),
        "in urn:ogc:def:crs:EPSG::3857, and the map is of degrees",
    ),
    "metres": (collection(feature(rings=[[[1e6, 2e6], [2e6, 2e6], [2e6, 3e6]]])), "Is it in metres"),
    "elsewhere": (collection(feature(rings=[FAR])), "no area lies on the map: across 10 to 11, up 50 to 51"),
    "exchanged": (collection(feature(rings=[turned()])), "Are both exchanged"),
    "too many": (collection(*(feature(f"n{k}") for k in range(1001))), "1,001 areas lie on the map"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_is_no_boundaries_is_refused_in_one_line_that_names_it(written, case: str) -> None:
    content, words = REFUSED[case]
    with pytest.raises(ValueError, match=words) as refused:
        read_boundaries(written(content), BOX, NAMES)
    assert "\n" not in str(refused.value)
    assert "b.geojson" in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path) -> None:
    with pytest.raises(OSError, match=r"none\.geojson"):
        read_boundaries(tmp_path / "none.geojson", BOX, NAMES)


def test_areas_are_named_by_name_in_any_case_else_by_a_text_that_each_has_of_its_own(written) -> None:
    def names(*features: Any, **more: Any) -> list[str]:
        return [area.name for area in read_boundaries(written(collection(*features, **more)), BOX, NAMES)]

    assert names(feature("A"), feature("A"), feature(7), feature("Far", [FAR])) == ["A", "7"]
    assert names(unnamed(NAME=" Old town ")) == ["Old town"]
    assert names(unnamed(kind="ward", ward="W1"), unnamed(kind="ward", ward="W2")) == ["W1", "W2"]
    degrees = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
    assert names(feature("A"), crs=degrees) == ["A"]
    (single,) = read_boundaries(written(feature("One")), BOX, NAMES)
    assert single.ends == ((-74.0, -73.9), (40.6, 40.7))


def test_a_map_of_other_units_takes_the_file_s_own(written) -> None:
    metres = collection(feature(rings=[[[0, 0], [50, 0], [50, 50]]]), crs={"properties": {"name": "EPSG:31467"}})
    assert len(read_boundaries(written(metres), ((0.0, 100.0), (0.0, 100.0)), ("x", "y"))) == 1


def closed(*points: tuple[float, float]) -> np.ndarray:
    return np.array([*points, points[0]], dtype=float)


def test_shares_are_exact_areas_with_holes_islands_and_what_leaves_the_map() -> None:
    square = closed((1.5, 1.0), (4.0, 1.0), (4.0, 3.25), (1.5, 3.25))
    hole = closed((2.0, 2.0), (3.0, 2.0), (3.0, 3.0), (2.0, 3.0))
    shares = area_shares([square, hole], 6)
    assert shares[1].tolist() == [0, 0.5, 0.5, 0.125, 0, 0]
    assert shares[2].tolist() == [0, 1, 0, 0.25, 0, 0]
    assert area_shares([closed((-5, -5), (9, -5), (9, 9), (-5, 9))], 6).min() == 1.0
    assert not area_shares([closed((7, 1), (9, 1), (9, 3))], 6).any()
    triangle = area_shares([closed((0, 0), (6, 0), (6, 6))], 6)
    assert triangle.sum() == pytest.approx(18, abs=1e-3)
    assert np.allclose(np.diag(triangle), 0.5, atol=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_shares_are_the_share_of_points_that_an_odd_number_of_borders_is_around(seed: int) -> None:
    """Of a ragged ring that crosses itself and leaves the map, against a count of 160 x 160 points."""
    words = np.asarray(rng.seeded(seed).words(16) >> np.uint64(11), dtype=float) / 2**53
    ring = closed(*map(tuple, 10 * words.reshape(8, 2) - 1))
    fine = (np.arange(160) + 0.5) / 20
    x, y = (axis[..., None] for axis in np.meshgrid(fine, fine, indexing="ij"))
    (u, v), (w, z) = ring[:-1].T, ring[1:].T
    crossed = ((v > y) != (z > y)) & (u + (y - v) / (z - v) * (w - u) > x)
    points = (crossed.sum(axis=2) % 2).reshape(8, 20, 8, 20).mean(axis=(1, 3))
    shares = area_shares([ring], 8)
    assert 5 < shares.sum() < 60
    assert np.abs(shares - points).max() < 0.06
    assert np.abs(shares - points).mean() < 0.005
    assert np.abs(shares.T - points).mean() > 0.02


def density(counts: Any, variance: float = 25.0) -> Cells:
    grid = Grid(len(counts))
    return Cells(grid=grid, counts=counts, noise=TreeNoise(grid=grid, levels=(variance,)))


def test_counts_of_areas_lie_in_their_intervals_as_often_as_is_said(written) -> None:
    """And those of an error that takes whole cells alone for the noise do not: the control."""
    place = feature("T", [[[-74.2, 40.5], [-73.8, 40.5], [-73.8, 40.9], [-74.2, 40.5]]])
    areas = read_boundaries(written(collection(place)), BOX, NAMES)
    truth, runs = np.full((8, 8), 50.0), 2000
    noise = 5 * normal(runs * 64, rng=rng.seeded(8)).reshape(runs, 8, 8)
    counts = [area_counts(density(truth + each), "gaussian", BOX, areas)[0] for each in noise]
    missed = sum(not each.interval[0] <= 1600 <= each.interval[1] for each in counts)
    narrow = sum(abs(each.centre - 1600) > 0.8 * each.error for each in counts)
    most = stats.binom.isf(FALSE_ALARM, runs, 0.05)
    assert missed <= most < narrow
    assert counts[0].error == pytest.approx(5 * np.sqrt(28 + 8 / 4), rel=1e-3)


def test_the_area_with_most_is_named_only_where_that_is_significant(written) -> None:
    halves = [
        [[-74.2, 40.5], [-74.0, 40.5], [-74.0, 40.9], [-74.2, 40.9]],
        [[-74.0, 40.5], [-73.8, 40.5], [-73.8, 40.9], [-74.0, 40.9]],
    ]
    areas = read_boundaries(
        written(collection(*(feature(k, [half]) for k, half in zip("WE", halves, strict=True)))), BOX, NAMES
    )
    counts = np.full((8, 8), 50.0)
    counts[:4] += 1
    assert fullest_area(area_counts(density(counts), "gaussian", BOX, areas), "gaussian", "people") == (
        "The noise hides which of 2 places has the most people."
    )
    counts[4:] += 10
    named = fullest_area(area_counts(density(counts), "gaussian", BOX, areas), "gaussian", "people")
    assert named.startswith("Of 2 places E has the most: 1,920 people (")


@pytest.mark.slow
def test_a_page_draws_areas_lists_them_and_reads_their_names_as_text(written) -> None:
    east = [[-73.9, 40.6], [-73.85, 40.6], [-73.85, 40.7]]
    path = written(collection(feature("<b>Old</b> town"), feature("East", [east])))
    release = mapped_table()
    html = page(release, boundaries=path)
    assert html.count('class="area"') == 4  # in both drawings
    assert "<b>Old</b>" not in html
    text = read(html).text
    answer = release.query("lon in -74..-73.9 and lat in 40.6..40.7")
    assert f"<b>Old</b> town{round(answer.value, -1):,.0f}"[:14] in text
    assert "has the most" in text or "The noise hides which of 2 places" in text
    assert "Outlines are of a file of boundaries." in text
    plain = read(page(release)).text
    assert "Outlines" not in plain


@pytest.mark.slow
def test_maps_and_kinds_that_cannot_draw_areas_say_so(written, tmp_path) -> None:
    path = written(collection(feature()))
    with pytest.raises(NotSupported, match="of rectangles alone"):
        page(mapped("ahead"), boundaries=path)
    with pytest.raises(NotSupported, match="draws queries and boundaries"):
        write_report(KINDS["ranges"](), tmp_path / "r.html", boundaries=path)
