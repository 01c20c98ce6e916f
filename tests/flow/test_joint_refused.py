"""Joint distributions: the program refuses what cannot be asked or estimated, in one line, and leaves nothing.

And what is only odd (an attribute of one value, reports that are all equal) gives a release. `main` runs in this
process but for one refusal of each command.
"""

import re

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

THREE = (2, 3, 4)
PAST = "p and q must satisfy 0 <= p < q <= 1, got "


@pytest.fixture
def asked(tmp_path):
    """Write a spec over integer attributes, and people for it."""

    def write(sizes=THREE, method="auto", parameters="", epsilon=2.0, kind="joint"):
        own = "".join(
            f'[[attribute]]\nname = "a{i}"\nkind = "integer"\nbounds = [0, {n - 1}]\n' for i, n in enumerate(sizes)
        )
        (tmp_path / "s.toml").write_text(
            f'{own}[privacy]\nmodel = "local"\nepsilon = {epsilon}\n[release]\nkind = "{kind}"\n'
            f'method = "{method}"\n[release.parameters]\n{parameters}\n'
        )
        names = ",".join(f"a{i}" for i in range(len(sizes)))
        rows = "".join(",".join(str(user * (user + i) % n) for i, n in enumerate(sizes)) + "\n" for user in range(300))
        (tmp_path / "people.csv").write_text(f"{names}\n{rows}")

    return write


@pytest.fixture
def refused(here, tmp_path):
    """Run a command that must be refused and return its only line; no file may come or go."""

    def run(*arguments, program=here):
        before = sorted(tmp_path.rglob("*"))
        done = program(*arguments)
        assert done.code == 1, done
        assert done.out == ""
        assert re.fullmatch(r"dpress: [^\n]+\n", done.err), done.err
        assert sorted(tmp_path.rglob("*")) == before
        return done.err

    return run


def perturbed(here):
    done = here("perturb", "s.toml", "--data", "people.csv", "--out", "r.parquet", "--quiet")
    assert done.code == 0, done.err


def estimated(here):
    done = here("estimate", "s.toml", "--reports", "r.parquet", "--out", "out", "--quiet")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        (
            {"sizes": (60,) * 6, "method": "em"},
            "em needs the joint table of 46,656,000,000 cells, more than 2^22; name",
        ),
        ({"sizes": (60,) * 6, "parameters": "f = 0.5"}, "rr_ldp needs the joint table of 46,656,000,000 cells, more"),
        (
            {"sizes": (60,) * 6, "method": "subset_selection"},
            "combinations of values is too large; name fewer attributes",
        ),
        ({"sizes": (9,)}, 'a joint distribution needs two attributes or more; use kind = "histogram"'),
        ({"parameters": "p = 0.75\nq = 0.5"}, f"{PAST}p=0.75, q=0.5"),
        ({"parameters": "p = 0.5\nq = 0.5"}, f"{PAST}p=0.5, q=0.5"),
        ({"method": "em", "parameters": "p = -0.1"}, f"{PAST}p=-0.1"),
        ({"method": "rr_ldp", "parameters": "q = 1.5"}, f"{PAST}p=0.5, q=1.5"),
        ({"parameters": "f = 1"}, "f: expected a number between 0 and 1, got 1"),
        ({"parameters": "f = 0"}, "f: expected a number between 0 and 1, got 0"),
        ({"parameters": "f = nan"}, "f: expected a number between 0 and 1, got nan"),
        ({"parameters": 'f = "x"'}, "f: expected a number between 0 and 1, got 'x'"),
        (
            {"parameters": "f = 0.1\np = 0.1\nq = 0.9"},
            "cost epsilon = 10.8917 per report, more than epsilon = 2; raise f",
        ),
        ({"parameters": "ways = 4"}, "$.release.parameters.ways: expected at most 3, got 4"),
        ({"parameters": "ways = 1"}, "$.release.parameters.ways: expected an integer >= 2, got 1"),
        ({"parameters": "ways = 2\nf = 0.5"}, "set either `ways` (of `pairs`) or `f`, `p`, `q` (of `rr_ldp`)"),
        ({"method": "lasso", "parameters": "ways = 2"}, "unknown parameter 'ways' for lasso"),
        ({"method": "privelet"}, "'privelet' does not serve kind = \"joint\"; use pairs, rr_ldp, em, lasso, lremh"),
    ],
)
def test_what_cannot_be_asked(asked, refused, spec, wanted):
    asked(**spec)
    assert wanted in refused("perturb", "s.toml", "--data", "people.csv", "--out", "r.parquet", "--quiet")


