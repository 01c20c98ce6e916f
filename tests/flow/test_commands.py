"""Every command of the central path, as a real process, with the JSON that scripts rely on."""

import pytest

pytestmark = pytest.mark.slow


def test_the_whole_path(dpress, folder):
    planned = dpress("plan", "ages.toml", "--json").json
    assert set(planned) == {"candidates", "chosen", "lower_bound"}
    assert {one["method"] for one in planned["candidates"]} >= {
        "identity",
        "binary_tree",
        "boost",
        "privelet",
        "hierarchy",
    }
    for candidate in planned["candidates"]:
        assert set(candidate) == {"method", "claim", "predicted_error", "unit"}
        assert candidate["claim"] == {"published": {"epsilon": 1.0}, "proven": {"epsilon": 1.0}}
        assert candidate["predicted_error"] >= planned["lower_bound"]

    done = dpress("publish", "ages.toml", "--out", "out/ages", "--ledger", "budget.sqlite", "--json")
    assert done.code == 0, done.err
    published = done.json
    assert set(published) == {"release", "claim", "charged", "seconds"}
    assert published["release"] == "out/ages"
    assert published["charged"] == {"epsilon": 1.0}

    answers = dpress("query", "out/ages", "age in 2..7", "total", "--confidence", "0.9", "--json").json
    assert [set(one) for one in answers] == [{"query", "value", "standard_error", "interval", "confidence"}] * 2
    assert answers[0]["query"] == "age in 2..7"
    assert answers[0]["interval"][0] < answers[0]["value"] < answers[0]["interval"][1]
    assert answers[0]["confidence"] == 0.9
    assert abs(answers[1]["value"] - 500) < 100

    evaluated = dpress("evaluate", "out/ages", "--data", "rows.csv", "--json").json
    assert evaluated["private"] is False
    assert evaluated["metrics"]["rows"] == 500

    report = dpress("report", "out/ages", "--json").json
    assert (folder / report["report"]).read_text().startswith("<!DOCTYPE html>")

    ledger = dpress("ledger", "show", "budget.sqlite", "--json").json
    assert ledger["spent"] == {"epsilon": 1.0}
    assert ledger["remaining"] == {"epsilon": 0.0}
    assert [entry["confirmed"] for entry in ledger["entries"]] == [True]
    assert dpress("ledger", "verify", "budget.sqlite", "--head", ledger["head"], "--json").json["rows"] == 3

    again = dpress("publish", "ages.toml", "--out", "out/again", "--ledger", "budget.sqlite")
    assert again.code == 1
    assert again.err.startswith("dpress: budget exceeded")
    assert not (folder / "out/again").exists()


def test_errors_are_known_before_any_data(dpress):
    done = dpress("error", "privelet", "--cells", "8", "--range", "3:7", "--average", "--index", "--json").json
    assert done == {
        "strategy": "privelet",
        "cells": 8,
        "sensitivity": 4,
        "ranges": [{"range": [3, 7], "coefficient": 0.96875, "variance": 31.0}],
        "average_coefficient": pytest.approx(187 / 288, rel=1e-12),
        "average_variance": pytest.approx(32 * 187 / 288, rel=1e-12),
        "accuracy_index": 6.0,
    }
    half = dpress("error", "privelet", "--cells", "8", "--range", "3:7", "--epsilon", "0.5", "--json").json
    assert half["ranges"][0]["variance"] == 4 * 31.0
    assert half["average_coefficient"] is None


def test_every_method_is_listed(dpress):
    listed = dpress("list", "--json").json
    assert {tuple(one) for one in listed} == {("method", "family", "model", "published", "proven", "paper")}
    assert {one["method"] for one in dpress("list", "--family", "choice", "--json").json} == {"exponential"}
    assert dpress("list", "--family", "nope").code == 1


def test_ledgers_are_created_with_a_limit_that_releases_share(dpress, folder):
    assert dpress("ledger", "create", "b.sqlite", "--epsilon", "1.5", "--json").json["limit"] == {"epsilon": 1.5}
    assert dpress("publish", "ages.toml", "--out", "one", "--ledger", "b.sqlite").code == 0
    refused = dpress("publish", "ages.toml", "--out", "two", "--ledger", "b.sqlite")
    assert (refused.code, refused.err) == (
        1,
        "dpress: budget exceeded: limit epsilon = 1.5; spent epsilon = 1; asked epsilon = 1; together epsilon = 2\n",
    )
    assert not (folder / "two").exists()
    assert dpress("ledger", "create", "b.sqlite", "--epsilon", "2").code == 1
    assert dpress("ledger", "create", "c.sqlite").code == 1


def test_the_demo_shows_the_whole_path_and_never_overwrites(dpress, folder):
    first, second = dpress("demo", "--out", "demo"), dpress("demo", "--out", "demo", "--json")
    assert first.code == second.code == 0
    assert str(folder / "demo" / "report.html") in first.out
    assert "Guarantee: epsilon = 1, proven" in first.out
    assert second.json["report"] == "demo-2/report.html"
    assert len(second.json["answers"]) == 2
    assert (folder / "demo-2" / "release" / "release.json").exists()


def test_output_for_people_is_plain_where_there_is_no_terminal(dpress):
    for arguments in (["plan", "ages.toml"], ["list"], ["error", "boost", "--cells", "8", "--average"]):
        done = dpress(*arguments)
        assert "\x1b" not in done.out + done.err


def test_usage_faults_exit_with_two(dpress):
    assert dpress("publish").code == 2
    assert dpress("nonsense").code == 2
    assert dpress("error", "boost", "--cells", "many").code == 2
    assert dpress("--version").out.startswith("dpress, version ")


def test_quiet_says_nothing_beside_the_result(dpress, folder):
    done = dpress("publish", "ages.toml", "--out", "quiet", "--quiet")
    assert done.err == ""
    assert "no --ledger" in dpress("publish", "ages.toml", "--out", "loud").err
    assert (folder / "quiet").exists()
