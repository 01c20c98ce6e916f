"""Attributes: cells, labels, edges, and one clear line for what cannot be."""

import bisect
from collections.abc import Callable

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpress.attributes.attribute import Attribute, Tabular
from dpress.attributes.listed.attribute import Categorical, Ordinal
from dpress.attributes.location.attribute import Location
from dpress.attributes.numbers.attribute import Integer, Numeric


@pytest.mark.parametrize(
    ("values", "more", "labels"),
    [
        (("a", "b"), {}, ("a", "b")),
        ((True, False), {}, ("true", "false")),
        ((3, 1), {"other": "rest"}, ("3", "1", "rest")),
        (("a",), {"other": "rest", "null": "none"}, ("a", "rest", "none")),
        (("a",), {"other": "rest", "null": "rest"}, ("a", "rest")),
        (("a",), {"other": "drop", "null": "none"}, ("a", "none")),
        (("a",), {"other": "rest", "null": "drop"}, ("a", "rest")),
        (("a",), {"other": "reject", "null": "reject"}, ("a",)),
    ],
)
def test_cells_of_a_list_are_its_values_then_other_then_null(
    values: tuple[str, ...], more: dict[str, str], labels: tuple[str, ...]
) -> None:
    for kind, ordered in ((Categorical, 0), (Ordinal, len(values))):
        attribute = kind(name="a", values=values, **more)
        assert attribute.labels == labels
        assert attribute.size == len(labels)
        assert attribute.ordered == ordered
        assert attribute.extra == labels[len(values) :]
        assert attribute.columns == ("a",)


@pytest.mark.parametrize(
    ("values", "more", "message"),
    [
        ((), {}, "must list at least one value"),
        (("a", 1), {}, "all strings, all integers or all booleans"),
        ((True, 1), {}, "all strings, all integers or all booleans"),
        (("a", "a"), {}, "must name different cells"),
        (("a", "b"), {"other": "b"}, "must name different cells"),
        (("a", "b"), {"null": "a"}, "must name different cells"),
        (((1), 2), {"other": "1"}, "must name different cells"),
    ],
)
def test_lists_that_name_no_cells_are_refused(values: tuple[str, ...], more: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=f"^attribute job: .*{message}"):
        Categorical(name="job", values=values, **more)


def test_groups_of_a_hierarchy_are_the_codes_below_their_label() -> None:
    rows = (("cat", "pet", "animal"), ("cow", "farm", "animal"), ("dog", "pet", "animal"), ("yak", "wild", "animal"))
    attribute = Categorical(name="a", values=("cow", "cat", "dog"), hierarchy=rows)
    assert attribute.groups == {"pet": (1, 2), "animal": (1, 0, 2), "farm": (0,)}
    assert Categorical(name="a", values=("x",), hierarchy="file.csv").groups == {}


def test_a_group_never_takes_the_name_of_a_cell() -> None:
    attribute = Categorical(name="a", values=("cow", "cat"), hierarchy=(("cow", "cat"), ("cat", "cat")))
    assert attribute.groups == {}


@given(st.integers(-50, 50), st.integers(0, 60), st.data())
def test_cells_of_an_integer_cover_every_integer_once_and_as_equally_as_they_can(
    low: int, extent: int, data: st.DataObject
) -> None:
    bins = data.draw(st.none() | st.integers(1, extent + 1))
    attribute = Integer(name="a", bounds=(low, low + extent), bins=bins)
    widths = [high - low for low, high in zip(attribute.edges, attribute.edges[1:], strict=False)]
    assert attribute.size == attribute.ordered == len(widths) == (bins or extent + 1)
    assert (attribute.edges[0], attribute.edges[-1]) == (low, low + extent + 1)
    assert sum(widths) == attribute.span == extent + 1
    assert 1 <= min(widths) <= max(widths) <= min(widths) + 1


def test_labels_of_integers_name_the_single_integer_or_both_ends() -> None:
    assert Integer(name="a", bounds=(-1, 1)).labels == ("-1", "0", "1")
    assert Integer(name="a", bounds=(0, 9), bins=3, null="none").labels == ("0..3", "4..6", "7..9", "none")
    assert Integer(name="a", bounds=(0, 2), bins=2).labels == ("0..1", "2")
    assert Integer(name="a", bounds=(0, 2), null="none").size == 4
    assert Integer(name="a", bounds=(0, 2), null="drop").extra == ()