@pytest.mark.parametrize(("method", "named"), [("pairs", "'a0' and 'a1'"), ("independent", "'a0'")])
def test_reports_without_one_of_the_types(asked, here, refused, tmp_path, method, named):
    asked(method=method, parameters="ways = 2" if method == "pairs" else "")
    perturbed(here)
    table = pq.read_table(tmp_path / "r.parquet")
    pq.write_table(table.filter(pc.not_equal(table["report_type"], 0)), tmp_path / "r.parquet")
    line = refused("estimate", "s.toml", "--reports", "r.parquet", "--out", "out", "--quiet")
    assert f"no report is about {named}" in line


@pytest.mark.slow
def test_in_a_process_of_its_own_it_is_the_same(asked, dpress, refused):
    asked(parameters="f = 1")
    told = ("perturb", "s.toml", "--data", "people.csv", "--out", "r.parquet", "--quiet")
    assert refused(*told, program=dpress) == refused(*told)
    told = ("estimate", "s.toml", "--reports", "r.parquet", "--out", "out", "--quiet")
    assert refused(*told, program=dpress) == refused(*told)


def test_reports_of_another_collection(asked, here, refused):
    asked()
    perturbed(here)
    asked(epsilon=1.0)
    line = refused("estimate", "s.toml", "--reports", "r.parquet", "--out", "out", "--quiet")
    assert "none of the 300 reports belongs to this collection (300 left out: another collection)" in line


def test_records_of_a_release_without_a_joint(asked, here, refused):
    asked(kind="marginals")
    perturbed(here)
    line = refused("estimate", "s.toml", "--reports", "r.parquet", "--out", "out", "--records", 5, "--quiet")
    assert 'set kind = "joint"' in line


@pytest.mark.parametrize("records", ["-1", "x", "1.5"])
def test_a_number_of_records_that_is_none_is_a_usage_error(asked, here, tmp_path, records):
    asked()
    before = sorted(tmp_path.iterdir())
    done = here("estimate", "s.toml", "--reports", "r.parquet", "--out", "out", "--records", records)
    assert (done.code, done.out) == (2, "")
    assert "--records" in done.err.splitlines()[-1]
    assert sorted(tmp_path.iterdir()) == before


def tables_in(folder):
    """Return the published tables of a folder, at least one."""
    tables = [pq.read_table(path) for path in folder.glob("*.parquet")]
    tables = [table for table in tables if "adjusted" in table.column_names]
    assert tables
    return tables


@pytest.mark.parametrize("method", ["pairs", "rr_ldp", "independent"])
def test_an_attribute_of_one_value_is_odd_but_served(asked, here, tmp_path, method):
    asked(sizes=(2, 1, 3), method=method)
    perturbed(here)
    estimated(here)
    alone = next(table for table in tables_in(tmp_path / "out") if "a1" in table.column_names)
    assert sum(alone["adjusted"].to_pylist()) == pytest.approx(300)


@pytest.mark.parametrize("method", ["pairs", "rr_ldp", "independent"])
def test_reports_that_are_all_equal_are_odd_but_served(asked, here, tmp_path, method):
    asked(method=method)
    perturbed(here)
    table = pq.read_table(tmp_path / "r.parquet")
    rows = table.select(["report_type", "payload"]).to_pylist()
    first = {row["report_type"]: row["payload"] for row in reversed(rows)}
    same = pa.array([first[row["report_type"]] for row in rows], pa.binary())
    place = table.column_names.index("payload")
    pq.write_table(table.set_column(place, "payload", same), tmp_path / "r.parquet")
    estimated(here)
    for published in tables_in(tmp_path / "out"):
        adjusted = published["adjusted"].to_pylist()
        assert min(adjusted) >= 0
        assert sum(adjusted) == pytest.approx(300)
