import msgspec
import numpy as np
import pytest

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.maps.ranges import Range
from dpress.query.boxes import box, product

SCHEMA = Schema(
    tuple(
        msgspec.convert(plain, Attribute)
        for plain in (
            {"name": "age", "kind": "integer", "bounds": [17, 90], "null": "unknown"},
            {"name": "five", "kind": "integer", "bounds": [0, 19], "bins": 4},
            {"name": "income", "kind": "numeric", "bounds": [0, 100], "bins": 4},
            {
                "name": "place of birth",
                "kind": "categorical",
                "values": ["Trinidad and Tobago", "Peru", "Fiji"],
                "hierarchy": [["Trinidad and Tobago", "America"], ["Peru", "America"], ["Fiji", "Oceania"]],
                "other": "Else",
            },
            {"name": "grade", "kind": "ordinal", "values": ["low", "mid", "high"]},
        )
    )
)


def cells(text, name):
    weights = product(SCHEMA, text)
    for other, weight in zip(SCHEMA.names, weights, strict=True):
        assert other == name or np.all(weight == 1)
    return np.flatnonzero(weights[SCHEMA.names.index(name)]).tolist()


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("age in 30..40", "age", list(range(13, 24))),
        ("age = 17", "age", [0]),
        ("age != 17", "age", list(range(1, 75))),
        ("age >= 88", "age", [71, 72, 73]),
        ("age > 88", "age", [72, 73]),
        ("age < 19", "age", [0, 1]),
        ("age <= 19", "age", [0, 1, 2]),
        ("age in 0..17", "age", [0]),
        ("age in (17, 20)", "age", [0, 3]),
        ("age = unknown", "age", [74]),
        ("five in 5..14", "five", [1, 2]),
        ("five = 5..9", "five", [1]),
        ("income in 25..75", "income", [1, 2]),
        ("income < 50", "income", [0, 1]),
        ("income >= 50", "income", [2, 3]),
        ("income = '[0, 25)'", "income", [0]),
        ("place of birth = Trinidad and Tobago", "place of birth", [0]),
        ('place of birth = "Peru"', "place of birth", [1]),
        ("place of birth = America", "place of birth", [0, 1]),
        ("place of birth in ('Trinidad and Tobago', Fiji)", "place of birth", [0, 2]),
        ("place of birth in (Peru, 'Trinidad and Tobago')", "place of birth", [0, 1]),
        ("place of birth = Else", "place of birth", [3]),
        ("grade in mid..high", "grade", [1, 2]),
        ("grade <= mid", "grade", [0, 1]),
        ("'age' = 17", "age", [0]),
        ("age is missing", "age", [74]),
        ("not age is missing", "age", list(range(74))),
        ("age between 30 and 40", "age", list(range(13, 24))),
        ("grade between mid and high and grade != mid", "grade", [2]),
        ("not place of birth = America", "place of birth", [2, 3]),
        ("age = 17 or age >= 90", "age", [0, 73]),
        ("not (grade = low or grade = high)", "grade", [1]),
        ('"place of birth" = Peru', "place of birth", [1]),
        ("'place of birth' in (Peru, 'Trinidad and Tobago')", "place of birth", [0, 1]),
        ("'Trinidad and Tobago' = place of birth", "place of birth", [0]),
        ("\"Peru\" != 'place of birth'", "place of birth", [0, 2, 3]),
        ("'88' <= age", "age", [71, 72, 73]),
        ("'19' > age and '18' <= age", "age", [1]),
        ("'mid' >= grade", "grade", [0, 1]),
        ("place of birth = 'Peru' and 'Peru' = place of birth", "place of birth", [1]),
    ],
)
def test_conditions_select_cells(text, name, expected):
    assert cells(text, name) == expected


