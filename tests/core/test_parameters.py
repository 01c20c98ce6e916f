"""Structs of parameters: what is given is read as it is declared, or refused in one line that says what is right."""

from fractions import Fraction
from typing import Annotated, Literal

import pytest
from msgspec import Meta

from dpress.core.basics.parameters import Parameters, Probability, arguments, listed, names, read, words


class Toy(Parameters, frozen=True):
    """Of every sort."""

    whole: Annotated[int, Meta(ge=2, description="at least two")] | None = None
    some: Annotated[int, Meta(ge=1, le=10, description="a few")] | None = None
    time: Annotated[float, Meta(gt=0, le=60, description="seconds")] | None = None
    share: Annotated[Fraction, Meta(description="exact")] | None = None
    chance: Annotated[Probability, Meta(description="exact, too")] | None = None
    word: Annotated[Literal["a", "b"], Meta(description="one of two")] | None = None
    root: Annotated[bool, Meta(description="or not")] | None = None
    parts: Annotated[Literal["best"] | list[Fraction], Meta(title="a title", description="either")] | None = None
    sizes: Annotated[list[Annotated[int, Meta(ge=1)]], Meta(description="several")] | None = None
    defaulted: Annotated[int, Meta(description="has a default")] = 7


class Needing(Parameters, frozen=True):
    """One that may not be left out."""

    users: Annotated[int, Meta(ge=1, description="how many")]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"whole": 1}, "whole: expected an integer >= 2, got 1"),
        ({"whole": True}, "whole: expected an integer >= 2, got True"),
        ({"whole": 2.0}, "whole: expected an integer >= 2, got 2.0"),
        ({"whole": "3"}, "whole: expected an integer >= 2, got '3'"),
        ({"some": 0}, "some: expected an integer from 1 to 10, got 0"),
        ({"some": 11}, "some: expected at most 10, got 11"),
        ({"time": 0}, "time: expected a number between 0 and 60, got 0"),
        ({"time": float("nan")}, "time: expected a number between 0 and 60, got nan"),
        ({"time": float("inf")}, "time: expected at most 60, got inf"),
        ({"share": "x"}, "share: expected a number, got 'x'"),
        ({"share": float("nan")}, "share: expected a number, got nan"),
        ({"share": "1/0"}, "share: expected a number, got '1/0'"),
        ({"chance": 1}, "chance: expected a number between 0 and 1, got 1"),
        ({"chance": "0"}, "chance: expected a number between 0 and 1, got '0'"),
        ({"chance": True}, "chance: expected a number between 0 and 1, got True"),
        ({"word": "c"}, 'word: expected "a" or "b", got \'c\''),
        ({"root": 1}, "root: expected true or false, got 1"),
        ({"parts": "worst"}, "parts: expected a title, got 'worst'"),
        ({"parts": [1, "x"]}, "parts: expected a title, got [1, 'x']"),
        ({"sizes": [1, 0]}, "sizes: expected a list of integers >= 1, got [1, 0]"),
        ({"sizes": 3}, "sizes: expected a list of integers >= 1, got 3"),
        ({"sizes": ["x" * 99]}, f"sizes: expected a list of integers >= 1, got ['{'x' * 78}..."),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(given, wanted):
    with pytest.raises(ValueError, match="parameters") as caught:
        arguments(Toy, given, "toy")
    assert str(caught.value) == f"$.release.parameters.{wanted}"


def test_what_is_right_is_handed_on_as_it_is_written():
    given = {
        "whole": 2, "some": 10, "time": 5, "share": "1/3", "chance": 0.1, "word": "b", "root": False,
        "parts": [0.5, "1/2"], "sizes": [1],
    }  # fmt: skip
    assert arguments(Toy, {**given, "another": 1, "defaulted": None}, "toy") == given
    assert arguments(Toy, {}, "toy") == {}
    own = read(Toy, given)
    assert (own.share, own.chance, own.parts) == (Fraction(1, 3), Fraction(1, 10), [Fraction(1, 2)] * 2)
    assert own.defaulted == 7
    assert read(Toy, {"whole": None}).whole is None


def test_what_is_needed_is_asked_for():
    with pytest.raises(ValueError, match=r"^\$\.release\.parameters\.users: per_record needs it$"):
        arguments(Needing, {}, "per_record")
    assert [one.needed for one in listed(Needing)] == [True]
    assert not any(one.needed for one in listed(Toy))


def test_types_are_put_into_words():
    shown = {one.name: one.type for one in listed(Toy)}
    assert tuple(shown) == names(Toy)
    assert shown["some"] == "an integer from 1 to 10"
    assert shown["parts"] == "a title"
    assert [one.sentence for one in listed(Toy)][:2] == ["at least two", "a few"]
    assert words(Literal["a", "b", "c"]) == '"a", "b" or "c"'
    assert words(Annotated[float, Meta(ge=0)]) == "a number >= 0"
    assert words(Annotated[float, Meta(le=9)]) == "a number <= 9"
