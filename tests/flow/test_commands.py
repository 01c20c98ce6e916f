"""Every command of the central path, as a real process, with the JSON that scripts rely on."""

import math
import sys
from fractions import Fraction

import pytest

from dpress import load_design, load_spec, publish
from dpress.core.basics import rng

pytestmark = pytest.mark.slow


def test_the_whole_path(dpress, folder):
    planned = dpress("plan", "ages.toml", "--json").json
    assert set(planned) == {"candidates", "chosen", "lower_bound", "other_kinds", "with_delta"}
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

    wished = dpress("plan", "ages.toml", "--error", "5", "--out", "wished.json", "--json").json
    assert math.sqrt(wished["candidates"][0]["predicted_error"]) <= 5
    assert wished["budget"].keys() == {"epsilon"}
    assert load_design(folder / "wished.json").budget == {"epsilon": str(Fraction(str(wished["budget"]["epsilon"])))}

    done = dpress("publish", "ages.toml", "--out", "out/ages", "--ledger", "budget.sqlite", "--json")
    assert done.code == 0, done.err
    published = done.json
    assert set(published) == {"release", "claim", "charged", "seconds"}
    assert published["release"] == "out/ages"
    assert published["charged"] == {"epsilon": 1.0}

    answers = dpress("query", "out/ages", "age in 2..7", "total", "--confidence", "0.9", "--json").json
    assert [set(one) for one in answers] == [
        {"query", "value", "unbiased", "standard_error", "interval", "confidence"}
    ] * 2
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
        "accuracy_index_at_n": pytest.approx(27 / (16 * 187 / 288), rel=1e-12),
    }
    half = dpress("error", "privelet", "--cells", "8", "--range", "3:7", "--epsilon", "0.5", "--json").json
    assert half["ranges"][0]["variance"] == 4 * 31.0
    assert half["average_coefficient"] is None
    assert half["accuracy_index_at_n"] is None


@pytest.mark.parametrize(
    ("strategy", "cells", "coefficient"),
    [
        ("privelet", 2, 2 / 3),
        ("privelet", 4, 3 / 5),
        ("privelet", 8, 187 / 288),
        ("privelet", 1024, 1.695420742500119),
        ("boost", 1024, 1.9692089257248304),
    ],
)
def test_the_documents_average_coefficients(dpress, strategy, cells, coefficient):
    found = dpress("error", strategy, "--cells", cells, "--average", "--json").json
    assert found["average_coefficient"] == pytest.approx(coefficient, rel=1e-14)


@pytest.mark.parametrize(
    ("strategy", "index", "limit"), [("binary_tree", 1.03, 1), ("boost", 4.20, 6), ("privelet", 4.87, 6)]
)
def test_the_documents_accuracy_index_and_how_far_it_is_from_its_limit(dpress, strategy, index, limit):
    found = dpress("error", strategy, "--cells", "1024", "--average", "--index", "--epsilon", "0.3", "--json").json
    assert found["accuracy_index"] == limit
    assert round(found["accuracy_index_at_n"], 2) == index
    if strategy == "binary_tree":
        assert round(found["average_coefficient"], 4) == 8.0137
    shown = dpress("error", strategy, "--cells", "1024", "--index").out
    assert f"accuracy index at n = 1024: {found['accuracy_index_at_n']:.4g}" in shown


def test_error_under_rho_is_that_of_gaussian_noise(dpress):
    found = dpress("error", "dst", "--cells", "1024", "--average", "--index", "--rho", "0.5", "--json").json
    assert 12.196 < found["average_variance"] <= 12.36
    assert found["accuracy_index"] is found["accuracy_index_at_n"] is None
    wavelet = dpress("error", "privelet", "--cells", "1024", "--average", "--rho", "0.5", "--json").json
    assert wavelet["sensitivity"] == pytest.approx(11**0.5)
    assert wavelet["average_variance"] == pytest.approx(11 * 1.695420742500119)
    assert dpress("error", "boost", "--cells", "8", "--rho", "1", "--epsilon", "1").code == 2


