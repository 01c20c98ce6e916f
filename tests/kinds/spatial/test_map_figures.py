"""Maps: cells where they belong, round legends, queries in their place, shores on Earth and nowhere else."""

import base64
import re
import struct
import xml.etree.ElementTree as ET
import zlib
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

from dpress.core.basics import rng
from dpress.core.maps.grid import Grid, Rectangles
from dpress.inference.maps.density import Cells, TreeNoise
from dpress.inference.maps.supported_tiles import supported_tiles
from dpress.kinds.spatial import colour_scale, map_figures, map_frame, outlines
from dpress.reporting import charts
from dpress.reporting.figures import Figure

NEW_YORK = ((-74.26, -73.7), (40.48, 40.92))
STATES = ((-125.0, -66.5), (24.5, 49.5))
WORLD = ((-180.0, 180.0), (-90.0, 90.0))
METRES = ((0.0, 3000.0), (0.0, 2000.0))
NAMES = ("lon", "lat")
HOSTILE = ('"><script>alert(1)</script>', "</text></svg>&")
SIZES = {"wide": 740, "narrow": 340}


def density(counts: Any, variance: float = 25.0) -> Cells:
    counts = np.asarray(counts, dtype=float)
    grid = Grid(len(counts))
    return Cells(grid=grid, counts=counts, noise=TreeNoise(grid=grid, levels=(variance,)))


def figure_of(density: Cells, *more: Any, **named: Any) -> Figure:
    return map_figures.density_figure(supported_tiles(density, "gaussian", 1 << 13), *more, **named)


def hot(side: int, across: int, up: int, people: float = 5000.0) -> Cells:
    counts = np.zeros((side, side))
    counts[across, up] = people
    return density(counts)


def drawings(figure: Any) -> dict[str, ET.Element]:
    """Return both drawings, parsed as XML: an element left open or a stray ampersand raises."""
    both = list(ET.fromstring(f"<both>{figure.drawing}</both>"))  # noqa: S314 - made here
    return {kind: one for one, kind in zip(both, ("wide", "narrow"), strict=True) if f" {kind}" in one.get("class", "")}


