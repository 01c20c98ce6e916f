"""Predicates: `and`, `or`, `not` and parentheses mean what they say, and plain conditions what they always did."""

import itertools

import numpy as np
import pytest

from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.numbers.attribute import Integer
from dpress.core.maps.atoms import Predicate
from dpress.query.boxes import predicate, product

SCHEMA = Schema(
    (
        Integer(name="age", bounds=(0, 9)),
        Categorical(name="sex", values=("f", "m", "x and age")),
        Categorical(name="region", values=("North", "S (o)", "not here")),
    )
)
CODES = np.array(list(itertools.product(range(10), range(3), range(3)))).T
AGE, SEX, REGION = CODES
MEANINGS = {
    "age >= 5 and sex = f": (AGE >= 5) & (SEX == 0),
    "sex = f or region = North": (SEX == 0) | (REGION == 0),
    "total": AGE >= 0,
    "not age = 3": AGE != 3,
    "not not age = 3": AGE == 3,
    "not (age in 2..4 and sex in (f, m))": ~((AGE >= 2) & (AGE <= 4) & (SEX <= 1)),
    "age = 1 or age = 2 and sex = m": (AGE == 1) | ((AGE == 2) & (SEX == 1)),
    "(age = 1 or age = 2) and sex = m": (AGE <= 2) & (AGE >= 1) & (SEX == 1),
    "not age = 1 and not (sex = m)": (AGE != 1) & (SEX != 1),
    "not(age < 2 or not(sex = f))": (AGE >= 2) & (SEX == 0),
    "region = S (o)": REGION == 1,
    "((region = S (o)) or age = 0)": (REGION == 1) | (AGE == 0),
    "region = not here or age = 9": (REGION == 2) | (AGE == 9),
    "sex = 'x and age' or sex = \"f\"": (SEX == 2) | (SEX == 0),
    "sex in ('x and age', f) and (age != 4)": (SEX != 1) & (AGE != 4),
    "age = 3 or total": AGE >= 0,
    " and ".join(["(age = 1 or sex = f or region = North)"] * 7): (AGE == 1) | (SEX == 0) | (REGION == 0),
    "age > 7\n or  age < 1": (AGE > 7) | (AGE < 1),
    "not " * 1000 + "age = 3": AGE == 3,
    "not " * 100_001 + "(age = 3)": AGE != 3,
    " and ".join(["not age = 3"] * 1000): AGE != 3,
    " or ".join(["age = 3", "not 'f' = sex"] * 500): (AGE == 3) | (SEX != 0),
    "not (" * 50 + "age = 3" + ")" * 50: AGE == 3,
    "not 'f' = sex or \"age\" = '3'": (SEX != 0) | (AGE == 3),
    "('x and age' = \"sex\")": SEX == 2,
}


def cells(found: Predicate) -> np.ndarray:
    boxes = [
        np.all([np.any([(CODES[c.axis] >= a) & (CODES[c.axis] <= b) for a, b in c.runs], axis=0) for c in box], axis=0)
        if box
        else np.ones(CODES.shape[1], dtype=bool)
        for box in found
    ]
    return np.any(boxes, axis=0)


@pytest.mark.parametrize("text", MEANINGS)
def test_a_text_means_what_it_says(text: str) -> None:
    assert np.array_equal(cells(predicate(SCHEMA, text)), MEANINGS[text])


@pytest.mark.parametrize("text", ["age in 2..5", "age >= 5 and sex = f", "sex != f and region in (North)", "total"])
def test_a_plain_query_is_that_of_the_query_language(text: str) -> None:
    weights = product(SCHEMA, text)
    assert np.array_equal(cells(predicate(SCHEMA, text)), weights[0][AGE] * weights[1][SEX] * weights[2][REGION] > 0)


@pytest.mark.parametrize(
    "text", ["agee = 3", "age = 3 and agee = 4", "sex = q", "age == 3", "where age = 3", "", "foo"]
)
def test_a_wrong_condition_has_the_message_of_the_query_language(text: str) -> None:
    with pytest.raises(ValueError) as plain:  # noqa: PT011  # whatever it says
        product(SCHEMA, text)
    with pytest.raises(ValueError) as own:  # noqa: PT011  # the same
        predicate(SCHEMA, text)
    assert str(own.value) == str(plain.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age < 3 and age > 5", "'age < 3 and age > 5' holds of no row: its conditions exclude each other"),
        ("not total", "holds of no row"),
        ("(age = 3", "a parenthesis is not closed"),
        ("(age = 3) sex = f", "cannot read 'sex = f'; `and` or `or` is missing before it"),
        ("(age = 3))", r"cannot read '\)'; a parenthesis is left over"),
        ("()", "cannot read ''"),
        ("not", "cannot read ''"),
        ("sex = f or m", "did you mean `sex in .f, m.`"),
        (
            "sex = f or agee = 3",
            "there is no attribute 'agee'; the attributes are age, sex, region; did you mean 'age'",
        ),
        ("(" * 60 + "age = 3" + ")" * 60, "more than 50 parentheses"),
        ("not (" * 100_000 + "age = 3", "more than 50 parentheses"),
        ("not " * 100_000, "cannot read ''"),
        ("sex = f or 'agee' = 3", "there is no attribute 'agee'; .*; did you mean 'age'"),
    ],
)
def test_what_is_no_predicate_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        predicate(SCHEMA, text)
    assert "\n" not in str(refused.value)


def test_what_is_not_the_only_cell_is_no_row_and_its_negation_every_row() -> None:
    alone = Schema((Categorical(name="sex", values=("f",)), Integer(name="age", bounds=(0, 9))))
    with pytest.raises(ValueError, match="holds of no row"):
        predicate(alone, "sex != f")
    assert predicate(alone, "not sex != f") == ((),)


def test_too_many_alternatives_are_refused() -> None:
    """Each of nine attributes one or the other: 512 boxes."""
    many = Schema(tuple(Integer(name=f"a{place}", bounds=(0, 3)) for place in range(18)))
    text = " and ".join(f"(a{place} = 0 or a{place + 9} = 1)" for place in range(9))
    with pytest.raises(ValueError, match="more than 256 alternatives is too long"):
        predicate(many, text)
    assert len(predicate(many, text[: text.index(" and (a8")])) == 256