def test_what_the_error_command_cannot_show_is_said(dpress):
    assert "add --range L:R (a range) or --average" in dpress("error", "privelet", "--cells", "100").out
    under_rho = dpress("error", "dst", "--cells", "100", "--index", "--rho", "1").out
    assert "the accuracy index is defined for epsilon" in under_rho
    assert "--average" not in under_rho


def test_error_of_a_hierarchy_with_stated_levels(dpress):
    stated = ["--parameter", "branching=11", "--parameter", "root=false", "--parameter"]
    equal = dpress("error", "hierarchy", "--cells", "1024", "--average", *stated, 'shares="equal"', "--json").json
    assert equal["average_variance"] == pytest.approx(156.6388, abs=1e-4)
    assert (equal["sensitivity"], equal["accuracy_index_at_n"]) == (3, None)
    best = dpress("error", "hierarchy", "--cells", "1024", "--average", *stated, 'shares="best"', "--json").json
    assert best["average_variance"] == pytest.approx(152.925, abs=1e-3)


@pytest.mark.parametrize("strategy", ["privelet", "boost", "binary_tree", "hierarchy", "identity"])
def test_error_of_a_domain_too_large_for_any_table(dpress, strategy):
    """2^60 cells: nothing as long as the domain is formed, or this would not end."""
    cells = 2**60
    found = dpress("error", strategy, "--cells", cells, "--range", f"3:{cells - 5}", "--average", "--json").json
    assert found["ranges"][0]["range"] == [3, cells - 5]
    assert found["ranges"][0]["variance"] > 0
    assert found["average_variance"] > 0
    if strategy == "privelet":  # the document's closed form
        assert found["average_coefficient"] == pytest.approx(60 / 6 + 1 / 36, rel=1e-12)


@pytest.mark.parametrize("strategy", ["privelet", "boost", "binary_tree", "hierarchy", "identity", "prefix"])
def test_error_of_a_single_cell_is_that_of_a_count(dpress, strategy):
    done = dpress("error", strategy, "--cells", "1", "--range", "1:1", "--average", "--index", "--json")
    assert done.code == 0, done.err
    assert done.json["ranges"] == [{"range": [1, 1], "coefficient": 1.0, "variance": 2.0}]
    assert done.json["average_variance"] == 2.0


WIDE = '[[attribute]]\nname = "age"\nkind = "integer"\nbounds = [0, 1023]\n'


def planned(dpress, spec, privacy, parameters=""):
    spec(attributes=WIDE, privacy=privacy, release=f'kind = "ranges"\n{parameters}')
    found = dpress("plan", "spec.toml", "--json")
    assert found.code == 0, found.err
    return found.json, {one["method"]: one["predicted_error"] for one in found.json["candidates"]}


def test_a_plan_without_remarks_is_the_same(here, spec):
    """One of them is about a very small budget."""
    spec(privacy="epsilon = 1e-6")
    loud, quiet = here("plan", "spec.toml"), here("plan", "spec.toml", "--quiet")
    assert loud.out == quiet.out
    assert (loud.err.startswith("note: "), quiet.err) == (True, "")


def test_plans_for_all_ranges_reach_the_documents_figures(dpress, spec):
    pure, errors = planned(dpress, spec, "epsilon = 1.0")
    assert pure["chosen"] == "p_identity"
    assert errors["p_identity"] == min(errors.values()) <= 122.8
    assert errors["hierarchy"] <= 157
    assert errors["privelet"] == pytest.approx(410.3, abs=1.5)  # discrete noise varies a little less
    assert errors["boost"] == pytest.approx(476.5, abs=1.5)
    gaussian, errors = planned(dpress, spec, "rho = 0.5")
    assert gaussian["chosen"] == "dst"
    assert 12.196 < errors["dst"] == min(errors.values()) <= 12.36
    assert gaussian["lower_bound"] == pytest.approx(12.196, abs=1e-3)


def test_a_search_of_some_seconds_comes_close_to_the_optimum(dpress, spec):
    found, errors = planned(dpress, spec, "epsilon = 1.0", "[release.parameters]\nseconds = 20")
    assert found["chosen"] == "p_identity"
    assert errors["p_identity"] <= 126


