"""Records through the commands: every method from the table to its evaluation, and what is refused in one line."""

import json

import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.slow

ATTRIBUTES = """
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 9]
[[attribute]]
name = "sex"
kind = "categorical"
values = ["F", "M"]
"""
PROVEN = {
    "auto": "clusters = 2",
    "graphical": "",
    "per_record": "users = 500",
    "insensitive_microaggregation": "users = 500\ngroup = 250",
}
UNPROVEN = {"dp_k_prototypes": "clusters = 2\nrestarts = 1", "mdav": "group = 20"}


@pytest.fixture
def records(spec):
    def make(method="auto", parameters="", **parts):
        release = f'kind = "microdata"\nmethod = "{method}"\n[release.parameters]\n{parameters}'
        return spec(**{"attributes": ATTRIBUTES, "release": release, **parts})

    return make


@pytest.mark.parametrize(("method", "parameters"), [*PROVEN.items(), *UNPROVEN.items()])
def test_every_method_goes_from_publish_to_evaluate(here, records, folder, method, parameters):
    records(method, parameters)
    unproven = method in UNPROVEN
    if unproven:
        refused = here("publish", "spec.toml", "--out", "out", "--ledger", "l.db")
        assert (refused.code, refused.err.count("\n")) == (1, 1)
        assert "the published claim is not proven: the groups are made of the raw records" in refused.err
        assert not (folder / "l.db").exists()
    done = here("publish", "spec.toml", "--out", "out", "--ledger", "l.db", *(["--allow-unproven"] * unproven))
    assert done.code == 0, done.err
    assert ("not proven" in done.out.lower()) is unproven
    assert ("in the order of the rows" in done.out) is unproven
    rows = pq.read_table(folder / "out" / "records.parquet")
    assert rows.column_names == ["age", "sex"]
    found = here("query", "out", "age in 2..5", "--json").json[0]
    assert found["value"] == sum(2 <= age <= 5 for age in rows["age"].to_pylist())
    assert (found["standard_error"], found["interval"]) == (None, None)
    truth = here("evaluate", "out", "--data", "rows.csv", "--json")
    assert truth.json["private"] is False
    assert 0 <= truth.json["metrics"]["two_way_total_variation"] <= 1
    assert "--held-out" in truth.err


def test_plan_says_what_its_error_is_about(here, records):
    records("auto", "clusters = 2")
    text = here("plan", "spec.toml").out
    assert "clusters = 2, rounds = " in text
    assert "Predicted for 10,000 records, as `users` in [release.parameters] does not say" in text
    records("mdav")
    text = here("plan", "spec.toml").out
    assert "no formula" in text
    assert "mdav has no proof: " in text
    assert "--allow-unproven" in text
    plain = here("plan", "spec.toml", "--json").json["candidates"][0]
    assert (plain["claim"]["proven"], plain["predicted_error"], plain["parameters"]) == (None, None, {"group": 3})
    assert plain["unit"] == "noise SSE, scaled units"


def test_the_whole_path_and_a_classifier_needs_rows_that_were_held_out(here, records, folder):
    pytest.importorskip("sklearn")
    records("auto", "clusters = 2")
    assert here("publish", "spec.toml", "--out", "out", "--quiet").code == 0
    done = here("evaluate", "out", "--data", "rows.csv", "--held-out", "rows.csv", "--json")
    assert 0 <= done.json["metrics"]["classifier_accuracy"] <= 1
    assert done.err == ""
    assert "no error is known" in here("query", "out", "sex = F").out
    assert here("report", "out").code == 0
    assert "made-up records" in (folder / "out" / "report.html").read_text()
    assert here("publish", "ages.toml", "--out", "ages", "--quiet").code == 0
    wrong = here("evaluate", "ages", "--data", "rows.csv", "--held-out", "rows.csv")
    assert (wrong.code, wrong.err.count("\n")) == (1, 1)


BAD = [
    ({"parameters": 'rows = "aligned"'}, "row i would be about person i"),
    ({"parameters": "clusters = 900\nusers = 500"}, "expected at most `users`, 500, got 900"),
    ({"parameters": "clusters = 400\nusers = 500"}, "500 records carry at most"),
    ({"parameters": 'clusters = 1\nrows = "representative"'}, "expected at least 2, got 1"),
    ({"attributes": ATTRIBUTES + ATTRIBUTES}, "attributes must have different, non-empty names"),
    ({"attributes": ATTRIBUTES.replace("bounds = [0, 9]", "")}, "the field `bounds` is missing"),
    ({"attributes": ATTRIBUTES.replace('"sex"', '"gender"')}, "has no column 'gender'"),
    ({"attributes": ATTRIBUTES.replace("[0, 9]", '[0, 9]\nnull = "none"')}, "records need a number for every row"),
    ({"privacy": 'model = "local"\nepsilon = 1'}, 'needs a table: model = "central"'),
]


@pytest.mark.parametrize(("parts", "message"), BAD)
def test_bad_input_is_one_clear_line_and_no_charge(here, records, folder, parts, message):
    records(**parts)
    done = here("publish", "spec.toml", "--out", "out", "--ledger", "l.db")
    assert (done.code, done.err.count("\n"), done.out) == (1, 1, "")
    assert message in done.err
    assert not (folder / "out").exists()
    assert not (folder / "l.db").exists()


def test_an_empty_column_is_refused_without_a_charge(here, records, folder):
    (folder / "rows.csv").write_text("age,sex\n" + ",F\n" * 50)
    records()
    done = here("publish", "spec.toml", "--out", "out", "--ledger", "l.db")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "attribute age: a value is missing" in done.err
    assert not (folder / "l.db").exists()


def test_the_charge_is_in_the_ledger_and_a_second_one_does_not_fit(here, records, folder):
    records()
    assert here("publish", "spec.toml", "--out", "one", "--ledger", "l.db", "--quiet").code == 0
    again = here("publish", "spec.toml", "--out", "two", "--ledger", "l.db", "--quiet")
    assert again.code == 1
    assert "budget exceeded" in again.err
    shown = here("ledger", "show", "l.db", "--json").json
    assert [one["confirmed"] for one in shown["entries"]] == [True]
    manifest = json.loads((folder / "one" / "release.json").read_text())
    assert manifest["ledger_head"] == shown["head"]
