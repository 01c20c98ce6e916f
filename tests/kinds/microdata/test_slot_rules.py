"""Conditions of persons as boxes of households: what a loop over everybody says of every household there can be."""

import itertools
from types import SimpleNamespace

import pytest
from tests.data.linked_people import ABOVE, BELOW

import dpress
from dpress.kinds.microdata.slot_rules import slot_rules

ATTRIBUTES = [
    {"name": "region", "kind": "categorical", "values": ["north", "a and b"]},
    {"name": "role", "kind": "categorical", "values": ["head", "other"]},
    {"name": "age", "kind": "integer", "bounds": [0, 2]},
]


def spec_of(constraint):
    return dpress.load_spec(
        {
            "table": [{**ABOVE, "derived": {}}, {**BELOW, "most": 2, "order": [], "attributes": ["role", "age"]}],
            "attribute": ATTRIBUTES,
            "privacy": {"unit": "hhid", "epsilon": 1.0},
            "release": {"kind": "microdata"},
            "constraint": [constraint],
        }
    )


def every_household():
    """Yield all households of at most two persons: region, and each one's role and age."""
    persons = [*itertools.product(["head", "other"], [0, 1, 2])]
    for region, size in itertools.product(["north", "a and b"], [0, 1, 2]):
        yield from ((region, people) for people in itertools.product(persons, repeat=size))


def codes_of(spec, household):
    region, people = household
    values = {"region": region, "persons": str(len(people))}
    for number in (1, 2):
        role, age = people[number - 1] if number <= len(people) else ("nobody", -1)
        values |= {f"role_{number}": role, f"age_{number}": str(age)}
    return [attribute.code(values[attribute.name]) for attribute in spec.schema.tabular]


def left_out(spec, household):
    boxes, codes = slot_rules(spec, spec.linked, spec.constraints[0]).never, codes_of(spec, household)
    return any(
        all(any(low <= codes[test.axis] <= high for low, high in test.runs) for test in box) for box in boxes
    )  # fmt: skip


NEVER = [
    ("role = head or role = other and age > age_1", lambda person: person.head or person.age > person.first),
    ("age > age_1 and role = other or role = head", lambda person: person.head or person.age > person.first),
    (
        "(role = head or region = north) and age > age_1",
        lambda person: (person.head or person.north) and person.age > person.first,
    ),
    ("not (role = head or age <= age_1)", lambda person: not person.head and person.age > person.first),
    ("region = 'a and b' and age > age_1", lambda person: not person.north and person.age > person.first),
    ('region = "a and b" and not age <= age_1', lambda person: not person.north and person.age > person.first),
    ("age between 1 and 2 and age + 1 > 2 * age_1", lambda person: 1 <= person.age > 2 * person.first - 1),
    ("region = north or age > age_1", lambda person: person.north or person.age > person.first),
    ("region = north or role = head", lambda person: person.north or person.head),
    ("age != age_1 and age_1 >= 0", lambda person: person.age != person.first),
    (
        "role = head and age = 1 or not role = head and age < age_1 or age_1 = 0 and age = 2",
        lambda person: (
            (person.age == 1 if person.head else person.age < person.first) or (person.first, person.age) == (0, 2)
        ),
    ),
]


@pytest.mark.parametrize(("text", "broken"), NEVER, ids=[text for text, _ in NEVER])
@pytest.mark.parametrize("word", ["impossible", "holds"])
def test_conditions_bind_as_in_queries_and_are_of_those_who_are_there(text, broken, word):
    spec = spec_of({word: text, "persons": "others"})
    for house, people in every_household():
        others = [
            broken(SimpleNamespace(north=house == "north", head=role == "head", age=age, first=people[0][1]))
            for role, age in people[1:]
        ]
        breaks = any(others) if word == "impossible" else not all(others)
        assert left_out(spec, (house, people)) == breaks


@pytest.mark.parametrize(("text", "words"), [
    ("role = head AND age > age_1", "cannot read 'head AND age_2 > age_1' behind role_2"),
    ("age > age_1 region = north", "cannot read 'region = north' behind 'age_2 > age_1'"),
    ("age > age_1 < 2", "cannot read '< 2' behind 'age_2 > age_1'"),
    ("age >> age_1", "age_2: expected a number"),
    ("role = head and (age > age_1", "a parenthesis is not closed"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused_as_it_was_written(text, words):
    with pytest.raises(ValueError, match=r"^\$.constraint\[#1\].impossible: ") as refusal:
        dpress.plan(spec_of({"impossible": text, "persons": "others"}))
    assert words in str(refusal.value)
