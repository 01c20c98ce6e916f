"""What `where` holds to one value is no part of a release that names no attributes."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import dpress
from dpress.core.basics import rng as generators
from dpress.data.specification.constant_attributes import constant_attributes
from dpress.query.condition_grammar import conditions

VECTORS = json.loads((Path(__file__).parents[1] / "query" / "grammar_vectors.json").read_text())
AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}
SEX = {"name": "sex", "kind": "categorical", "values": ["F", "M"]}
WARD = {"name": "ward", "kind": "categorical", "values": ["eyes", "hearts"]}
DAY = {"name": "day", "kind": "date", "bounds": ["2024-01-01", "2024-02-29"], "cells": "month"}
ROWS = pa.table(
    {
        "age": np.arange(300) % 10,
        "sex": ["F", "M", "M"] * 100,
        "ward": ["eyes", "hearts"] * 150,
        "day": pa.array(np.datetime64("2024-01-01") + np.arange(300) % 60),
    }
)


def spec(where, columns=(AGE, SEX, WARD), periods=None, **release):
    plain = {"data": {"where": where}, "attribute": list(columns), "privacy": {"epsilon": 3}}
    plain |= {"release": {"kind": "histogram", **release}}
    return dpress.load_spec(plain if periods is None else {**plain, "periods": {"attribute": periods}})


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("sex = F", ("age", "ward")),
        ("'F' = sex and age >= 3", ("age", "ward")),
        ("sex = F and ward = 'eyes' and age < 9", ("age",)),
        ("sex = F and ward = eyes and age = 3", ("age", "sex", "ward")),  # nothing would be left
        ("sex = F or ward = eyes", ("age", "sex", "ward")),
        ("not sex = F", ("age", "sex", "ward")),
        ("sex in (F, M)", ("age", "sex", "ward")),
        ("sex != F", ("age", "sex", "ward")),
        ("ward = 'sex = F'", ("age", "sex", "ward")),  # which is no value of it
        ("", ("age", "sex", "ward")),
    ],
)
def test_what_is_held_to_one_value_is_left_out(where, names):
    assert spec(where).schema.names == names


def test_what_the_release_names_stays():
    every = ("age", "sex", "ward")
    assert spec("sex = F", attributes=["sex", "age"]).schema.names == ("sex", "age")
    assert spec("sex = F", attributes="all").schema.names == every
    with pytest.raises(ValueError, match=r'release.attributes: expected a list such as \["every"\], or "all", got'):
        spec("", attributes="every")
    tables = {"tables": [["age", "sex"], ["ward"]]}
    assert spec("sex = F", kind="marginals", parameters=tables).schema.names == every
    shares = {"share": ["sex = F"], "by": ["ward"], "mean": ["age"]}
    assert spec("sex = F", kind="statistics", parameters=shares).schema.names == every
    assert spec("day = 2024-01", (AGE, DAY), periods="day").schema.names == ("age", "day")


def test_what_a_label_of_several_values_narrows_stays():
    """Dropped, its cells would be lost without a word."""
    levels = [["eyes", "heads"], ["ears", "heads"], ["hearts", "chests"]]
    ward = WARD | {"values": ["eyes", "ears", "hearts"], "hierarchy": levels}
    assert spec("ward = heads", (AGE, ward)).schema.names == ("age", "ward")
    assert spec("ward = eyes", (AGE, ward)).schema.names == ("age",)
    pay = {"name": "pay", "kind": "integer", "bounds": [0, 9], "bins": 2}
    assert spec("pay = 3", (AGE, pay)).schema.names == ("age", "pay")  # a value, of which a cell has five


def test_statistics_take_a_condition_on_an_attribute_that_they_do_not_measure():
    """Which was refused before, for it would have been released."""
    asked = spec("sex = F", kind="statistics", parameters={"by": ["ward"], "mean": ["age"]})
    assert dpress.publish(asked, ROWS, rng=generators.seeded(1)).schema.names == ("age", "ward")


def test_a_release_its_check_and_its_answers_are_about_the_rest():
    asked = spec("sex = F")
    release = dpress.publish(asked, ROWS, rng=generators.seeded(1))
    assert release.schema.names == ("age", "ward")
    assert abs(release.query("total").value - 100) < 60
    assert release.design.where == "sex = F"
    assert [each.name for each in dpress.check(asked, ROWS).attributes] == ["age", "ward"]
    assert dpress.check(asked, ROWS).kept == 100
    with pytest.raises(ValueError, match="sex"):
        release.query("sex = F")


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: repr(vector["text"]))
def test_what_the_text_says_is_what_the_grammar_reads(vector):
    """Of conditions that can be read: what is taken for constant is one test of a tree that `and` joins."""
    names, text = tuple(VECTORS["names"]), vector["text"]
    try:
        tree = conditions(names, text)
    except ValueError:
        return
    parts = tree.parts if tree.word == "and" else (tree,)
    held = {part.attribute for part in parts if part.word == "="}
    assert constant_attributes(text, names).keys() <= held
    if not set("()'\"") & set(text) and " or " not in text and "not " not in text:
        assert constant_attributes(text, names).keys() == held
