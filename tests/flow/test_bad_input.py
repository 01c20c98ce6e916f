"""Each bad input gives one clear line and exit code 1; nothing is half-written, no budget is lost or gained."""

import contextlib
import sqlite3

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpress import Ledger, PureDP, Unit, load_spec, publish
from dpress.data.sources.parquet_rows import ParquetPart
from dpress.ledger import sqlite_ledger
from dpress.query import folder

SECRET = "4711-secret"


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "1e-320", "x"])
def test_epsilon_of_the_error_command(refused, epsilon):
    assert refused("error", "boost", "--cells", "8", f"--epsilon={epsilon}").startswith("epsilon must ")


TERNARY = ["--cells", "9", "--parameter", "branching=3", "--parameter", "root=false"]  # levels of 3 and 9 nodes
ENDS = "a range is written LEFT:RIGHT, e.g. 3:7, got "
ORDER = "a range must have 1 <= left <= right, got "


@pytest.mark.parametrize("strategy", ["boost", "privelet", "hierarchy", "identity", "binary_tree", "prefix"])
@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ("0", "cells must be an integer >= 1, got cells=0"),
        ("-8", "cells must be an integer >= 1, got cells=-8"),
        (str(2**60 + 1), f"cells must be at most 2^60, got cells={2**60 + 1}"),
        (str(10**30), f"cells must be at most 2^60, got cells={10**30}"),
    ],
)
def test_cells_of_the_error_command(refused, strategy, cells, wanted):
    assert refused("error", strategy, f"--cells={cells}", "--average") == wanted


def test_noise_beyond_every_sampler_is_refused_in_words(refused):
    assert refused("error", "prefix", f"--cells={2**60}").startswith(f"on {2**60} cells the noise of prefix is wider")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("7:3", f"{ORDER}7:3"),
        ("0:3", f"{ORDER}0:3"),
        ("0:0", f"{ORDER}0:0"),
        ("3:9", "range 3:9 must end within 8 cells"),
        ("9:9", "range 9:9 must end within 8 cells"),
        (f"1:{10**30}", f"range 1:{10**30} must end within 8 cells"),
        ("", f"{ENDS}''"),
        (":", f"{ENDS}':'"),
        ("3", f"{ENDS}'3'"),
        ("3:", f"{ENDS}'3:'"),
        ("-1:3", f"{ENDS}'-1:3'"),
        ("1.5:3", f"{ENDS}'1.5:3'"),
        ("3:4:5", f"{ENDS}'3:4:5'"),
        ("3..7", f"{ENDS}'3..7'"),
        ("\u00b2:3", f"{ENDS}'\u00b2:3'"),
    ],
)
def test_ranges_of_the_error_command(refused, text, wanted):
    assert refused("error", "boost", "--cells", "8", "--range", "1:8", f"--range={text}") == wanted


SHARES = '$.release.parameters.shares: expected "best", "equal", or a list of one number for each level'


@pytest.mark.parametrize(
    ("shares", "wanted"),
    [
        ("[0, 1]", "shares must be positive and add up to 1, got ['0', '1']"),
        ("[-0.5, 1.5]", "shares must be positive and add up to 1, got ['-1/2', '3/2']"),
        ("[0.5, 0.4]", "shares must be positive and add up to 1, got ['1/2', '2/5']"),
        ('["1/3", "1/3", "1/3"]', "$.release.parameters.shares: expected 2 numbers, one a level, got 3"),
        ("[1]", "$.release.parameters.shares: expected 2 numbers, one a level, got 1"),
        ("[nan, 1]", f"{SHARES}, got [nan, 1]"),
        ("3", f"{SHARES}, got 3"),
        ('"even"', f"{SHARES}, got 'even'"),
    ],
)
def test_level_shares_of_the_error_command(refused, shares, wanted):
    assert refused("error", "hierarchy", *TERNARY, "--parameter", f"shares={shares}") == wanted


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (
            ["boost", "--parameter", "branching=3"],
            "$.release.parameters: unknown parameter 'branching' for boost; known: none",
        ),
        (
            ["hierarchy", "--parameter", "depth=3"],
            "$.release.parameters: unknown parameter 'depth' for hierarchy; known: branching, root, shares",
        ),
        (
            ["hierarchy", "--parameter", "branching"],
            "--parameter: expected NAME=VALUE as in a spec file, got branching",
        ),
        (
            ["hierarchy", "--parameter", "branching=1"],
            "$.release.parameters.branching: expected an integer >= 2, got 1",
        ),
        (["hierarchy", "--parameter", "branching=x"], "--parameter branching: x is no TOML value; a number"),
        (
            ["hierarchy", "--parameter", "branching=2.5"],
            "$.release.parameters.branching: expected an integer >= 2, got 2.5",
        ),
        (
            ["p_identity"],
            "p_identity has no error over ranges of 8 cells here; it needs --epsilon and 23 to 2^12",
        ),
        (["p_identity", "--parameter", "seconds=-1"], "$.release.parameters.seconds: expected a number between 0 and"),
        (["dst"], "dst has no error over ranges of 8 cells here; it needs --rho and at most 2^22 cells"),
        (["marginals"], "marginals has no error over ranges of 8 cells here; see `dpress list --family linear`"),
        (["nope"], "there is no method 'nope'; `dpress list` shows all "),
        (["boost", "--rho", "0"], "rho must be > 0, got rho=0"),
        (["boost", "--rho", "x"], "rho must be a finite number, got rho=x"),
    ],
)
def test_strategies_and_parameters_of_the_error_command(refused, arguments, wanted):
    assert refused("error", *arguments, "--cells", "8").startswith(wanted)


