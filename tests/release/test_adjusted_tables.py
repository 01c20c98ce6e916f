"""Adjusted counts of tables: near the published counts, and at a large epsilon near the truth, for every kind."""

import math

import numpy as np
import pyarrow as pa
import pytest

from dpress import plan, publish
from dpress.core.basics import rng as generators
from dpress.data.specification.spec import from_dict
from dpress.inference.postprocess import adjust
from dpress.query import table_answers

EPSILON = 200.0
COUNTS = np.array([400, 0, 0, 37, 5, 0, 210, 8])
AGES = pa.table({"age": np.repeat(np.arange(COUNTS.size), COUNTS)})
KINDS = ("ranges", "histogram", "marginals")
ADJUSTMENTS = ("integer", "monotone_prefix", "nonnegative", "top_down")
RELATIONS = ("add-remove", "replace-one")
FALSE_ALARM = 1e-6
"""That any noise of the 24 tables is not 0: of 8 leaves and 7 nodes, on at most 4 levels that share epsilon."""
LEVELS = 4
FAR = 1.0


def specification(kind, relation, *names, **release):
    return from_dict(
        {
            "attribute": [{"name": "age", "kind": "integer", "bounds": [0, COUNTS.size - 1]}],
            "privacy": {"epsilon": EPSILON, "relation": relation},
            "release": {"kind": kind, "postprocess": [*names], **release},
        }
    )


def adjusted_table(kind, relation, name):
    release = publish(specification(kind, relation, name), AGES, rng=generators.seeded(5))
    return release.answers.all_tables["age.parquet"]


def test_noise_that_is_not_zero_is_a_false_alarm():
    each = 2 * math.exp(-EPSILON / (2 * LEVELS))  # of a discrete Laplace variable; twice the scale under replace-one
    assert len(CASES) == 24
    assert len(CASES) * (2 * COUNTS.size - 1) * each <= FALSE_ALARM


def is_near(table):
    """Whether every adjusted cell, and their total, is near the published counts and the truth."""
    adjusted = table["adjusted"].to_numpy()
    pairs = [(adjusted, own) for own in (table["count"].to_numpy(), COUNTS)]
    return all(np.abs(one - own).max() < FAR and abs(one.sum() - own.sum()) < FAR for one, own in pairs)


CASES = [(kind, relation, name) for kind in KINDS for relation in RELATIONS for name in ADJUSTMENTS]


@pytest.mark.parametrize(("kind", "relation", "name"), CASES)
def test_every_adjusted_cell_is_near_its_count_and_the_truth(kind, relation, name):
    table = adjusted_table(kind, relation, name)
    assert COUNTS[COUNTS > 0].min() > FAR
    assert is_near(table)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_zero_in_place_of_an_unknown_total_would_be_seen(kind, relation, monkeypatch):
    def with_zero(counts, names, *, users, **given):
        return adjust(counts, names, users=users or 0, **given)

    monkeypatch.setattr(table_answers, "adjust", with_zero)
    table = adjusted_table(kind, relation, "top_down")
    assert not table["adjusted"].to_numpy().any()
    assert not is_near(table)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_total_of_a_table_is_the_estimated_one_and_never_taken_for_public(relation):
    release = publish(specification("ranges", relation, "top_down"), AGES, rng=generators.seeded(7))
    table = release.answers.all_tables["age.parquet"]
    assert release.users is None
    assert "users" not in release.manifest()
    assert table["adjusted"].to_numpy().sum() == pytest.approx(table["count"].to_numpy().sum())
    with pytest.raises(TypeError, match="a table has no reports"):
        _ = release.reports


@pytest.mark.parametrize(("method", "names"), [("binary_tree", []), ("privelet", ["posterior"])])
def test_cells_that_do_not_add_up_to_ranges_are_not_adjusted_unless_it_is_asked_for(method, names):
    attribute = {"name": "a", "kind": "integer", "bounds": [0, 63]}
    asked = {"attribute": [attribute], "privacy": {"epsilon": 0.5}, "release": {"kind": "ranges", "method": method}}
    assert plan(asked).design.release["postprocess"] == names
    named = asked | {"release": asked["release"] | {"postprocess": ["posterior"]}}
    assert plan(named).design.release["postprocess"] == ["posterior"]
