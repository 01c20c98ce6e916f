"""Maps: what cannot be planned, perturbed, estimated or asked is refused in one line, and leaves nothing.

What a plan refuses is tested in tests/release/test_spatial_plan.py, what a query refuses in tests/release/test_map.py;
here `main` runs in this process but for a few.
"""

import math
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpress.cli.main import main

pytestmark = pytest.mark.slow
USERS = 400
AGE = '[[attribute]]\nname = "age"\nkind = "categorical"\nvalues = ["F", "M"]\n'


def write(folder, *, outside="clamp", method="auto", parameters="height = 3", model="local", more="", **own):
    """Write a spec of a map of the box 0..8, 0..4; `attributes` of the release, `bounds` and `kind` may be others."""
    bounds = own.get("bounds", "[[0.0, 8.0], [0.0, 4.0]]")
    (folder / "s.toml").write_text(
        f'[[attribute]]\nname = "place"\nkind = "location"\ncolumns = ["lon", "lat"]\nbounds = {bounds}\n'
        f'outside = "{outside}"\n{more}[privacy]\nmodel = "{model}"\nepsilon = 1.0\n[release]\n'
        f'kind = "{own.get("kind", "spatial")}"\nmethod = "{method}"\n{own.get("attributes", "")}\n'
        f"[release.parameters]\n{parameters}\n"
    )


