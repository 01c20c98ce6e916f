"""Equations and inequalities of numbers as texts: what is read, what is left to conditions, what holds in records."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpress
from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.kinds.microdata.linear_text import linear
from dpress.mechanisms.microdata.record_rules import Rules
from dpress.mechanisms.microdata.record_sampling import mixture

SCHEMA = Schema((
    Integer(name="age", bounds=(14, 20)),
    Integer(name="worked", bounds=(0, 5)),
    Integer(name="age at work", bounds=(10, 16)),
    Categorical(name="sex", values=("F", "M")),
    Integer(name="class", bounds=(0, 99), bins=10),
))  # fmt: skip
EVERY = np.array(list(itertools.product(range(7), range(6), range(7), range(2), range(10))), dtype=np.int32).T
AGE, WORKED, FIRST = EVERY[0] + 14, EVERY[1], EVERY[2] + 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("worked <= age - 16", WORKED <= AGE - 16),
        ("worked < age-16", WORKED < AGE - 16),
        ("age - 16 >= worked", WORKED <= AGE - 16),
        ("-worked + 3 > 2 * age - 30", -WORKED + 3 > 2 * AGE - 30),
        ("age at work = age - worked", FIRST == AGE - WORKED),
        ("age != age at work + worked", AGE != FIRST + WORKED),
        ("0.5 age + worked*1.25 <= 12", 0.5 * AGE + 1.25 * WORKED <= 12),
        ("2 worked = age - 14", 2 * WORKED == AGE - 14),
    ],
)
def test_a_text_holds_where_its_arithmetic_does(text, expected):
    rule = linear(SCHEMA, text)
    assert rule.holds(dict(enumerate(EVERY))).tolist() == expected.tolist()
    opposite = linear(SCHEMA, text, negated=True)
    assert opposite.holds(dict(enumerate(EVERY))).tolist() == (~expected).tolist()


@pytest.mark.parametrize("text", ["age >= 16", "sex = F", "age in 15..17 or worked = 3", "age = sex", "age + = worked"])
def test_what_is_about_a_single_number_is_a_condition(text):
    assert linear(SCHEMA, text) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class <= age", "class has cells of several numbers"),
        ("age + worked = worked + age", "about fewer than two numbers"),
    ],
)
def test_what_cannot_be_decided_by_cells_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        linear(SCHEMA, text)


NAMES = st.sampled_from(["age", "worked", "age at work"])


def circular(rules):
    """Return whether attributes are computed from each other."""
    try:
        return not isinstance(rules.computing, dict)
    except ValueError:
        return True


@settings(max_examples=30)
@given(
    st.lists(st.tuples(NAMES, NAMES, st.integers(0, 16), st.sampled_from(["=", "<=", "!="])), min_size=1, max_size=3)
)
def test_no_record_breaks_an_equation_or_an_inequality(texts):
    shape = SCHEMA.shape
    different = [(first, second, number, word) for first, second, number, word in texts if first != second]
    stated = [f"{first} {word} {number} + {second}" for first, second, number, word in different]
    rules = Rules(linear=tuple(linear(SCHEMA, text) for text in stated))
    every = dict(enumerate(EVERY[:, (EVERY[3] == 0) & (EVERY[4] == 0)]))
    truths = np.all([np.ones(every[0].size, bool), *(rule.holds(every) for rule in rules.every)], axis=0)
    if circular(rules) or not truths.any():
        with pytest.raises(ValueError, match=r"leave no record possible|computed from each other"):
            rules.possible(shape)
        return
    measured, possible = rules.measured(len(shape)), rules.possible(shape)
    tables = [np.arange(1.0, 1 + shape[axis])[None] for axis in measured]
    records = rules.completed(mixture(tables, np.array([50]), rng=rng.seeded(1), possible=possible), len(shape))
    assert rules.broken(records) == 0


def test_an_equation_computes_its_column_and_the_loss_goes_to_the_others(tmp_path):
    names = ("rooms", "total", "big")
    attributes = [{"name": name, "kind": "integer", "bounds": [0, 9]} for name in names]
    constraints = [{"holds": "total = rooms + 2"}, {"impossible": "big > rooms"}]
    plain = {"attribute": attributes, "privacy": {"epsilon": 2}, "release": {"kind": "microdata"}}
    rooms = [k % 7 for k in range(800)]
    rows = pa.table({"rooms": rooms, "total": [each + 2 for each in rooms], "big": [each // 2 for each in rooms]})
    for stated, least, most in ((constraints, 0, 0), ([], 20, 800)):
        planned = dpress.plan({**plain, "constraint": stated} if stated else plain)
        folder = tmp_path / f"release_{len(stated)}"
        dpress.publish(planned, rows, out=folder, rng=rng.seeded(2))
        records = dpress.load_release(folder).answers.made.table.to_pylist()
        broken = sum(row["total"] != row["rooms"] + 2 or row["big"] > row["rooms"] for row in records)
        assert least <= broken <= most
    maker = dpress.plan({**plain, "constraint": constraints}).chosen.mechanism
    assert maker.measured == (0, 2)
    (part,) = maker.rules.possible((10, 10, 10)).parts
    assert np.flatnonzero(part.allowed.any(axis=1)).tolist() == list(range(8))  # no cell has a total of 8 rooms
    report = dpress.check({**plain, "constraint": constraints}, rows)
    assert [figure.broken for figure in report.findings["constraints"].figures] == [0, 0]