def test_boxes_of_two_attributes_are_planned_published_and_asked_for(dpress, folder, spec):
    sizes = '[[attribute]]\nname = "size"\nkind = "numeric"\nbounds = [0.0, 8.0]\nbins = 4\n'
    ages = '[[attribute]]\nname = "age"\nkind = "integer"\nbounds = [0, 9]\n'
    for parameters in ("", "length = [3, 2]", 'queries = "prefixes"', 'queries = ["age < 3 and size < 4", "age = 7"]'):
        release = f'kind = "ranges"\nattributes = ["age", "size"]\n[release.parameters]\n{parameters}'
        spec(attributes=ages + sizes, release=release)
        plan = dpress("plan", "spec.toml", "--json").json
        assert min(one["predicted_error"] for one in plan["candidates"]) >= plan["lower_bound"]
    done = dpress("publish", "spec.toml", "--out", "out/boxes", "--quiet")
    assert done.code == 0, done.err
    answer = dpress("query", "out/boxes", "age < 3 and size in 2..6", "--json").json[0]
    assert answer["interval"][0] <= answer["value"] <= answer["interval"][1]
    metrics = dpress("evaluate", "out/boxes", "--data", "rows.csv", "--json").json["metrics"]
    assert 0 <= metrics["range_root_mean_squared_error"] < 10 * metrics["range_predicted_root_mean_squared_error"]
    assert (folder / "out/boxes/release.json").exists()


def test_every_method_is_listed(dpress):
    listed = dpress("list", "--json").json
    columns = ("method", "family", "model", "auto", "published", "proven", "paper", "origin")
    assert {tuple(one) for one in listed} == {columns}
    assert {one["method"]: one["auto"] for one in listed}.items() >= {"gtr": False, "gtr_top_down": True}.items()
    assert {one["origin"] for one in listed} == {None}
    assert {one["method"] for one in dpress("list", "--family", "choice", "--json").json} == {
        "approximate_quantiles",
        "exponential",
    }
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
    without = dpress("ledger", "create", "c.sqlite")
    assert (without.code, without.out) == (2, "")
    assert "a ledger needs a limit: --epsilon, --rho, or --epsilon and --delta" in without.err
    assert not (folder / "c.sqlite").exists()


def test_the_demo_shows_the_whole_path_and_never_overwrites(dpress, folder):
    first, second = dpress("demo", "--out", "demo"), dpress("demo", "--out", "demo", "--json")
    assert first.code == second.code == 0
    assert str(folder / "demo" / "report.html") in first.out
    assert "Guarantee: epsilon = 1, proven" in first.out
    assert second.json["report"] == "demo-2/report.html"
    assert len(second.json["answers"]) == 2
    assert (folder / "demo-2" / "release" / "release.json").exists()