def test_conditions_are_joined_by_and():
    weights = product(SCHEMA, "place of birth = Trinidad and Tobago and age in 17..18 and grade = low and age >= 18")
    assert [np.flatnonzero(w).tolist() for w in (weights[0], weights[3], weights[4])] == [[1], [0], [0]]
    assert all(np.all(weight == 1) for weight in product(SCHEMA, "total"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot read ''"),
        ("weight = 3", "cannot read 'weight = 3'.*with the attributes age, five"),
        ("age", "cannot read 'age'"),
        ("age in 30", r"write a..b or \(a, b, c\)"),
        ("age in a..b", "age: expected a number, got 'a'"),
        ("age = 16", "age"),
        ("age in 91..95", "nothing lies there; it runs from 17 to 90"),
        ("age in 40..30", r"age: the ends of 40..30 are reversed; write 30..40"),
        ("age in 18..29 and hours >= 40", "there is no attribute 'hours'; the attributes are age, five"),
        ("age < 60 and hours per week in 1..2", "there is no attribute 'hours per week'"),
        ("grade = low and Age = 20", "there is no attribute 'Age'"),
        ("five in 3..9", r"cuts through a cell; the nearest range around it is 0..9"),
        ("five = 3", "five has no cell '3'|cuts through a cell"),
        ("income in 10..50", "cuts through a cell"),
        ("income < nan", "expected a number"),
        ("age in nan..nan", "expected a number"),
        ("age < 60 AND grade = low", "conditions are joined by `and` and `or`, in small letters"),
        ("grade in ()", "the list after `in` is empty"),
        ("place of birth = Mars", "place of birth has no value 'Mars'; it has Trinidad and Tobago, Peru, Fiji, Else"),
        ("place of birth in Peru..Fiji", "has no order"),
        ("grade < high", "use <=, >= or in a..b"),
        ("grade in high..low", r"grade: the ends of high..low are reversed; write low..high"),
        ("where age = 30", "leave out `where`: a query is a condition alone"),
        ("age == 30", "`==` is no operator; did you mean `age = 30`"),
        ("grade == low", "`==` is no operator; did you mean `grade = low`"),
        ("grade = low AND age < 60", "conditions are joined by `and` and `or`, in small letters"),
        ("grade = low & age < 60", "conditions are joined by `and` and `or`, in small letters"),
        ("grade = low by age", "groups are `count by age where grade = low`"),
        ("grade = low or high", r"`or` stands between conditions; did you mean `grade in \(low, high\)`"),
        ("grade = low OR high", r"did you mean `grade in \(low, high\)`"),
        ("grade = low or agee = 30", "there is no attribute 'agee'; the attributes are .*; did you mean 'age'"),
        ("age = 30 or grade = low", "is a union of 2 boxes, and here one is answered at a time"),
        ("grade is missing", "grade has no cell for missing values; `null` of a specification names it"),
        ("age between 20", "cannot read '20' after `between`; write `age between a and b`"),
        ("age between 20 and", "after `between`"),
        ("grade = low and 'agee' = 3", "there is no attribute 'agee'; the attributes are .*; did you mean 'age'"),
        ("'agee' = 30", "cannot read .*; did you mean 'age'"),
        ("'low' in grade", "cannot read"),
        ("'low' == grade", "cannot read"),
        ("agee = 30", "cannot read 'agee = 30'.*; did you mean 'age'"),
        ("grade = low and Age = 20", "there is no attribute 'Age'; the attributes are .*; did you mean 'age'"),
        ("grade", "write e.g. `grade = VALUE`, and the whole query in quotes in a shell"),
        ("place of birth = peru", "has no value 'peru'; .*; did you mean 'Peru'"),
    ],
)
def test_what_cannot_be_answered_says_what_can(text, message):
    with pytest.raises(ValueError, match=message):
        product(SCHEMA, text)


def test_of_a_label_in_other_letters_the_label_is_meant_and_no_other_value():
    plain = {
        "name": "sex",
        "kind": "categorical",
        "values": ["Homme", "Femme"],
        "labels": {"Homme": "men", "Femme": "women"},
    }
    with pytest.raises(ValueError, match=r"sex has no value 'Women'; .*; did you mean 'women'"):
        product(Schema((msgspec.convert(plain, Attribute),)), "sex = Women")


ORDERED = Schema(tuple(attribute for attribute in SCHEMA.attributes if attribute.name != "place of birth"))
WHOLE = {"age": Range(1, 75), "five": Range(1, 4), "income": Range(1, 4), "grade": Range(1, 3)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("total", {}),
        ("age in 30..40", {"age": Range(14, 24)}),
        ("age = 17", {"age": Range(1, 1)}),
        ("age = unknown", {"age": Range(75, 75)}),
        ("age < 19", {"age": Range(1, 2)}),
        ("age > 88", {"age": Range(73, 74)}),
        ("age >= 20 and age <= 30", {"age": Range(4, 14)}),
        ("age <= 30 and five = 5..9 and age >= 20", {"age": Range(4, 14), "five": Range(2, 2)}),
        ("income in 25..75 and grade >= mid", {"income": Range(2, 3), "grade": Range(2, 3)}),
        ("grade = low", {"grade": Range(1, 1)}),
    ],
)
def test_boxes_are_the_ranges_of_the_same_cells_as_the_weights(text, expected):
    found = box(ORDERED, text)
    assert dict(zip(ORDERED.names, found, strict=True)) == WHOLE | expected
    for one, weights in zip(found, product(ORDERED, text), strict=True):
        assert np.array_equal(one.weights(weights.size), weights)


def test_a_group_of_neighbouring_values_is_a_range_and_another_is_none():
    places = Schema(tuple(one for one in SCHEMA.attributes if one.name == "place of birth"))
    assert box(places, "place of birth = America") == (Range(1, 2),)
    assert box(places, "place of birth = Fiji") == (Range(3, 3),)
    apart = msgspec.convert(
        {
            "name": "letter",
            "kind": "categorical",
            "values": ["a", "b", "c"],
            "hierarchy": [["a", "odd"], ["b", "even"], ["c", "odd"]],
        },
        Attribute,
    )
    with pytest.raises(ValueError, match="letter = odd: these cells are no range"):
        box(Schema((apart,)), "letter = odd")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age != 30", r"age != ...: write a range such as `in a..b`"),
        ("age in (30, 31)", r"age in ...: write a range such as `in a..b`"),
        ("age < 30 and age > 40", "'age < 30 and age > 40' asks for no cell of age; its conditions exclude each other"),
        ("age = 30 and age = 31", "asks for no cell of age"),
        ("age = unknown and age <= 90", "asks for no cell of age"),
        ("weight < 3", "cannot read 'weight < 3'"),
        ("age in 40..30", "ends of 40..30 are reversed"),
        ("age in 18..29 and hours >= 40", "there is no attribute 'hours'; the attributes are age, "),
        ("five in 3..9", "cuts through a cell"),
        ("grade in high..low", "are reversed"),
        ("", "cannot read ''"),
    ],
)
def test_what_is_no_box_says_what_would_be(text, message):
    with pytest.raises(ValueError, match=message):
        box(ORDERED, text)


def test_a_box_of_a_domain_too_large_for_any_vector_is_two_numbers_an_axis():
    place = msgspec.convert({"name": "place", "kind": "integer", "bounds": [0, 2**40 - 1]}, Attribute)
    assert box(Schema((place,)), "place in 5..2000000000") == (Range(6, 2_000_000_001),)
