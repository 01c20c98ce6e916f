"""Queries by attributes: one answer for every group, the same as that of the group asked by itself."""

import itertools
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.kinds.conftest import KINDS, make

from dpress.cli.query import command
from dpress.query.release import Release

AGE = {"kind": "integer", "name": "age", "bounds": [0, 19], "bins": 4}
SEX = {"kind": "categorical", "name": "sex", "values": ["Female", "Male"]}
REGION = {"kind": "categorical", "name": "region", "values": ["North", "the South"], "other": "X"}


def released() -> Release:
    """Return a table of three attributes."""
    return make("histogram", [AGE, SEX, REGION])


@pytest.mark.parametrize("text", ["count", "mean age", "share sex = Female", "count sex = Male", "median age"])
def test_every_group_is_answered_as_by_itself(text: str) -> None:
    release = released()
    for by in ("region", "region, sex"):
        found = release.results(f"{text} by {by}")
        labels = {name: release.schema.attribute(name).labels for name in by.split(", ")}
        assert [one.group for one in found] == [
            tuple(zip(labels, own, strict=True)) for own in itertools.product(*labels.values())
        ]
        for one in found:
            where = " and ".join(f"{name} = '{label}'" for name, label in one.group)
            alone = release.query(f"{text} where {where}")
            assert (one.value, *one.interval) == pytest.approx((alone.value, *alone.interval), nan_ok=True)


def test_groups_of_a_count_add_up_to_it() -> None:
    release = released()
    for text, whole in (
        ("count by region", "total"),
        ("count sex = Male where age < 10 by region", "sex = Male and age < 10"),
    ):
        assert sum(one.value for one in release.results(text)) == pytest.approx(release.query(whole).value)


def test_cells_are_groups_by_their_names() -> None:
    assert [one.group for one in released().results("count by age")] == [
        (("age", name),) for name in ("0..4", "5..9", "10..14", "15..19")
    ]


def test_a_query_without_by_has_one_answer() -> None:
    release = released()
    assert release.results("sex = Male") == (release.query("sex = Male"),)


def test_one_answer_of_many_is_refused() -> None:
    with pytest.raises(ValueError, match=r"has an answer for every group; ask `release.results\(...\)`"):
        released().query("count by sex")
    with pytest.raises(ValueError, match="by pay: 5,000 groups, at most 4,096"):
        make("ranges", [{"kind": "integer", "name": "pay", "bounds": [0, 4999]}]).results("count by pay")


@pytest.mark.parametrize("kind", ["two-way", "local", "local joint", "queries"])
def test_kinds_answer_groups(kind: str) -> None:
    release = KINDS[kind]()
    if kind == "queries":
        with pytest.raises(ValueError, match="is no sum of the queries' cells"):
            release.results("count by region")
        return
    found = release.results("count by sex")
    assert len(found) == len(release.schema.attribute("sex").labels)
    assert all(one.standard_error > 0 for one in found)


def test_the_command_prints_a_table_and_lists_results(tmp_path: Path) -> None:
    folder = str(released().write(tmp_path / "out"))
    printed = (
        CliRunner().invoke(command, [folder, "count by region", "total", "mean age by sex where region = X"]).output
    )
    lines = [line.split() for line in printed.splitlines()]
    heads = [line[0] for line in lines if "interval" in line]
    assert heads == ["region", "query", "sex"]
    assert [line[0] for line in lines if line[0] in ("North", "the", "X", "Female", "Male")] == [
        "North", "the", "X", "Female", "Male",
    ]  # fmt: skip
    listed = json.loads(CliRunner().invoke(command, [folder, "count by region", "total", "--json"]).output)
    assert [one.get("group") for one in listed] == [{"region": "North"}, {"region": "the South"}, {"region": "X"}, None]
    assert {one["query"] for one in listed} == {"count by region", "total"}