def test_the_demo_goes_on_where_a_report_cannot_be_made(here, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    done = here("demo", "--out", "demo")
    assert (done.code, done.err) == (0, "")
    assert "Report: none; the report needs: pip install 'dpress[report]'" in done.out
    assert (folder / "demo" / "release" / "release.json").exists()
    assert not (folder / "demo" / "report.html").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan", "no.toml", "--out", "there"],
        ["perturb", "no.toml", "--out", "there"],
        ["publish", "ages.toml", "--data", "no.csv", "--out", "there"],
        ["estimate", "no.toml", "--reports", "none", "--out", "there"],
        ["export", "no.toml", "--reports", "sqlite:///none", "--out", "there"],
    ],
)
def test_a_name_that_is_taken_is_refused_before_any_row_is_read(here, folder, arguments):
    (folder / "there").write_text("", encoding="utf-8")
    done = here(*arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("dpress: there exists already; ")


def test_the_demo_of_a_collection_takes_no_folder(here, folder):
    done = here("demo", "--collect", "--out", "demo")
    assert (done.code, done.out) == (2, "")
    assert "--out: expected no folder beside --collect" in done.err
    assert [*folder.glob("demo*")] == []


def test_person_caps_are_told(here, folder, spec):
    rows = "".join(f"{k % 10},{'FM'[k % 2]},{k // 4}\n" for k in range(400))
    (folder / "rows.csv").write_text("age,sex,uid\n" + rows)
    spec(privacy='epsilon = 1.0\nunit = "uid"\nrows_per_unit = 3')
    assert (
        "Counts:  of at most 3 rows for each uid; further rows were left out"
        in here("publish", "spec.toml", "--out", "out").out
    )
    assert here("query", "out", "total").out.endswith("Counts are of at most 3 rows for each uid.\n")
    assert here("query", "out", "total", "--json").json[0]["note"] == "Counts are of at most 3 rows for each uid."
    assert "Compared with at most 3 rows for each uid, drawn anew" in here("evaluate", "out", "--data", "rows.csv").out
    found = here("evaluate", "out", "--data", "rows.csv", "--json").json
    assert found["metrics"]["rows"] == 300
    assert found["compared_with"].startswith("Compared with at most 3 rows")


def test_output_for_people_is_plain_where_there_is_no_terminal(dpress):
    for arguments in (["plan", "ages.toml"], ["list"], ["error", "boost", "--cells", "8", "--average"]):
        done = dpress(*arguments)
        assert "\x1b" not in done.out + done.err


def test_usage_faults_exit_with_two(dpress):
    assert dpress("publish").code == 2
    assert dpress("nonsense").code == 2
    assert dpress("error", "boost", "--cells", "many").code == 2
    assert dpress("--version").out.startswith("dpress, version ")


@pytest.mark.parametrize("checked", [False, True])
def test_publish_recommends_the_check_in_one_line_for_people(here, folder, checked):
    """Whatever the rows are, and also after a check, which keeps nothing that could tell."""
    if checked:
        assert here("check", "ages.toml").code == 0
    for mode, times in (("", 1), ("--quiet", 0), ("--json", 0)):
        done = here("publish", "ages.toml", "--out", folder / f"out{mode}", *filter(None, [mode]))
        assert (done.err.count("`dpress check`"), done.out.count("dpress check")) == (times, 0)


def test_a_plan_names_other_kinds_in_its_own_unit(here, spec):
    spec(release='kind = "histogram"\nattributes = ["age"]')
    (ranges, records) = here("plan", "spec.toml", "--json").json["other_kinds"]
    lines = [line for line in here("plan", "spec.toml").out.splitlines() if line.startswith("Or kind = ")]
    assert lines[0].startswith(f'Or kind = "ranges": answers the same by {ranges["method"]}, mean variance ')
    assert lines[1].startswith('Or kind = "microdata": answers the same, with an error that is not known beforehand')
    assert (len(lines), records["predicted_error"]) == (2, None)


def test_publishing_from_python_recommends_nothing(folder, spec, capfd):
    spec()
    asked = load_spec(folder / "spec.toml")
    publish(asked, folder / "rows.csv", rng=rng.seeded(1))
    assert capfd.readouterr() == ("", "")


def test_a_table_of_no_attributes_is_named_alone(here, spec):
    spec(release='kind = "statistics"\nattributes = ["age"]\nparameters.mean = ["age"]')
    assert "Table:   statistics.parquet" in here("publish", "spec.toml", "--out", "all").out.splitlines()


def test_quiet_says_nothing_beside_the_result(dpress, folder):
    done = dpress("publish", "ages.toml", "--out", "quiet", "--quiet")
    assert done.err == ""
    assert "no --ledger" in dpress("publish", "ages.toml", "--out", "loud").err
    assert (folder / "quiet").exists()


@pytest.mark.parametrize(("unit", "shown"), [('unit = "uid"\nrows_per_unit = 3', True), ("", False)])
def test_a_plan_names_what_the_cap_of_a_persons_rows_costs(here, spec, unit, shown):
    spec(privacy=f"epsilon = 1.0\n{unit}")
    line = "Counts are of at most 3 rows for each uid: rows_per_unit = k needs up to k times the noise of 1"
    assert (line in here("plan", "spec.toml").out) is shown
