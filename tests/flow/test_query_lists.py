"""Lists of overlapping queries through the commands: from the plan to the evaluation, and what is refused."""

import json

import pyarrow.parquet as pq
import pytest

LISTED = '"age >= 5 and sex = F", "age < 3 or sex = M", "not (age in 2..6)", "total"'
ASKED = ("age >= 5 and sex = F", "age < 3 or sex = M", "not (age in 2..6)", "total")


@pytest.fixture
def listed(spec):
    def make(queries=LISTED, more="", **parts):
        return spec(release=f'kind = "queries"\nparameters = {{ queries = [{queries}]{more} }}', **parts)

    return make


@pytest.mark.slow
def test_the_whole_path(here, listed, folder):
    listed()
    planned = here("plan", "spec.toml", "--out", "design.json")
    assert planned.code == 0, planned.err
    for words in ("direct_queries", "identity", "p_identity", "L1 sensitivity", "counts of", "at once are within +-"):
        assert words in planned.out
    plain = here("plan", "spec.toml", "--json").json
    assert {one["method"] for one in plain["candidates"]} == {"direct_queries", "identity", "p_identity"}
    assert plain["lower_bound"] <= min(one["predicted_error"] for one in plain["candidates"])
    assert all(one["largest_error"]["cells"] == 4 for one in plain["candidates"])

    done = here("publish", "design.json", "--data", "rows.csv", "--out", "out", "--ledger", "l.db")
    assert done.code == 0, done.err
    table = pq.read_table(folder / "out" / "queries.parquet").to_pydict()
    assert table["query"] == list(ASKED)

    answers = here("query", "out", *ASKED, "not total or age in 2..6", "--json").json
    assert [one["value"] for one in answers[:4]] == pytest.approx(table["count"])
    assert answers[4]["value"] == pytest.approx(answers[3]["value"] - answers[2]["value"])
    assert here("report", "out").code == 0
    evaluated = here("evaluate", "out", "--data", "rows.csv", "--json").json
    assert evaluated["private"] is False
    assert evaluated["metrics"]["rows"] == 500
    assert evaluated["metrics"]["query_largest_error"] < 40
    assert here("ledger", "verify", "l.db").code == 0


@pytest.mark.parametrize("method", ["direct_queries"])
def test_the_audit_is_exact(here, method):
    found = here("audit", method, "--json")
    assert found.code == 0, found.err
    assert {one["kind"] for one in found.json["checks"]} == {"exact matrix"}
    assert all(one["kept"] for one in found.json["checks"])


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        ("", "queries: expected a list of 1 to 1023 queries, got []"),
        ('"age < 3", "sex = F", "not age >= 3"', "queries[#3]: 'not age >= 3' holds of the same rows as queries[#1]"),
        ('"age < 3 and age > 6"', "queries[#1]: 'age < 3 and age > 6' holds of no row"),
        ('"total", "agee < 3"', "queries[#2]: cannot read 'agee < 3'"),
    ],
)
def test_bad_lists_are_refused_in_one_line(here, listed, folder, queries, said):
    listed(queries)
    done = here("publish", "spec.toml", "--out", "out", "--ledger", "l.db")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert f"$.release.parameters.{said}" in done.err
    assert not (folder / "out").exists()
    assert not (folder / "l.db").exists()


def test_a_question_that_cuts_a_cell_is_refused_in_one_line(here, listed, folder):
    listed('"age < 5", "sex = F"')
    assert here("publish", "spec.toml", "--out", "out").code == 0
    done = here("query", "out", "age < 4")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "'age < 4' is no sum of the queries' cells: it cuts the rows of which just 'age < 5'" in done.err
    assert json.loads((folder / "out" / "release.json").read_text())["design"]["kind"] == "queries"
