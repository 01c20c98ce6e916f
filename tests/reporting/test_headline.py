"""Headlines and openings are not about attributes that `where` holds to one value."""

import re

import pyarrow as pa
import pytest
from tests.kinds.conftest import AGE, SEX
from tests.kinds.reading import undrawn

from dpress import publish
from dpress.core.basics import rng
from dpress.reporting.facts import facts
from dpress.reporting.headline import headline

ROWS = pa.table({"age": [row % 20 for row in range(300)], "sex": ["Female", "Male", "Male"] * 100})


def released(where, *, kind="histogram", **changes):
    plain = {
        "data": {"where": where},
        "attribute": [AGE, SEX],
        "privacy": {"epsilon": 1},
        "release": {"kind": kind, **changes},
    }
    return publish(plain, ROWS, rng=rng.seeded(1))


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("sex = Male", ["age"]),
        ("sex = Male and age in 5..9", ["age"]),
        ("age in 5..9", ["age", "sex"]),
        ("sex = Male or sex = Female", ["age", "sex"]),
        ("not sex = Male", ["age", "sex"]),
        ("sex = Male and age = 3", ["age", "sex"]),
    ],
)
def test_what_where_holds_to_one_value_is_no_headline(where, names):
    assert [attribute.name for attribute in headline(facts(released(where)))] == names


def test_what_is_listed_is_a_headline_all_the_same():
    listed = released("sex = Male", attributes=["age", "sex"])
    assert [attribute.name for attribute in headline(facts(listed))] == ["age", "sex"]


def test_the_page_is_about_the_rest():
    html = undrawn(released("sex = Male"))
    assert "Counts by age</h1>" in re.sub(r"\s+<", "<", html)
    (opening,) = re.findall(r'<p class="opening">(.*?)</p>', html, flags=re.DOTALL)
    assert "sex" not in opening
    assert "The median of age" in opening


def test_a_list_of_queries_is_about_what_they_name():
    html = undrawn(released("age >= 2", kind="queries", parameters={"queries": ["age < 9", "age in 3..5"]}))
    assert "Answers to 2 queries about age</h1>" in html
