"""Attributes and schemas: cells, labels, edges, and one clear line for what cannot be."""

import bisect
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpress.core.domain import Attribute, Categorical, Integer, Location, Numeric, Ordinal, Schema, Tabular
from dpress.core.errors import NotSupported, SchemaMismatch

SEX = Categorical(name="sex", values=("F", "M"))
AGE = Integer(name="age", bounds=(0, 9))


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
        ((2, 1), None, r"must be \[low, high\] with low <= high"),
        ((0, 2**53), None, r"below 2\^53"),
        ((-(2**53), 0), None, r"below 2\^53"),
        ((0, 9), 0, "`bins` must lie between 1 and 10, got 0"),
        ((0, 9), 11, "`bins` must lie between 1 and 10, got 11"),
        ((0, 2**31), None, r"more than 2\^26; set fewer `bins`"),
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
    assert attribute.edges == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert attribute.labels == ("[0, 0.25)", "[0.25, 0.5)", "[0.5, 0.75)", "[0.75, 1]", "none")
    assert (attribute.size, attribute.ordered) == (5, 4)
    cut = Numeric(name="a", cuts=(-1.5, 0.0, 10.0))
    assert cut.labels == ("[-1.5, 0)", "[0, 10]")
    assert cut.edges == (-1.5, 0.0, 10.0)


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
        ({"bins": 0, "bounds": (0.0, 1.0)}, r"`bins` must lie between 1 and 2\^26, got 0"),
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


def test_a_location_reads_two_columns_and_has_no_cells_of_its_own() -> None:
    place = Location(name="place", pair=("lon", "lat"), bounds=((-1.0, 1.0), (0.0, 2.0)))
    assert place.columns == ("lon", "lat")
    with pytest.raises(NotSupported, match="a location has no cells of its own"):
        _ = Schema((place,)).shape
    with pytest.raises(ValueError, match="with low < high"):
        Location(name="place", pair=("lon", "lat"), bounds=((1.0, 1.0), (0.0, 2.0)))


def test_a_schema_has_the_axes_of_its_attributes_in_order() -> None:
    schema = Schema((SEX, AGE))
    assert schema.names == ("sex", "age")
    assert schema.shape == (2, 10)
    assert schema.size == 20
    assert schema.axes(["age", "sex"]) == (1, 0)
    assert schema.subset(["age"]) == Schema((AGE,))
    assert schema.attribute("sex") is SEX


@pytest.mark.parametrize("attributes", [(SEX, SEX), (Integer(name="", bounds=(0, 1)),)])
def test_attributes_without_a_name_of_their_own_are_refused(attributes: tuple[Attribute, ...]) -> None:
    with pytest.raises(ValueError, match="different, non-empty names"):
        Schema(attributes)


def test_an_unknown_attribute_is_refused_with_those_there_are() -> None:
    with pytest.raises(SchemaMismatch, match="there is no attribute 'job'; the attributes are sex, age"):
        Schema((SEX, AGE)).axes(["job"])


def test_the_specifications_words_are_read_and_unknown_ones_refused() -> None:
    text = b'{"kind":"numeric","name":"a","edges":[0,1,2]}'
    assert msgspec.json.decode(text, type=Attribute) == Numeric(name="a", cuts=(0.0, 1.0, 2.0))
    text = b'{"kind":"location","name":"p","columns":["x","y"],"bounds":[[0,1],[0,1]]}'
    assert msgspec.json.decode(text, type=Attribute).columns == ("x", "y")
    with pytest.raises(msgspec.ValidationError, match="unknown field `cuts`"):
        msgspec.json.decode(b'{"kind":"numeric","name":"a","cuts":[0,1]}', type=Attribute)