def pixels(image: ET.Element) -> Any:
    """Return the colours of a PNG row by row from the top, None where it is transparent."""
    data = base64.b64decode(image.attrib["href"].removeprefix("data:image/png;base64,"))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    parts, at = {}, 8
    while at < len(data):
        (length,), name = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(name + body)
        parts[name], at = body, at + 12 + length
    width, height, *kind = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    assert kind == [8, 3, 0, 0, 0]
    assert parts[b"tRNS"] == b"\0"
    lines = np.frombuffer(zlib.decompress(parts[b"IDAT"]), dtype=np.uint8).reshape(height, width + 1)
    assert not lines[:, 0].any()
    palette = ["#" + parts[b"PLTE"][3 * k : 3 * k + 3].hex() for k in range(len(parts[b"PLTE"]) // 3)]
    return [[palette[k] if k else None for k in line] for line in lines[:, 1:].tolist()]


def map_of(drawing: ET.Element, theme: str = "light") -> ET.Element:
    return next(one for one in drawing.iter("image") if one.get("class") == theme)


def texts(drawing: ET.Element) -> list[str]:
    return ["".join(one.itertext()) for one in drawing.iter("text")]


def legend(drawing: ET.Element) -> list[float]:
    words = texts(drawing)
    start = next(k for k, word in enumerate(words) if word.startswith("people per cell"))
    return [float(word.replace(",", "").replace("k", "e3").replace("m", "e6")) for word in words[start + 1 :]]


def uniform(seed: int, *shape: int) -> Any:
    return ((rng.seeded(seed).words(int(np.prod(shape))) >> np.uint64(12)) * 2.0**-52 + 2.0**-53).reshape(shape)


class Unknown:
    """Noise of which nothing is known."""

    def variances(self, rectangles: Rectangles) -> Any:
        return np.full(len(rectangles.left), np.inf)

    def cells(self) -> Any:
        return np.full((8, 8), np.inf)


CASES = {
    "states": (density(50 * uniform(1, 64, 64) ** -1.4), STATES, NAMES),
    "world": (density(30 * ndtri(uniform(2, 128, 128)), 900.0), WORLD, NAMES),
    "new york": (hot(256, 90, 140, 1e6), NEW_YORK, ("pickup_longitude", "pickup_latitude")),
    "metres": (density(np.arange(64.0).reshape(8, 8)), METRES, ("x", "y")),
    "empty": (density(np.zeros((20, 20))), ((5.8, 15.1), (47.2, 55.1)), NAMES),
    "no noise": (density(np.zeros((8, 8)), 0.0), WORLD, NAMES),
    "nothing known": (Cells(grid=Grid(8), counts=np.ones((8, 8)), noise=Unknown()), WORLD, NAMES),
    "one cell": (density([[7.0]]), METRES, ("x", "y")),
    "fine": (hot(512, 500, 3), STATES, NAMES),
    "prime": (hot(131, 130, 0), STATES, NAMES),
    "thin": (hot(8, 0, 0), ((0.0, 1e6), (0.0, 1.0)), ("a", "b")),
    "pole": (hot(8, 0, 0), ((-180.0, 180.0), (84.0, 90.0)), NAMES),
    "hostile": (hot(8, 0, 0), STATES, HOSTILE),
}


@pytest.mark.parametrize("case", list(CASES))
def test_both_maps_are_well_formed_closed_and_small(case: str) -> None:
    own, box, names = CASES[case]
    queries = (map_figures.QueryAnswer(box=box, value=3.0, low=-1.0, high=7.0),)
    for figure in (figure_of(own, box, names, queries), map_figures.trust_figure(own, box, names)):
        found = drawings(figure)
        assert set(found) == {"wide", "narrow"}
        assert len(figure.drawing) < 150_000
        assert "nan" not in figure.drawing
        assert "inf" not in re.sub(r'base64,[^"]*', "", figure.drawing)
        assert not re.findall(r"https?:|url\(|<script|<style| on\w+=", figure.drawing)
        for drawing in found.values():
            assert drawing.get("role") == "img"
            assert drawing.get("aria-label")
            links = [one.get("href") for one in drawing.iter() if "href" in one.attrib]
            assert links
            assert all(link is not None and link.startswith("data:image/png;base64,") for link in links)
            for key in ("fill", "stroke"):
                colours = {one.get(key) for one in drawing.iter()} - {None, "none"}
                assert colours <= set(charts.VARIABLES)  # the page gives these a value in light, dark and print


@pytest.mark.parametrize(("kind", "width"), SIZES.items())
def test_a_cell_is_drawn_east_to_the_right_and_north_at_the_top(kind: str, width: int) -> None:
    drawing = drawings(figure_of(hot(8, 6, 1), STATES, NAMES))[kind]
    painted = pixels(map_of(drawing))
    assert [(row, column) for row in range(8) for column in range(8) if painted[row][column]] == [(6, 6)]
    flipped = pixels(map_of(drawings(figure_of(hot(8, 1, 6), STATES, NAMES))[kind]))
    assert flipped != painted
    assert [row[::-1] for row in flipped[::-1]] == painted
    image = map_of(drawing)
    assert float(drawing.attrib["width"]) == width
    assert float(image.attrib["x"]) + float(image.attrib["width"]) <= width


def test_more_people_have_the_next_colour_in_light_and_in_dark() -> None:
    drawing = drawings(figure_of(density([[0, 20], [300, 40_000]]), METRES, ("x", "y")))["wide"]
    at = legend(drawing)
    assert at == [10, 100, 1000, 10_000]
    for theme, colours in (("light", colour_scale.LIGHT), ("dark", colour_scale.DARK)):
        top, bottom = pixels(map_of(drawing, theme))
        ramp = (None, *colour_scale.ramp(colours, len(at)))
        assert [*bottom, *top] == [ramp[sum(count >= limit for limit in at)] for count in (0, 300, 20, 40_000)]


def test_the_legend_shows_every_colour_in_order() -> None:
    drawing = drawings(figure_of(density([[0, 20], [300, 40_000]]), METRES, ("x", "y")))["narrow"]
    images = [one for one in drawing.iter("image") if one.get("class") == "light"]
    assert pixels(images[1]) == [[None, *colour_scale.ramp(colour_scale.LIGHT, len(legend(drawing)))]]


def lightness(colour: str) -> float:
    """CIE L* of an sRGB colour."""
    parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(116 * np.cbrt(linear @ [0.2126, 0.7152, 0.0722]) - 16)


def test_colours_run_evenly_away_from_the_paper() -> None:
    for colours, sign in ((colour_scale.LIGHT, -1), (colour_scale.DARK, 1)):
        steps = sign * np.diff([lightness(colour) for colour in colours])
        assert steps.min() > 6
        assert steps.max() < 20


@pytest.mark.parametrize("seed", range(6))
def test_steps_are_round_few_and_ascending(seed: int) -> None:
    even = uniform(seed, 900)
    for scale in (0.3, 3, 40, 1e4, 1e8):
        for values in (even**-2.0 * scale, (9 + ndtri(even)) * scale, even * scale):
            for least in (0.0, 1.0, scale):
                at = colour_scale.steps(values, least)
                assert 1 <= len(at) <= colour_scale.MOST
                assert list(at) == sorted(set(at))
                assert at[0] >= 1
                assert all(len(f"{value:.0f}".rstrip("0")) <= 2 for value in at)
                assert len(at) == 1 or at[-1] <= values.max()


def test_steps_tell_apart_what_noise_does_not_hide() -> None:
    skewed = np.array([0.0] * 90 + [100, 1000, 10_000, 100_000])
    assert len(set(colour_scale.classes(skewed, colour_scale.steps(skewed, 50)).tolist())) == 5
    smooth = np.linspace(80, 190, 64)
    assert len(set(colour_scale.classes(smooth, colour_scale.steps(smooth, 5)).tolist())) >= 5
    assert set(colour_scale.classes(smooth, colour_scale.steps(smooth, 500)).tolist()) == {0}


@pytest.mark.parametrize("kind", SIZES)
def test_a_query_lies_where_its_degrees_say_with_its_answer(kind: str) -> None:
    query = map_figures.QueryAnswer(box=((-100.0, -90.0), (30.0, 35.0)), value=12_345.6, low=11_301.0, high=13_390.0)
    drawing = drawings(figure_of(hot(8, 0, 0), STATES, NAMES, (query,)))[kind]
    image = {key: float(map_of(drawing).attrib[key]) for key in ("x", "y", "width", "height")}
    found = [one for one in drawing.iter("rect") if one.get("class") == "query"]
    place = {key: float(found[0].attrib[key]) for key in image}
    (left, right), (bottom, top) = STATES
    across, up = image["width"] / (right - left), image["height"] / (top - bottom)
    expected = {"x": image["x"] + 25 * across, "y": image["y"] + 14.5 * up, "width": 10 * across, "height": 5 * up}
    assert len(found) == 1
    assert place == pytest.approx(expected, abs=0.15)
    assert up / across == pytest.approx(1 / np.cos(np.radians(37)), rel=1e-3)  # true to scale at the middle
    assert {"12,300", "11,300 to 13,400"} <= set(texts(drawing))


def test_labels_of_queries_do_not_lie_over_one_another() -> None:
    boxes = [((-120.0 + 12 * k, -118.0 + 12 * k), (30.0, 31.0)) for k in range(4)] * 2
    queries = tuple(map_figures.QueryAnswer(box=box, value=5e5, low=4e5, high=6e5) for box in boxes)
    drawing = drawings(figure_of(hot(8, 0, 0), STATES, NAMES, queries))["wide"]
    places = [(float(one.attrib["x"]), float(one.attrib["y"])) for one in drawing.iter("text") if one.text == "500,000"]
    apart = [abs(a[0] - b[0]) > 90 or abs(a[1] - b[1]) > 20 for k, a in enumerate(places) for b in places[:k]]
    assert len(places) == 8
    assert all(apart)


def shores(figure: Any) -> list[str]:
    found = [one for one in drawings(figure)["wide"].iter("svg") if one.get("class") == "outlines"]
    return [path.attrib["d"] for one in found for path in one.iter("path")]


def test_outlines_are_drawn_on_earth_and_nowhere_else() -> None:
    own = hot(8, 0, 0)
    assert len(shores(figure_of(own, NEW_YORK, NAMES))) == 3
    assert len(shores(figure_of(own, STATES, NAMES))) == 2
    assert len(shores(figure_of(own, WORLD, NAMES))) == 1
    for box, names in ((METRES, NAMES), (NEW_YORK, ("x", "y")), (((-181.0, 0.0), (0.0, 9.0)), NAMES)):
        figure = figure_of(own, box, names)
        assert not shores(figure)
        assert "°" not in figure.drawing
        assert " km" not in figure.drawing


def inside(place: tuple[float, float], rings: list[Any]) -> bool:
    """Whether a ray to the east crosses closed rings an odd number of times."""
    crossings = 0
    for ring in rings:
        (x, y), (u, v) = ring[:-1].T, ring[1:].T
        cut = (y > place[1]) != (v > place[1])
        crossings += int((x[cut] + (place[1] - y[cut]) / (v[cut] - y[cut]) * (u[cut] - x[cut]) > place[0]).sum())
    return crossings % 2 == 1


def test_shores_are_where_they_are_in_the_world() -> None:
    lines = outlines.within(WORLD)[0]
    islands = [line for line in lines if (line[0] == line[-1]).all()]
    land = {"Iceland": (-18.5, 64.9), "Madagascar": (46.7, -19.4), "Honshu": (138.0, 36.0), "Tasmania": (146.6, -42.0)}
    water = {
        "Biscay": (-5.0, 45.5),
        "North Sea": (3.0, 56.0),
        "Bass Strait": (146.0, -39.9),
        "Iceland's east": (-10, 64.9),
    }
    assert all(inside(place, islands) for place in land.values())
    assert not any(inside(place, islands) for place in water.values())
    assert not any(inside((place[1], place[0]), islands) for place in land.values())  # swapped axes are noticed


def test_manhattan_is_an_island_between_two_rivers() -> None:
    rings = [line for line in outlines.within(NEW_YORK)[0] if (line[0] == line[-1]).all()]
    assert inside((-73.965, 40.79), rings)
    assert not inside((-74.02, 40.75), rings)
    assert not inside((-73.95, 40.755), rings)


def test_outlines_hold_what_touches_the_box() -> None:
    for box in (NEW_YORK, STATES):
        (left, right), (bottom, top) = box
        found = outlines.within(box)
        assert [bool(kind) for kind in found] == [True, True, box == NEW_YORK]
        for kind in found:
            for line in kind:
                low, high = np.minimum(line[:-1], line[1:]), np.maximum(line[:-1], line[1:])
                assert (high >= (left, bottom)).all()
                assert (low <= (right, top)).all()
    assert outlines.within(((-30.0, -29.9), (-30.0, -29.9))) == [[], [], []]


@pytest.mark.parametrize("side", [4, 16, 20, 64])
def test_trust_is_the_interval_as_a_share_of_the_estimate(side: int) -> None:
    counts = np.zeros((side, side))
    half = side // 2
    cells = half * half
    counts[:half, :half] = 10_000.0
    counts[:half, half:] = 1.0
    counts[half:, half:] = -50.0
    drawn, regions = map_figures.trust(density(counts, 400.0))
    assert regions == min(side, 16)
    assert drawn.shape == (side, side)
    words = [[map_figures.TRUST[int(drawn[a, u])][0] for u in (0, side - 1)] for a in (0, side - 1)]
    nobody = "cannot be told from nobody"
    assert words == [["within 10 %", nobody], [nobody, nobody]]
    assert (drawn == 3).sum() == cells or side == 20


def test_trust_has_a_word_for_every_precision() -> None:
    counts = np.array([[1000.0, 210.0], [60.0, 30.0]])  # intervals of 40 either way, at a standard error of 20
    drawn, _ = map_figures.trust(density(counts, 400.0))
    assert [[map_figures.TRUST[k][0] for k in row] for row in drawn.tolist()] == [
        ["within 10 %", "within 30 %"],
        ["rough", "cannot be told from nobody"],
    ]
    sharper, _ = map_figures.trust(density(counts, 4.0))
    assert (sharper > drawn)[1].all()


def test_the_trust_map_is_painted_in_the_right_place() -> None:
    drawing = drawings(map_figures.trust_figure(hot(8, 6, 1), STATES, NAMES))["wide"]
    painted = pixels(map_of(drawing))
    assert [(row, column) for row in range(8) for column in range(8) if painted[row][column]] == [(6, 6)]
    assert {words for words, _ in map_figures.TRUST} <= set(texts(drawing))


def test_what_is_read_aloud_holds_the_published_answers_and_no_other_number() -> None:
    query = map_figures.QueryAnswer(box=STATES, value=4_321.0, low=4_301.0, high=4_341.0)
    own = hot(8, 6, 1, 987_654.0)
    for figure in (
        figure_of(own, STATES, NAMES, (query,)),
        map_figures.trust_figure(own, STATES, NAMES),
    ):
        for drawing in drawings(figure).values():
            aloud = drawing.attrib["aria-label"] + "".join(one.text or "" for one in drawing.iter("desc"))
            assert set(re.findall(r"[\d,.]*\d", aloud)) <= {"4,321", "4,301", "4,341"}
    plain = drawings(figure_of(own, STATES, NAMES))["wide"].attrib["aria-label"]
    assert plain == "Map of the estimated number of people by lon and lat"


def test_the_caption_says_what_is_merged_and_what_has_no_colour() -> None:
    fine = figure_of(hot(512, 500, 3), STATES, NAMES)
    assert (fine.facts["drawn"], fine.facts["tiles"]) == (128, 1 + 3 * 9)
    painted = pixels(map_of(drawings(fine)["wide"]))
    assert [(row, column) for row in range(128) for column in range(128) if painted[row][column]] == [(127, 125)]
    lowest = legend(drawings(fine)["wide"])[0]
    assert fine.facts["least"] == lowest


def test_exactly_one_picture_of_each_pair_is_shown_by_the_style() -> None:
    assert re.sub(r"\s+", "", map_frame.STYLE).count("display:inline;") == 2
    for drawing in drawings(figure_of(hot(8, 0, 0), STATES, NAMES)).values():
        hidden = [(one.get("class"), one.get("display")) for one in drawing.iter("image")]
        assert hidden == [("light", None), ("dark", "none")] * (len(hidden) // 2)
        assert "map" in drawing.attrib["class"].split()


def test_a_map_of_one_tile_has_no_colour_and_no_legend() -> None:
    drawing = drawings(figure_of(density(np.full((8, 8), 1.0)), STATES, NAMES))["wide"]
    assert pixels(map_of(drawing)) == [[None]]
    assert not any("per cell" in words for words in texts(drawing))
    assert any("per cell" in words for words in texts(drawings(figure_of(hot(8, 6, 1), STATES, NAMES))["wide"]))