def people(folder, lon=None, users=USERS):
    places = [lon] if lon != "fine" else []
    across = [*(k % 79 / 10 for k in range(users - len(places))), *places]
    columns = {"lon": pa.array(across, pa.float64()), "lat": [k % 37 / 10 for k in range(users)]}
    pq.write_table(pa.table(columns), folder / "people.parquet")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working folder with people in it."""
    monkeypatch.chdir(tmp_path)
    people(tmp_path, "fine")
    return tmp_path


@pytest.fixture
def run(here, capsys):  # noqa: ARG001  # it runs there
    """Run the program in this process and return its exit code, output and errors."""

    def done(*arguments):
        try:
            main([str(one) for one in arguments])
            code = 0
        except SystemExit as end:
            code = end.code
        out = capsys.readouterr()
        return code, out.out, out.err

    return done


@pytest.fixture
def refused(run, here):
    """Run what must be refused and return its only line; no file may come or go."""

    def done(*arguments):
        before = sorted(here.rglob("*"))
        code, out, err = run(*arguments, *(["--quiet"] if arguments[0] not in ("plan", "query") else []))
        assert code == 1, (out, err)
        assert out == ""
        assert re.fullmatch(r"dpress: [^\n]+\n", err), err
        assert "internal error" not in err
        assert sorted(here.rglob("*")) == before
        return err

    return done


PERTURB = ("perturb", "s.toml", "--data", "people.parquet", "--out", "r.parquet")
ESTIMATE = ("estimate", "s.toml", "--reports", "r.parquet", "--out", "out")
PUBLISH = ("publish", "s.toml", "--data", "people.parquet", "--out", "out")
FIRST = "or clean the data; `dpress check` counts them first"
MISSING = f"attribute lon: a value is missing or not of its type; say what to do in `outside`, {FIRST}"
OUTSIDE = f"attribute lon: a value is not in its cells; say what to do in `outside`, {FIRST}"


@pytest.mark.parametrize("model", ["local", "central"])
@pytest.mark.parametrize(
    ("lon", "outside", "wanted"),
    [
        (9.5, "reject", OUTSIDE),
        (math.inf, "reject", OUTSIDE),
        (None, "reject", MISSING),
        (None, "clamp", MISSING),
        (math.nan, "clamp", MISSING),
    ],
)
def test_positions_that_are_none_or_outside(here, refused, model, lon, outside, wanted):
    people(here, lon)
    write(here, outside=outside, model=model)
    line = refused(*(PERTURB if model == "local" else PUBLISH))
    assert wanted in line
    assert "9.5" not in line


def test_a_position_outside_is_clamped_or_dropped_where_the_spec_says_so(here, run):
    people(here, 9.5)
    write(here)
    assert run(*PERTURB, "--quiet")[0] == 0
    assert pq.read_table(here / "r.parquet").num_rows == USERS
    write(here, outside="drop", model="central", parameters="height = 2")
    assert run(*PUBLISH, "--quiet")[0] == 0


def test_dropping_is_no_choice_of_a_device(here, refused):
    write(here, outside="drop")
    assert 'set outside = "clamp"' in refused(*PERTURB)
    assert 'set outside = "clamp"' in refused("plan", "s.toml")


def test_too_few_users_for_a_level(here, run, refused):
    people(here, "fine", users=1)
    write(here, method="gtr")
    for _ in range(40):  # a group in four is asked for the cells
        (here / "r.parquet").unlink(missing_ok=True)
        assert run(*PERTURB, "--quiet")[0] == 0
        if pq.read_table(here / "r.parquet")["report_type"].to_pylist() != [3]:
            break
    assert "no report is about the cells themselves, level 3" in refused(*ESTIMATE)


def test_an_inner_level_that_nobody_reported_is_no_fault(here, run):
    write(here, method="gtr")
    assert run(*PERTURB, "--quiet")[0] == 0
    table = pq.read_table(here / "r.parquet")
    kept = [number for number, own in enumerate(table["report_type"].to_pylist()) if own != 1]
    pq.write_table(table.take(kept), here / "r.parquet")
    assert run(*ESTIMATE, "--quiet")[0] == 0


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"bounds": "[[1.0, 1.0], [0.0, 4.0]]"}, "`bounds` must be [[low, high], [low, high]] with low < high"),
        ({"bounds": "[[5.0, 1.0], [0.0, 4.0]]"}, "`bounds` must be [[low, high], [low, high]] with low < high"),
        ({"bounds": "[[0.0, inf], [0.0, 4.0]]"}, "`bounds` must be"),
        ({"parameters": "height = 11"}, "$.release.parameters.height: expected at most 10, got 11"),
        ({"parameters": "area = [0.5, 0.1]"}, "area: expected [low, high] with 0 < low <= high <= 1, got [0.5, 0.1]"),
        ({"method": "gtr", "parameters": "side = 12"}, "its quadtree needs a power of two: set `height`"),
        ({"method": "oue", "parameters": "side = 8\nheight = 3"}, "set either `height` or `side`"),
        ({"method": "privelet"}, "'privelet' makes no map from reports; those that do: "),
        ({"method": "adaptive_grid", "parameters": ""}, "'adaptive_grid' makes no map from reports"),
        ({"more": AGE}, 'kind = "spatial" needs one attribute of kind "location", got place, age'),
        ({"more": AGE, "attributes": 'attributes = ["age"]'}, 'one attribute of kind "location", got age'),
        ({"kind": "histogram"}, 'attribute place: a location has no cells of its own; use kind = "spatial"'),
        ({"kind": "joint", "more": AGE}, "attribute place: a location has no cells of its own"),
        ({"attributes": 'postprocess = ["nonnegative"]'}, 'kind = "spatial" has no tables to adjust'),
        ({"method": "psda"}, "psda: the published claim is not proven; allow_unproven runs it anyway"),
    ],
)
def test_what_cannot_be_asked(here, refused, spec, wanted):
    write(here, **spec)
    assert wanted in refused(*PERTURB)


def test_a_method_without_a_proof_is_run_and_its_reports_read_only_where_that_is_allowed(here, run, refused):
    write(here, method="psda")
    assert run(*PERTURB, "--quiet", "--allow-unproven")[0] == 0
    assert "psda: the published claim is not proven" in refused(*ESTIMATE)
    code, _, _ = run(*ESTIMATE, "--quiet", "--allow-unproven", "--json")
    assert code == 0
    assert '"proven": null' in (here / "out" / "release.json").read_text()


@pytest.mark.parametrize("parameters", ["height = 3\nround = 1", "height = 4"])
def test_reports_of_another_round_or_grid(here, run, refused, parameters):
    write(here)
    assert run(*PERTURB, "--quiet")[0] == 0
    write(here, parameters=parameters)
    assert f"none of the {USERS} reports belongs to this collection" in refused(*ESTIMATE)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("lon in 9..12", "lon: nothing lies there; it runs from 0 to 8"),
        ("lon in 5..3", "lon: the ends of 5..3 are reversed; write 3..5"),
        ("lon in 3..3", "lon: 3..3 has no length, and so no area"),
        ("city = Rome", "with the attributes lon, lat"),
    ],
)
def test_rectangles_that_are_none(here, run, refused, text, wanted):
    write(here)
    assert run(*PERTURB, "--quiet")[0] == 0
    assert run(*ESTIMATE, "--quiet")[0] == 0
    assert wanted in refused("query", "out", text)


def test_in_a_process_of_its_own_it_is_the_same(dpress, here):
    write(here, outside="drop")
    done = dpress("perturb", "s.toml", "--data", "people.parquet", "--out", "r.parquet", "--quiet")
    assert (done.code, done.out) == (1, "")
    assert re.fullmatch(r"dpress: [^\n]+\n", done.err)
    assert not (here / "r.parquet").exists()
