"""The rows of one period, for the curator before it is paid for; `publish` says the same whatever they are."""

import datetime as dt

import pyarrow.csv
import pytest
from click.testing import CliRunner
from tests.release.periods.months import ROWS, VISITED, WARD, spec

from dpress.cli.main import cli
from dpress.data.specification.spec import from_dict
from dpress.release.periods.calendar import Calendar
from dpress.release.truth.data_check import check

EMPTY = "no row is of 2024-08: its release would be noise alone, and cost what any other does; exact, so not private"
TOML = """
[data]
source = "rows.csv"
[[attribute]]
name = "visited"
kind = "date"
bounds = [2024-01-10, 2024-08-31]
cells = "month"
[[attribute]]
name = "ward"
kind = "categorical"
values = ["eyes", "hearts"]
[privacy]
epsilon = 1
[periods]
attribute = "visited"
[release]
kind = "histogram"
"""


def of(period, asked=None, data=ROWS):
    return check(Calendar(asked or spec()).rows_of(period), data)


@pytest.mark.parametrize(("period", "first", "last"), [("2024-01", (1, 10), (1, 31)), ("2024-06", (6, 1), (6, 20))])
def test_the_rows_of_a_period_within_its_bounds_are_counted(period, first, last):
    inside = sum(dt.date(2024, *first) <= day <= dt.date(2024, *last) for day in ROWS["visited"].to_pylist())
    report = of(period)
    assert (report.rows, report.kept, report.others) == (inside, inside, len(ROWS) - inside)
    assert report.passed


def test_a_condition_of_the_specification_stays_and_a_name_with_blanks_is_quoted():
    dated, rows = {**VISITED, "name": "day of, visit"}, ROWS.rename_columns(["day of, visit", "ward", "uid", "cost"])
    asked = from_dict(
        {
            "data": {"where": "ward = eyes or uid = 3"},
            "attribute": [dated, WARD],
            "privacy": {"epsilon": 1},
            "release": {"kind": "histogram"},
            "periods": {"attribute": "day of, visit"},
        }
    )
    report = of("2024-02", asked, rows)
    wanted = sum(
        row["day of, visit"].month == 2 and (row["ward"] == "eyes" or row["uid"] == 3) for row in rows.to_pylist()
    )
    assert report.kept == wanted > 0
    assert report.where == "(ward = eyes or uid = 3) and 'day of, visit' = 2024-02"


def test_the_command_warns_of_it_on_lines_that_are_not_private(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(ROWS, "rows.csv")
    (tmp_path / "spec.toml").write_text(TOML)
    run = CliRunner().invoke
    full, empty = (run(cli, ["check", "spec.toml", "--period", period]) for period in ("2024-06", "2024-08"))
    assert (full.exit_code, empty.exit_code) == (0, 1)
    assert all(line.startswith("not private |") for line in full.output.splitlines())
    assert "of which `visited = 2024-06` does not hold" in full.output
    assert (empty.output, str(empty.exception)) == ("", EMPTY)
    assert run(cli, ["check", "spec.toml", "--period", "2024-08", "--private-cap", "1"]).exit_code == 2
    assert "expected one from 2024-01 to 2024-08" in str(
        run(cli, ["check", "spec.toml", "--period", "2025-01"]).exception
    )


def test_publishing_says_the_same_of_an_empty_period_as_of_a_full_one(tmp_path, monkeypatch):
    """What it prints depends on no row."""
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(ROWS, "rows.csv")
    (tmp_path / "spec.toml").write_text(TOML)
    said = []
    for period in ("2024-06", "2024-08"):
        done = CliRunner().invoke(cli, ["publish", "spec.toml", "--period", period, "--out", f"of {period}"])
        assert done.exit_code == 0
        said.append(done.output.replace(period, "PERIOD"))
    assert "note: `dpress check --period` tells beforehand" in done.stderr
    assert said[0].partition("Counted")[0] == said[1].partition("Counted")[0]