@pytest.mark.parametrize(
    ("bounds", "bins", "message"),
    [
        ((2, 1), None, r"are \[low, high\], -2\^53 < low <= high < 2\^53, got \[2, 1\]"),
        ((0, 2**53), None, r"low <= high < 2\^53, got \[0, 9007199254740992\]"),
        ((-(2**53), 0), None, r"-2\^53 < low <= high < 2\^53, got \[-9007199254740992, 0\]"),
        ((0, 9), 0, "`bins` must lie between 1 and 10, got 0"),
        ((0, 9), 11, "`bins` must lie between 1 and 10, got 11"),
        ((-(2**53) + 1, 2**53 - 1), None, r"more than 2\^53; set fewer `bins`"),
    ],
)
def test_integers_without_sensible_cells_are_refused(bounds: tuple[int, int], bins: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=f"^attribute a: .*{message}"):
        Integer(name="a", bounds=bounds, bins=bins)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Integer(name="a", bounds=(0, 9), null="5"),
        lambda: Integer(name="a", bounds=(0, 9), bins=2, null="0..4"),
        lambda: Numeric(name="a", bounds=(0, 2), bins=2, null="[0, 1)"),
    ],
)
def test_a_null_cell_that_takes_the_name_of_another_is_refused(make: Callable[[], Attribute]) -> None:
    with pytest.raises(ValueError, match="must not be the name of another cell"):
        make()


@pytest.mark.parametrize(
    "attribute",
    [
        Numeric(name="a", bounds=(1e10, 1e10 + 4), bins=4),
        Numeric(name="a", cuts=(0.12345678901, 0.12345678902, 0.12345678903, 0.12345678904)),
    ],
)
def test_no_two_cells_have_one_label(attribute: Tabular) -> None:
    assert len(set(attribute.labels)) == attribute.size


def test_bins_of_numbers_are_equal_and_the_last_one_is_closed() -> None:
    attribute = Numeric(name="a", bounds=(0.0, 1.0), bins=4, null="none")
    assert attribute.edges.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert attribute.labels == ("[0, 0.25)", "[0.25, 0.5)", "[0.5, 0.75)", "[0.75, 1]", "none")
    assert (attribute.size, attribute.ordered) == (5, 4)
    cut = Numeric(name="a", cuts=(-1.5, 0.0, 10.0))
    assert cut.labels == ("[-1.5, 0)", "[0, 10]")
    assert cut.edges.tolist() == [-1.5, 0.0, 10.0]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(1, 300))
