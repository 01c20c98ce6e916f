"""A ledger that names its entries, and the heads that releases keep of it."""

import json
import re
import sqlite3

import pytest

from dpress import ApproxDP, Ledger, PureDP, Unit, load_spec

HASH = "0" * 64


def charge(ledger, epsilon, **named):
    ledger.spend(ledger.reserve(PureDP(epsilon=epsilon), Unit(), label="identity", design="d", **named), "n")


def cut_off(path, rows):
    """Take the last rows away, as somebody would who can write the file."""
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER IF EXISTS no_delete")
    connection.execute("DELETE FROM line WHERE seq > (SELECT max(seq) FROM line) - ?", (rows,))
    connection.commit()
    connection.close()


@pytest.fixture
def paid(here, folder):
    """Two releases below `out`, paid by `b.sqlite`."""
    assert here("ledger", "create", "b.sqlite", "--epsilon", "3").code == 0
    for name, who in (("one", ["--who", "Ann Example"]), ("two", [])):
        assert here("publish", "ages.toml", "--out", f"out/{name}", "--ledger", "b.sqlite", *who).code == 0
    return folder / "b.sqlite"


def test_every_entry_is_named_and_says_what_it_left(here, folder, paid):
    entries = here("ledger", "show", paid, "--json").json["entries"]
    assert [(one["release"], one["who"]) for one in entries] == [("out/one", "Ann Example"), ("out/two", "")]
    assert {one["spec"] for one in entries} == {load_spec(folder / "ages.toml").hash}
    assert [one["remaining"] for one in entries] == [{"epsilon": 2.0}, {"epsilon": 1.0}]
    table = here("ledger", "show", paid).out
    first = next(line.split("  ") for line in table.splitlines() if "out/one" in line)
    assert [one.strip() for one in first if one.strip()][-3:] == ["Ann Example", "1", "2"]
    assert "Ann Example" not in (folder / "out" / "one" / "release.json").read_text()


def test_an_entry_is_called_as_its_release_is(here, folder, paid):
    """By its title; without one by kind and method. What stopped before its noise says so; all fits 80 columns."""
    titled = (folder / "ages.toml").read_text() + 'title = "Ages of all people of the town, 2026"\n'
    (folder / "titled.toml").write_text(titled)
    publish = ("publish", "titled.toml", "--out", "releases/of the town/three", "--ledger", paid)
    assert here(*publish, "--who", "The Statistics Office").code == 0
    ledger = Ledger.create(folder / "c.sqlite", limit=ApproxDP(epsilon=3, delta="1e-6"), unit=Unit())
    ledger.reserve(PureDP(epsilon=1), Unit(), label="stopped", design="d")
    labels = [one["label"] for one in here("ledger", "show", paid, "--json").json["entries"]]
    method = json.loads((folder / "out" / "one" / "release.json").read_text())["design"]["method"]
    assert labels == [f"ranges by {method}"] * 2 + ["Ages of all people of the town, 2026"]
    stopped = here("ledger", "show", ledger.path).out
    assert "stopped (charged, then stopped)" in stopped
    assert "epsilon = 2, delta = 1e-06" in stopped


def test_a_table_of_charges_is_readable_in_80_columns(paid, here, monkeypatch):
    """Folded between words; the day, the hash and the amounts stay whole."""
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "80")
    charge(Ledger.open(paid), 0.5, release="releases/2026/ages", spec=HASH, who="The Statistics Office")
    lines = re.sub(r"\x1b\[\d+m", "", here("ledger", "show", paid).out).splitlines()
    day = Ledger.open(paid).summary().entries[0].time[:10]
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith(day) for line in lines) == 3
    assert any(line.startswith(day) and HASH[:8] in line and line.split()[-2:] == ["0.5", "0.5"] for line in lines)
    assert any("Statistics" in line for line in lines)


def test_who_publishes_is_one_printable_line_or_refused_before_anything_is_charged(here, paid):
    for name in ("a\x1b[2Jb", "a\nb", "a" * 201):
        refused = here("publish", "ages.toml", "--out", "out/three", "--ledger", paid, "--who", name)
        assert (refused.code, refused.err) == (
            1,
            "dpress: who must be printable text on one line, of at most 200 characters\n",
        )
    assert len(Ledger.open(paid).summary().entries) == 2