def test_more_queries_than_can_be_listed(spec, refused):
    listed = ", ".join(['"age in 2..5"'] * 2049)
    spec(release=f'kind = "ranges"\nattributes = ["age"]\n[release.parameters]\nqueries = [{listed}]')
    wanted = "spec.toml: $.release.parameters.queries: list between 1 and 2048 ranges, got 2049 (at line 19, column 1)"
    assert refused("plan", "spec.toml") == wanted


def test_an_attribute_that_the_file_does_not_have(spec, publish_refused):
    spec(extra='[[attribute]]\nname = "weight"\nkind = "integer"\nbounds = [0, 9]')
    assert publish_refused() == (
        "rows.csv has no column 'weight'; it has 3 columns; does it start with a header line, separated by ','? "
        "(`column` of an attribute reads one by another name; `dpress check` says which are near)"
    )


@pytest.mark.parametrize(
    ("header", "row", "attribute", "wanted"),
    [
        ("age,sex", f"1,{SECRET}", "", "attribute sex: a value is not in its cells; say what to do in `other`"),
        ("age,sex", "1,", "", "attribute sex: a value is missing or not of its type; say what to do in `null`"),
        ("age,sex", ",F", "", "attribute age: a value is missing or not of its type; say what to do in `null`"),
        ("age,sex", f"{SECRET},F", "", "attribute age: a value is missing or not of its type"),
        ("age,sex", "4711,F", 'outside = "reject"', "attribute age: a value is not in its cells"),
    ],
)
def test_values_that_the_spec_rejects(folder, spec, publish_refused, header, row, attribute, wanted):
    (folder / "rows.csv").write_text(f"{header}\n1,F\n{row}\n")
    base = '[[attribute]]\nname = "age"\nkind = "integer"\nbounds = [0, 9]\n' + attribute
    sex = '[[attribute]]\nname = "sex"\nkind = "categorical"\nvalues = ["F", "M"]'
    spec(attributes=f"{base}\n{sex}")
    line = publish_refused()
    assert line.startswith(wanted)
    assert "4711" not in line


def test_an_empty_file(folder, spec, publish_refused):
    spec()
    (folder / "rows.csv").write_text("")
    assert publish_refused() == "rows.csv is empty"
    (folder / "rows.csv").write_text("age,sex\n")
    assert publish_refused() == "rows.csv has no rows to count"


def test_a_file_that_is_not_there_or_no_table(folder, spec, publish_refused):
    spec()
    assert publish_refused("spec.toml", "--data", "nope.csv") == "nope.csv: No such file or directory"
    (folder / "broken.parquet").write_bytes(b"PAR1" + SECRET.encode() * 9)
    assert "broken.parquet cannot be read as a Parquet file" in publish_refused("spec.toml", "--data", "broken.parquet")


def test_a_file_that_changes_while_it_is_read(folder, spec, publish_refused, monkeypatch):
    rows = pa.table({"age": [1] * 1000, "sex": ["F"] * 1000})
    pq.write_table(rows, folder / "rows.parquet")
    read = ParquetPart.batches

    def touched(self):
        for batch in read(self):
            (folder / "rows.parquet").touch()
            yield batch

    monkeypatch.setattr(ParquetPart, "batches", touched)
    spec()
    line = publish_refused("spec.toml", "--data", "rows.parquet")
    assert line == "rows.parquet changed while it was read; nothing was released"