def test_edges_of_bins_increase_from_bound_to_bound(low: float, extent: float, bins: int) -> None:
    attribute = Numeric(name="a", bounds=(low, low + extent), bins=bins)
    assert len(attribute.edges) == bins + 1 == attribute.ordered + 1
    assert (attribute.edges[0], attribute.edges[-1]) == (low, low + extent)
    assert all(bisect.bisect_left(attribute.edges, edge) == place for place, edge in enumerate(attribute.edges))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, "set either `bins`"),
        ({"bins": 2}, "`bins` need `bounds`"),
        ({"bins": 2, "cuts": (0.0, 1.0), "bounds": (0.0, 1.0)}, "set either `bins`"),
        ({"bins": 0, "bounds": (0.0, 1.0)}, r"`bins` must lie between 1 and 2\^53, got 0"),
        ({"bins": 2, "bounds": (1.0, 0.0)}, "finite and strictly increasing"),
        ({"bins": 2, "bounds": (0.0, float("nan"))}, "finite and strictly increasing"),
        ({"bins": 2, "bounds": (0.0, float("inf"))}, "finite and strictly increasing"),
        ({"bins": 9, "bounds": (1.0, 1.0 + 2**-51)}, "finite and strictly increasing"),
        ({"cuts": (0.0,)}, "finite and strictly increasing"),
        ({"cuts": (0.0, 0.0)}, "finite and strictly increasing"),
        ({"cuts": (0.0, 1.0), "bounds": (0.0, 2.0)}, "first and the last of `edges` must equal `bounds`"),
    ],
)
def test_numbers_without_sensible_bins_are_refused(more: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^attribute a: .*{message}"):
        Numeric(name="a", **more)


def sizes(attribute: Integer) -> list[int]:
    """Return the edges by exact integers, as the documentation states them."""
    low, cells, span = attribute.bounds[0], attribute.ordered, attribute.span
    return [low - (-cell * span // cells) for cell in range(cells + 1)]


@st.composite
def bounded(draw: st.DrawFn) -> Integer | Numeric:
    null = draw(st.sampled_from(["reject", "none"]))
    if draw(st.booleans()):
        low, extent = draw(st.integers(-(2**52), 2**52)), draw(st.integers(0, 300))
        return Integer(
            name="a", bounds=(low, low + extent), bins=draw(st.none() | st.integers(1, extent + 1)), null=null
        )
    if draw(st.booleans()):
        cuts = draw(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20, unique=True))
        return Numeric(name="a", cuts=tuple(sorted(cuts)), null=null)
    low, extent = draw(st.floats(-1e6, 1e6)), draw(st.floats(1e-3, 1e6))
    return Numeric(name="a", bounds=(low, low + extent), bins=draw(st.integers(1, 300)), null=null)


@given(bounded(), st.data())
def test_parts_of_an_axis_are_parts_of_the_whole(attribute: Integer | Numeric, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, attribute.size))
    stop = data.draw(st.integers(start, attribute.size))
    assert attribute.labels_between(start, stop) == list(attribute.labels[start:stop])
    places = np.array([start, stop]).clip(max=attribute.ordered)
    assert attribute.edges_at(places).tolist() == attribute.edges[places].tolist()
    assert attribute.ends == (attribute.edges[0], attribute.edges[-1])
    if isinstance(attribute, Integer):
        assert attribute.edges.tolist() == sizes(attribute)


@given(bounded())
def test_every_cell_is_found_by_its_label_and_by_its_edges(attribute: Integer | Numeric) -> None:
    assert [attribute.code(label) for label in attribute.labels] == list(range(attribute.size))
    edges = attribute.edges.astype(float)
    between = (edges[:-1] + edges[1:]) / 2
    numbers = np.sort(np.concatenate([edges, between, np.nextafter(edges[1:], edges[0])]))
    expected = np.searchsorted(edges, numbers, side="right") - 1
    assert attribute.edge_below(numbers).tolist() == expected.tolist()


@pytest.mark.parametrize("label", ["", "x", "-", "999", "01", "1.0", " 1", "[1, 2", "nan", "9" * 5000, "\u0661"])
def test_what_is_no_label_has_no_cell(label: str) -> None:
    for attribute in (Integer(name="a", bounds=(0, 9)), Numeric(name="a", bounds=(0, 9), bins=9)):
        assert attribute.code(label) is None
    assert Categorical(name="a", values=("F",)).code(label) is None


@pytest.mark.parametrize(
    ("attribute", "label"),
    [
        (Integer(name="a", bounds=(0, 2**53 - 1), null="none"), "4503599627370496"),
        (Integer(name="a", bounds=(1 - 2**53, 2**53 - 1), bins=2**52, null="none"), "-3..0"),
        (Integer(name="a", bounds=(0, 2**53 - 1), bins=2**53 - 1, null="none"), "4503599627370497"),
        (Numeric(name="a", bounds=(0.0, 1e15), bins=2**45, null="none"), None),
        (Numeric(name="a", bounds=(0.0, 1.0), bins=2**47, null="none"), None),
    ],
)
def test_axes_far_too_long_to_hold_are_served_in_parts(attribute: Integer | Numeric, label: str | None) -> None:
    middle = attribute.ordered // 2
    near = attribute.labels_between(middle - 2, middle + 2)
    assert len(set(near)) == 4
    assert [attribute.code(one) for one in near] == list(range(middle - 2, middle + 2))
    assert attribute.labels_between(attribute.size - 1, attribute.size) == ["none"]
    assert label is None or label in near
    edges = attribute.edges_at(np.arange(middle - 2, middle + 2))
    assert attribute.edge_below(edges.astype(float)).tolist() == list(range(middle - 2, middle + 2))


def test_a_null_cell_that_takes_the_name_of_one_of_very_many_is_refused() -> None:
    with pytest.raises(ValueError, match="must not be the name of another cell"):
        Integer(name="a", bounds=(0, 2**53 - 1), null="123456789012345")


@pytest.mark.parametrize("bins", [2**17, 2**53])
def test_very_many_bins_too_narrow_for_floating_point_numbers_are_refused(bins: int) -> None:
    with pytest.raises(ValueError, match="finite and strictly increasing"):
        Numeric(name="a", bounds=(1.0, 1.0 + 2.0**-36), bins=bins)
    with pytest.raises(ValueError, match="finite and strictly increasing"):
        Numeric(name="a", bounds=(-1e308, 1e308), bins=bins)


def test_a_location_reads_two_columns_and_has_no_cells_of_its_own() -> None:
    place = Location(name="place", pair=("lon", "lat"), bounds=((-1.0, 1.0), (0.0, 2.0)))
    assert place.columns == ("lon", "lat")
    with pytest.raises(ValueError, match="with low < high"):
        Location(name="place", pair=("lon", "lat"), bounds=((1.0, 1.0), (0.0, 2.0)))


def test_the_specifications_words_are_read_and_unknown_ones_refused() -> None:
    text = b'{"kind":"numeric","name":"a","edges":[0,1,2]}'
    assert msgspec.json.decode(text, type=Attribute) == Numeric(name="a", cuts=(0.0, 1.0, 2.0))
    text = b'{"kind":"location","name":"p","columns":["x","y"],"bounds":[[0,1],[0,1]]}'
    assert msgspec.json.decode(text, type=Attribute).columns == ("x", "y")
    with pytest.raises(msgspec.ValidationError, match="unknown field `cuts`"):
        msgspec.json.decode(b'{"kind":"numeric","name":"a","cuts":[0,1]}', type=Attribute)