def test_a_name_in_the_ledger_does_not_act_on_a_terminal(here, paid):
    charge(Ledger.open(paid), 0.5, release="\x1b[2J\u202eout", who="x\x07")
    assert not set("\x1b\x07\u202e") & set(here("ledger", "show", paid).out)


def test_an_entry_of_an_earlier_version_has_no_names(here, folder):
    ledger = Ledger.create(folder / "old.sqlite", limit=PureDP(epsilon=1), unit=Unit())
    charge(ledger, 0.5)
    with sqlite3.connect(ledger.path) as connection:
        payload = json.loads(connection.execute("SELECT payload FROM line WHERE seq = 2").fetchone()[0])
    connection.close()
    assert not {"release", "spec", "who"} & set(payload)
    assert " -  " in here("ledger", "show", ledger.path).out


def test_the_releases_find_what_was_cut_off_the_end(here, paid):
    done = here("ledger", "verify", paid, "--releases", "out", "--json")
    assert (done.code, done.json["releases"], done.json["rows"]) == (0, 2, 5)
    cut_off(paid, 2)
    alone = here("ledger", "verify", paid)  # the promise ends here, and says so
    assert alone.code == 0
    assert "Lines cut off the end are found only with" in alone.out
    found = here("ledger", "verify", paid, "--releases", "out")
    assert found.code == 1
    assert "no row has the head that out/two/release.json keeps" in found.err
    cut_off(paid, 1)
    assert "(nor those of 1 more)" in here("ledger", "verify", paid, "--releases", "out").err


def test_what_was_verified_is_said_in_plain_words(here, folder):
    """Of a series, too: what its lines are, and which releases of it keep the hash of one."""
    day = """[[attribute]]\nname = "day"\nkind = "date"\nbounds = [2024-01-01, 2024-02-29]\ncells = "month"\n"""
    (folder / "days.csv").write_text("day\n2024-01-09\n2024-02-01\n")
    (folder / "months.toml").write_text(
        f'[data]\nsource = "days.csv"\n{day}[privacy]\nepsilon = 1\n[periods]\nattribute = "day"\n'
        '[release]\nkind = "histogram"\n'
    )
    for month in ("2024-01", "2024-02"):
        publish = ("publish", "months.toml", "--period", month, "--out", "out/months", "--ledger", "c.sqlite")
        assert here(*publish).code == 0
    done = here("ledger", "verify", "c.sqlite", "--releases", "out")
    assert done.out.splitlines()[:2] == [
        "c.sqlite: no line was edited, moved or removed from the middle",
        "Lines:   5: the limit, 2 charges, and for 2 of these that the noise was drawn",
    ]
    assert done.out.splitlines()[3] == (
        "Checked: the hash that each of these noted when it was paid is that of a line: "
        "the series out/months; the releases out/months/2024-01, out/months/2024-02"
    )
    plain = here("ledger", "verify", "c.sqlite", "--releases", "out", "--json").json
    assert (plain["rows"], plain["charges"], plain["drawn"], plain["releases"]) == (5, 2, 2, 3)
    assert plain["kept_by"][-1] == "out/months/series.json"
    noted = here("ledger", "verify", "c.sqlite", "--head", plain["head"]).out
    assert noted.splitlines()[-1] == f"Checked: {plain['head']} is the hash of a line"


def test_what_keeps_no_head_checks_nothing_and_is_refused(here, folder, paid):
    assert "is no folder" in here("ledger", "verify", paid, "--releases", "nowhere").err
    (folder / "empty").mkdir()
    assert here("publish", "ages.toml", "--out", "empty/unpaid").code == 0
    assert "there is no head to check" in here("ledger", "verify", paid, "--releases", "empty").err
    (folder / "out" / "one" / "release.json").write_text('{"ledger_head": 7}')
    assert "is truncated or was edited" in here("ledger", "verify", paid, "--releases", "out").err