def test_a_spec_with_an_unknown_field_or_none_at_all(folder, spec, refused, publish_refused):
    spec(privacy="epsilon = 1\nbudget = 3")
    assert publish_refused().startswith("spec.toml: $.privacy: unknown field `budget`; the fields are ")
    (folder / "spec.toml").write_text("[privacy")
    assert "not a TOML file" in publish_refused()
    (folder / "spec.toml").write_bytes(b"PAR1\x15\x04\xff\xfe")
    assert publish_refused() == "spec.toml: expected a specification or a design, got no text in UTF-8"
    assert refused("plan", "nope.toml") == "nope.toml: No such file or directory"


def test_a_truncated_release(folder, refused):
    publish(load_spec(folder / "ages.toml"), out=folder / "kept")
    manifest = folder / "kept" / "release.json"
    manifest.write_text(manifest.read_text()[:200])
    for command in (["query", "kept", "total"], ["report", "kept"], ["evaluate", "kept", "--data", "rows.csv"]):
        assert refused(*command) == "kept/release.json is truncated or was edited; publish again or restore the file"
    publish(load_spec(folder / "ages.toml"), out=folder / "other")
    (folder / "other" / "age.parquet").unlink()
    wanted = "other/release.json: age.parquet is missing; publish again or restore the file"
    assert refused("query", "other", "total") == wanted
    assert refused("query", "nope", "total") == (
        "nope is not there: name a folder that `dpress publish --out` wrote, with its release.json"
    )
    assert refused("query", "rows.csv", "total").startswith("rows.csv is a file, no release: name a folder")


def test_a_full_disk(spec, publish_refused, monkeypatch):
    def full(*_arguments, **_keywords):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder.pq, "ParquetWriter", full)
    spec()
    line = publish_refused(spent=1)
    assert line == (
        "cannot write out: No space left on device; the charge of epsilon = 1 stands, and publishing it again finishes "
        "it without another"
    )


def test_a_locked_ledger(folder, spec, publish_refused, monkeypatch):
    monkeypatch.setattr(sqlite_ledger, "BUSY_SECONDS", 0.05)
    spec()
    with contextlib.closing(sqlite3.connect(folder / "budget.sqlite")) as other:
        other.execute("BEGIN EXCLUSIVE")
        line = refusal_while_locked(publish_refused)
        other.rollback()
    assert "locked" in line


def refusal_while_locked(publish_refused):
    try:
        return publish_refused()
    except TimeoutError as error:  # the fixture reads the ledger too, and finds it locked
        return str(error)


def test_an_edited_ledger(folder, spec, refused, ledger):
    spec()
    publish(load_spec(folder / "ages.toml"), ledger=ledger)
    connection = sqlite3.connect(folder / "budget.sqlite")
    names = connection.execute("SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in names:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(f"DELETE FROM {names[0][1]} WHERE rowid = 2")
    connection.commit()
    connection.close()
    for command in (
        ["publish", "spec.toml", "--out", "out", "--ledger", "budget.sqlite"],
        ["ledger", "verify", "budget.sqlite"],
        ["ledger", "show", "budget.sqlite"],
    ):
        assert "budget.sqlite" in refused(*command)


def test_a_ledger_that_is_none(folder, spec, refused):
    spec()
    (folder / "other.sqlite").write_text("no ledger" * 100)
    assert "other.sqlite" in refused("publish", "spec.toml", "--out", "out", "--ledger", "other.sqlite")
    assert "nope.sqlite" in refused("ledger", "show", "nope.sqlite")


def test_a_ledger_for_another_unit(folder, spec, refused):
    spec()
    Ledger.create(folder / "people.sqlite", limit=PureDP(epsilon=1), unit=Unit(column="uid", rows=2))
    assert "uid" in refused("publish", "spec.toml", "--out", "out", "--ledger", "people.sqlite")


def test_what_nobody_foresaw_is_reported_without_its_message(refused, monkeypatch):
    from dpress.kinds.ranges import design as module

    def broken(_spec):
        raise KeyError(SECRET)

    monkeypatch.setattr(module, "choose", broken)
    assert refused("plan", "ages.toml").startswith("internal error: KeyError")


@pytest.mark.parametrize("command", ["publish", "perturb"])
def test_a_process_that_refuses_writes_one_line(dpress, folder, command):
    """In a process of its own: libraries may write on standard error at its end."""
    (folder / "none.toml").write_text("")
    done = dpress(command, "none.toml", "--data", "rows.csv", "--out", "out")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert done.err.startswith("dpress: none.toml: ")
