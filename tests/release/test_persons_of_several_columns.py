"""A specification whose person is named by several columns: what is counted, stated, charged, and read back."""

import contextlib
import json
import sqlite3
from fractions import Fraction

import pyarrow as pa
import pytest
from click.testing import CliRunner
from tests.release.periods.months import MONTHS, VISITED, WARD

from dpress.cli.ledger import command as ledger_command
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import seeded
from dpress.data.specification.spec import from_dict
from dpress.document.design import decode, encode
from dpress.ledger.ledger import Ledger
from dpress.query.load import load_release
from dpress.release.curator.private_cap import private_cap
from dpress.release.curator.publish import publish
from dpress.release.periods.publish_period import publish_period
from dpress.release.periods.series import load_series
from dpress.release.plan.plan import plan
from dpress.reporting.page import write_report

PEOPLE = 60
ROWS = pa.table(
    {
        "hhid": [f"{row // 30}" for row in range(3 * PEOPLE)],
        "pid": [row // 3 % 10 for row in range(3 * PEOPLE)],
        "ward": ["eyes"] * (3 * PEOPLE),
        "cost": [float(row % 3) for row in range(3 * PEOPLE)],
        "visited": [VISITED["bounds"][0].replace(month=1 + row % 3, day=20) for row in range(3 * PEOPLE)],
    }
)
COST = {"name": "cost", "kind": "numeric", "bounds": [0.0, 3.0], "bins": 3}


def spec(unit=("hhid", "pid"), kind="histogram", attributes=(WARD,), epsilon=30.0, rows=1, parameters=None, **more):
    privacy = {"epsilon": epsilon, "unit": unit if isinstance(unit, str) else [*unit], "rows_per_unit": rows}
    release = {"kind": kind, "parameters": parameters or {}}
    return from_dict({"attribute": list(attributes), "privacy": privacy, "release": release, **more})


def test_persons_are_counted_and_stated_by_all_their_columns(tmp_path):
    release = publish(spec(), ROWS, out=tmp_path / "release")
    assert release.query("total").value == PEOPLE  # households alone would be 6, persons within them 10
    stated = json.loads((tmp_path / "release" / "release.json").read_text())
    assert stated["claim"]["unit"] == ["hhid", "pid"]
    assert stated["design"]["claim"]["unit"] == ["hhid", "pid"]
    again = load_release(tmp_path / "release")
    assert again.claim.unit == Unit(column="hhid", also=("pid",))
    assert again.query("total").note == "Counts are of at most 1 row for each hhid and pid."
    page = write_report(again, tmp_path / "page.html").read_text()
    assert "the same hhid and pid together" in page
    design = plan(spec()).design
    assert decode(encode(design)) == design
    assert publish(decode(encode(design)), ROWS, rng=seeded(1)).query("total").value == PEOPLE


def test_persons_of_one_column_are_written_as_they_were(tmp_path):
    publish(spec(unit="hhid"), ROWS, out=tmp_path / "release", rng=seeded(1))
    stated = json.loads((tmp_path / "release" / "release.json").read_text())
    assert stated["claim"]["unit"] == "hhid"
    assert "also" not in json.dumps(stated)


def test_numbers_of_persons_and_their_totals():
    own = spec(
        kind="statistics", attributes=(COST,), rows=3, parameters={"persons": True, "totals": {"cost": [0.0, 9.0]}}
    )
    release = publish(own, ROWS, rng=seeded(1))
    assert release.query("persons").value == pytest.approx(PEOPLE, abs=3)


def test_a_ledger_protects_the_person_that_it_names(tmp_path):
    arguments = ["create", str(tmp_path / "l.db"), "--epsilon", "100", "--unit", "pid", "--unit", "hhid"]
    assert CliRunner().invoke(ledger_command, arguments).exit_code == 0
    ledger = Ledger.open(tmp_path / "l.db")
    assert ledger.summary().unit == Unit(column="pid", also=("hhid",))
    publish(spec(), ROWS, ledger=ledger, rng=seeded(1))  # the order of the columns makes no other person
    assert private_cap(spec(), ROWS, epsilon=30, ledger=ledger, rng=seeded(1)).cap == 3
    assert ledger.summary().spent == {"epsilon": Fraction(60)}
    for unit in ("hhid", ["hhid", "ward"], "row"):
        with pytest.raises(
            ValueError, match=r"the ledger protects a pid and hhid with at most 1 rows under add-remove"
        ):
            publish(spec(unit=unit), ROWS, ledger=ledger)


def test_a_person_of_several_columns_counts_in_the_first_periods(tmp_path):
    periods = {"periods": {"attribute": "visited", "per_unit": 2}}
    own, ledger = spec(attributes=(VISITED, WARD), **periods), tmp_path / "l.db"
    for month in MONTHS[:3]:
        publish_period(own, month, ROWS, out=tmp_path / "out", ledger=ledger, rng=seeded(1))
    found = load_series(tmp_path / "out").by_period("total")
    assert [round(one.value) for one in found.values()] == [PEOPLE, PEOPLE, 0]
    assert Ledger.open(ledger).summary().spent == {"epsilon": Fraction(60)}


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ([], '"row", or the column that names a person, got nothing'),
        (["uid"], "two or more different columns that name a person"),
        (["uid", "uid"], "two or more different columns that name a person"),
    ],
)
def test_columns_that_name_nobody_together_are_refused(unit, expected):
    with pytest.raises(SchemaMismatch, match=rf"privacy\.unit: expected .*{expected}"):
        spec(unit=unit)
    with pytest.raises(ValueError, match="a person is named by different columns"):
        Unit(column="uid", also=("uid",))


def test_what_was_created_for_one_column_has_the_bytes_that_it_had(tmp_path):
    ledger = Ledger.create(tmp_path / "l.db", limit=PureDP(epsilon=1), unit=Unit(column="uid"))
    with contextlib.closing(sqlite3.connect(ledger.path)) as connection:
        (payload,) = connection.execute("SELECT payload FROM line").fetchone()
    assert set(json.loads(payload)) == {"fact", "time", "limit", "relation", "column", "rows"}
