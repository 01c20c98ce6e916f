"""The grammar: shared vectors, texts that read back, and one line for what cannot be read."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.query.make_grammar_vectors import NAMES, STORED, plain

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.query.condition_grammar import conditions
from dpress.query.grammar import read
from dpress.query.query_tree import TOTAL, Condition, Query
from dpress.query.query_words import MEANT
from dpress.query.statistics import check

SCHEMA = Schema(
    tuple(
        msgspec.convert(one, Attribute)
        for one in (
            {"name": "age", "kind": "integer", "bounds": [17, 90]},
            {"name": "sex", "kind": "categorical", "values": ["f", "m"]},
            {"name": "grade", "kind": "ordinal", "values": ["low", "high"]},
        )
    )
)


@pytest.mark.parametrize("vector", STORED["vectors"], ids=lambda one: one["text"][:40])
def test_a_text_makes_the_tree_that_the_page_makes_of_it(vector: dict[str, object]) -> None:
    text = str(vector["text"])
    if "refused" not in vector:
        assert plain(read(NAMES, text)) == vector["tree"]
        return
    with pytest.raises(ValueError) as refused:  # noqa: PT011  # the whole message is compared
        read(NAMES, text)
    assert str(refused.value) == vector["refused"]
    assert "\n" not in str(refused.value)


def test_the_vectors_fail_both_ways() -> None:
    refused = [one["refused"] for one in STORED["vectors"] if "refused" in one]
    assert 40 < len(refused) < len(STORED["vectors"]) / 2
    assert any("cannot read" in one for one in refused)
    assert any("there is no attribute" in one for one in refused)
    hints = {hint for _, hint in MEANT}
    assert {hint for hint in hints if not any(one.endswith(f"; {hint}") for one in refused)} == set()
    assert sum("; did you mean" in one for one in refused) > 8


VALUES = st.text(st.characters(codec="ascii", exclude_characters="\"'\n"), max_size=9).map(str.strip) | st.sampled_from(
    ["and", "or", "total", "it's", "a, b", "x and age = 3", "20..29", "(", ")", "where", "f by ward", "a / b", "not"]
)
TESTS = st.one_of(
    st.builds(
        lambda word, name, value: Condition(word=word, attribute=name, values=(value,)),
        st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
        st.sampled_from(NAMES),
        VALUES,
    ),
    st.builds(
        lambda name, values: Condition(word="in", attribute=name, values=tuple(values)),
        st.sampled_from(NAMES),
        st.lists(VALUES, min_size=1, max_size=3),
    ),
    st.builds(
        lambda name, ends: Condition(word="between", attribute=name, values=ends),
        st.sampled_from(NAMES),
        st.tuples(VALUES, VALUES),
    ),
    st.builds(lambda name: Condition(word="missing", attribute=name), st.sampled_from(NAMES)),
    st.just(TOTAL),
)


def _joined(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        several.map(lambda own: Condition(word="and", parts=own)),
        several.map(lambda own: Condition(word="or", parts=own)),
        parts.map(lambda own: Condition(word="not", parts=(own,))),
    )


CONDITIONS = st.recursive(TESTS, _joined, max_leaves=8)
SCOPES = st.tuples(st.none() | CONDITIONS, st.lists(st.sampled_from(NAMES), unique=True, max_size=3).map(tuple))
NUMBERS = st.builds(
    lambda of, name, level: Query(of=of, attribute=name, level=level if of == "quantile" else 0.5),
    st.sampled_from(["mean", "sum", "quantile", "circular mean", "resultant length", "variance", "total"]),
    st.sampled_from(NAMES),
    st.floats(0.001, 0.999),
)
COUNTS = st.builds(
    lambda of, first, second: Query(of=of, first=first, second=second if of in ("ratio", "difference") else TOTAL),
    st.sampled_from(["count", "share", "ratio", "difference"]),
    CONDITIONS,
    CONDITIONS,
)
QUERIES = st.builds(lambda query, scope: replace(query, where=scope[0], by=scope[1]), NUMBERS | COUNTS, SCOPES)


@given(CONDITIONS)
def test_conditions_read_back(tree: Condition) -> None:
    assert conditions(NAMES, tree.text) == tree


@given(QUERIES)
def test_queries_read_back(tree: Query) -> None:
    assert read(NAMES, tree.text) == tree


def test_text_without_its_parentheses_would_read_otherwise() -> None:
    first, second, third = (Condition(word="=", attribute="age", values=(value,)) for value in "123")
    tree = Condition(word="and", parts=(Condition(word="or", parts=(first, second)), third))
    assert conditions(NAMES, tree.text) == tree
    assert conditions(NAMES, tree.text.replace("(", "").replace(")", "")) != tree


@pytest.mark.parametrize("text", [3, None, ["age = 3"]])
def test_what_is_no_text_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r"a query is a string such as `age in 30\.\.40`, got"):
        read(NAMES, text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mean sex", "mean of sex: expected an integer or numeric attribute, sex is categorical; ask for `share sex"),
        ("quantile 0.5 of grade", "quantile of grade: expected an integer or numeric attribute, grade is ordinal"),
        ("quantile 1 of age", "quantile: expected a level strictly between 0 and 1, got 1.0"),
        ("quantile nan of age", "strictly between 0 and 1, got nan"),
    ],
)
def test_a_statistic_of_no_number_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(SCHEMA, read(SCHEMA.names, text))


def test_levels_from_python_are_numbers() -> None:
    for level in ("0.5", None, 0, 1.0, -1):
        with pytest.raises(ValueError, match="expected a level strictly between 0 and 1"):
            check(SCHEMA, Query(of="quantile", attribute="age", level=level))  # type: ignore[arg-type]
