"""A place's own name in a query: both of its ranges in one, the same as one of each column."""

import pytest

from dpress.attributes.domain import Schema
from dpress.attributes.location.attribute import Location
from dpress.document.design import acting
from dpress.query.boxes import rectangles
from dpress.query.schema_queries import conditions_of, query_of


def schema(name: str = "pick up", columns: tuple[str, str] = ("lon", "lat")) -> Schema:
    location = Location(name=name, pair=columns, bounds=((-75.0, -73.0), (40.0, 41.0)))
    return acting((location,), (location.axes(4)[0],))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("pick up in (-74..-73.5, 40.2..40.4)", "lon in -74..-73.5 and lat in 40.2..40.4"),
        ("pick up in ( -74 .. -73.5 , 40.2 .. 40.4 )", "lon in -74..-73.5 and lat in 40.2..40.4"),
        (
            "pick up in (-74..-73.5, 40.2..40.4) and lat < 40.3",
            "lon in -74..-73.5 and lat in 40.2..40.4 and lat < 40.3",
        ),
        ("not pick up in (-74..-73.5, 40.2..40.4)", "not (lon in -74..-73.5 and lat in 40.2..40.4)"),
    ],
)
def test_a_place_is_both_of_its_columns(text: str, same: str) -> None:
    known = schema()
    assert conditions_of(known, text) == conditions_of(known, same)
    assert query_of(known, f"share {text}") == query_of(known, f"share {same}")
    assert rectangles(known, text) == rectangles(known, same)


@pytest.mark.parametrize(
    "test", ["= here", "in (1..2)", "in (a, b)", "in 1..2", "in (1..2, 3..4, 5..6)", "is missing", "< 3"]
)
def test_another_test_of_a_place_is_refused_with_what_would_be_right(test: str) -> None:
    with pytest.raises(
        ValueError, match=r"^pick up is a place: write `pick up in \(a\.\.b, c\.\.d\)`, a\.\.b of lon and"
    ):
        query_of(schema(), f"pick up {test}")


def test_a_column_of_the_same_name_is_meant_itself() -> None:
    same = schema("lon")
    assert same.sides == {}
    assert query_of(same, "lon in -74..-73.5").first.attribute == "lon"
