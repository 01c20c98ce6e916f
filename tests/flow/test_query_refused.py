"""A query that is refused does not hide the answers to the others."""

import pyarrow as pa
import pytest

from dpress import publish
from dpress.core.basics.rng import seeded

AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}
SEX = {"name": "sex", "kind": "categorical", "values": ["F", "M"]}
SPEC = {"attribute": [AGE, SEX], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
GOOD, BAD = ("age = 3", "mean age where sex = F"), ("agee = 3", "sex = q")
WRONG = "sex has no value 'q'; it has F, M"


@pytest.fixture
def query(here, tmp_path):
    """Run `dpress query` on a small release."""
    rows = pa.table({"age": [3, 4, 5] * 50, "sex": ["F", "M", "F"] * 50})
    publish(SPEC, rows, out=tmp_path / "out", rng=seeded(1))
    return lambda *arguments: here("query", tmp_path / "out", *arguments)


def test_the_good_ones_are_answered_and_each_bad_one_has_a_line(query):
    alone, mixed = query(*GOOD), query(GOOD[0], *BAD, GOOD[1])
    assert (alone.code, mixed.code) == (0, 1)
    assert mixed.out == alone.out
    lines = mixed.err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("dpress: query 2: cannot read 'agee = 3'")
    assert lines[1] == f"dpress: query 3: {WRONG}"


def test_json_has_an_entry_for_every_query_in_order(query):
    alone, mixed = query(*GOOD, "--json"), query(BAD[1], *GOOD, "--json")
    assert mixed.code == 1
    assert mixed.json == [{"query": BAD[1], "error": WRONG}, *alone.json]
    assert mixed.err == f"dpress: query 1: {WRONG}\n"


def test_a_bad_query_alone_has_one_line_and_no_table(query):
    done = query(BAD[1])
    assert (done.code, done.out, done.err) == (1, "", f"dpress: {WRONG}\n")
    assert query(BAD[1], "--json").json == [{"query": BAD[1], "error": WRONG}]


def test_a_confidence_that_is_none_is_refused_once(query):
    done = query(*GOOD, "--confidence", "2", "--json")
    assert (done.code, done.out) == (1, "")
    assert done.err == "dpress: confidence must lie strictly between 0 and 1, got confidence=2.0\n"
