"""Cases that once failed, each a small specification that is run from end to end."""

import warnings

import pytest
from tests.matrix.axes import AXES
from tests.matrix.rules import allowed
from tests.matrix.whole import verdict

import dpress

PLAIN = {axis: values[0] for axis, values in AXES.items()}
LISTED = {"kind": "categorical", "values": ["a", "b", "c"]}
STORED = {
    "records of a large loss, whose noise is next to nothing": {
        "room": "microdata", "method": "graphical", "beside": "integer", "missing": "drop", "rows": 4,
    },
    "records of many of them": {"room": "microdata", "method": "graphical", "column": "ordinal", "beside": "integer",
                                "missing": "drop", "loss": "delta"},
    "a tree that is not made consistent": {"room": "ranges", "method": "binary_tree", "column": "integer"},
    "names of truths with one missing": {"room": "names", "column": "any truths", "missing": "cell", "loss": "delta"},
    "names of integers with one missing": {"room": "names", "column": "any integers", "missing": "cell",
                                           "loss": "delta"},
    "discovered groups of truths": {"room": "statistics", "column": "any truths", "missing": "cell", "loss": "delta",
                                    "grouped": "column"},
    "ranges from the top": {"room": "ranges", "column": "integer", "adjusted": "top down"},
    "histogram from the top": {"room": "histogram", "column": "month", "adjusted": "top down",
                               "relation": "replace-one"},
    "four records": {"room": "microdata", "method": "dp_prototypes", "beside": "texts", "missing": "drop", "rows": 4,
                     "users": "left out"},
    "a page of nasty names": {"room": "histogram", "column": "nasty", "read": "page"},
    "a page of a byte of zero": {"room": "histogram", "column": "nul", "read": "page"},
    "a page of an attribute named as a program's word": {"room": "marginals", "named": "constructor", "beside": "texts",
                                                         "read": "bundle"},
    "a page of single tables by periods": {"room": "marginals", "asked": "single tables", "beside": "texts",
                                           "periods": "tree", "read": "page"},
    "a page of periods by views of pairs": {
        "room": "marginals", "method": "priview", "asked": "single tables", "column": "integer", "beside": "integer",
        "periods": "smooth", "read": "page",
    },
    "periods of persons in a database, chosen by a column that nothing is published of": {
        "room": "histogram", "unit": "person", "periods": "separate", "source": "duckdb", "where": "another column",
    },
}  # fmt: skip
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", STORED)
def test_a_case_that_failed(name, tmp_path):
    case = PLAIN | STORED[name]
    assert allowed(case)
    assert verdict(case, tmp_path / "case").wrong == []


@pytest.mark.parametrize("privacy", [{"rho": 1000}, {"epsilon": 1000}, {"epsilon": 1000, "delta": 1e-9}])
@pytest.mark.parametrize("kind", ["histogram", "marginals", "joint", "statistics", "microdata"])
def test_the_largest_loss_has_noise_that_is_told_from_none(kind, privacy):
    """What is planned divides by variances."""
    cost = {"name": "cost", "kind": "integer", "bounds": [0, 7]}
    parameters = {"by": ["x"], "variance": ["cost"], "median": ["cost"]} if kind == "statistics" else {}
    spec = {
        "attribute": [LISTED | {"name": "x"}, cost], "privacy": privacy,
        "release": {"kind": kind, "parameters": parameters},
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dpress.plan(spec).design.claim.proven
