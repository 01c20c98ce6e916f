"""Queries by a level: only regions inside those that a condition names are listed; empty unions are 0."""

import pytest
from tests.kinds.regions.towns import release_in

from dpress.query import queries_by


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return release_in(tmp_path_factory.mktemp("towns"))


def listed(release, query):
    return [dict(result.group)["town"] for result in release.results(query)]


@pytest.mark.parametrize(
    ("where", "towns"),
    [
        ("county = A1", "A1x A1y"),
        ("state = A and county in (A1, B1)", "A1x A1y"),
        ("state = A and sex = f", "A1x A1y A2x"),
        ("state = A and county = B1", ""),
        ("town = B1y", "B1y"),
        ("age = 1", "A1x A1y A2x B1x B1y"),
        ("not county = A1", "A1x A1y A2x B1x B1y"),
        ("county = A1 or county = B1", "A1x A1y A2x B1x B1y"),
    ],
)
def test_the_regions_inside_are_listed(release, where, towns):
    assert listed(release, f"count by town where {where}") == towns.split()


def test_a_region_that_a_finer_condition_leaves_empty_has_no_error(release):
    counts = {dict(result.group)["county"]: result for result in release.results("count by county where town = A1x")}
    assert [*counts] == ["A1", "A2", "B1"]
    assert (counts["A2"].value, counts["A2"].standard_error) == (0, 0)
    assert counts["A1"].value == pytest.approx(release.query("town = A1x").value)
    assert counts["A1"].standard_error > 0


def test_only_what_is_listed_counts_as_groups(release, monkeypatch):
    monkeypatch.setattr(queries_by, "MOST", 2)
    assert listed(release, "count by town where county = A1") == ["A1x", "A1y"]
    with pytest.raises(ValueError, match="by town: 5 groups, at most 2"):
        release.results("count by town")
