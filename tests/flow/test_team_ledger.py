"""One ledger for several curators: the same commands on a file and on a database, and never more than the limit."""

import json
import re
import shlex
import threading
from pathlib import Path

import psycopg
import pytest
from tests.budgets import run_sql

from dpress import Ledger, PureDP, Unit
from dpress.ledger import postgres_ledger
from dpress.release.curator import paid

SECRET = "4711-secret"
HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "a-team-ledger.md"


def test_a_ledger_is_created_charged_shown_and_verified(here, folder, ledger_place):
    first = here("publish", "ages.toml", "--out", "out/one", "--ledger", ledger_place, "--who", "Ann")
    assert first.code == 0
    assert f"new ledger {ledger_place} with the limit epsilon = 1" in first.err
    again = here("publish", "ages.toml", "--out", "out/two", "--ledger", ledger_place)
    assert (again.code, again.err.splitlines()[-1][:23]) == (1, "dpress: budget exceeded")
    assert "new ledger" not in again.err
    shown = here("ledger", "show", ledger_place, "--json", "--html", "page.html").json
    assert [(one["who"], one["release"], one["confirmed"]) for one in shown["entries"]] == [("Ann", "out/one", True)]
    assert (shown["remaining"], shown["page"]) == ({"epsilon": 0.0}, "page.html")
    assert "Ann" in (folder / "page.html").read_text(encoding="utf-8")
    assert here("ledger", "show", ledger_place, "--html", "page.html").out.splitlines()[-1] == "Page: page.html"
    assert here("ledger", "verify", ledger_place, "--releases", "out").code == 0
    head = json.loads((folder / "out" / "one" / "release.json").read_text())["ledger_head"]
    assert head == shown["head"]


def test_create_with_a_limit_and_an_edit_that_is_found(here, folder, ledger_place):
    assert here("ledger", "create", ledger_place, "--epsilon", "3").code == 0
    assert "never overwritten" in here("ledger", "create", ledger_place, "--epsilon", "9").err
    assert here("publish", "ages.toml", "--out", "out", "--ledger", ledger_place).code == 0
    run_sql(ledger_place, "UPDATE line SET payload = replace(payload, '1/1', '1/9') WHERE seq = 2", forge=True)
    for command in (("verify", ledger_place), ("show", ledger_place, "--html", "page.html")):
        found = here("ledger", *command)
        assert (found.code, found.out) == (1, "")
        assert "row 2 was edited" in found.err
    assert "row 2 was edited" in here("publish", "ages.toml", "--out", "more", "--ledger", ledger_place).err
    assert not (folder / "page.html").exists()
    assert not (folder / "more").exists()


@pytest.mark.slow
@pytest.mark.long
def test_of_six_programs_at_once_exactly_three_publish(dpress, folder, new_database):
    place = new_database()
    Ledger.create(place, limit=PureDP(epsilon=3), unit=Unit())
    done = {}

    def publish(number):
        done[number] = dpress("publish", "ages.toml", "--out", f"out{number}", "--ledger", place, "--quiet")

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    paid = {number for number, one in done.items() if one.code == 0}
    assert len(paid) == 3
    assert all(one.err.startswith("dpress: budget exceeded") for number, one in done.items() if number not in paid)
    assert {number for number in done if (folder / f"out{number}").exists()} == paid
    entries = Ledger.open(place).summary().entries
    assert {one.release for one in entries if one.confirmed} == {f"out{number}" for number in paid}
    assert len(entries) == 3


@pytest.mark.slow
def test_no_noise_is_drawn_for_a_charge_of_which_nobody_knows_whether_it_stands(
    here, folder, new_database, monkeypatch
):
    place, drawn = new_database(), []
    Ledger.create(place, limit=PureDP(epsilon=3), unit=Unit())

    def gone(_url):
        raise psycopg.OperationalError("connection refused")

    def unanswered(connection):
        connection.execute("COMMIT")
        monkeypatch.setattr(postgres_ledger, "_connected", gone)
        monkeypatch.setattr(postgres_ledger, "QUEUE_SECONDS", 0.0)
        raise psycopg.OperationalError("server closed the connection")

    with monkeypatch.context() as cut:
        cut.setattr(postgres_ledger, "QUEUE_SECONDS", 0.3)
        cut.setattr(postgres_ledger, "_connected", postgres_ledger._connected)
        cut.setattr(postgres_ledger, "_commit", unanswered)
        cut.setattr(paid, "_drawn", lambda *_: drawn.append(1))
        refused = here("publish", "ages.toml", "--out", "out", "--ledger", place, "--quiet")
        monkeypatch.undo()
    assert refused.code == 1
    assert "so what was to be added may stand; look at the ledger before asking again" in refused.err
    assert drawn == []
    assert not (folder / "out").exists()
    assert [one.confirmed for one in Ledger.open(place).summary().entries] == [False]


@pytest.mark.parametrize(
    "url",
    [f"postgresql://ann:{SECRET}@host/db", f"postgresql://host/db?password={SECRET}", f"mysql://ann:{SECRET}@host/db"],
)
def test_a_password_is_refused_and_not_echoed_and_names_no_file(here, folder, url):
    before = sorted(folder.rglob("*"))
    for command in (
        ("publish", "ages.toml", "--out", "out", "--ledger", url),
        ("ledger", "create", url, "--epsilon", "1"),
        ("ledger", "show", url, "--html", "page.html"),
        ("ledger", "verify", url),
    ):
        refused = here(*command)
        assert (refused.code, refused.out) == (1, "")
        assert SECRET not in refused.err
        assert refused.err.count("\n") == 1
    assert sorted(folder.rglob("*")) == before


def test_a_server_that_is_not_there_stops_a_publication_before_a_row_is_read(here, folder):
    (folder / "rows.csv").unlink()
    refused = here("publish", "ages.toml", "--out", "out", "--ledger", "postgresql://127.0.0.1:1/db", "--quiet")
    assert "no connection to the server; check the host, the port and the network" in refused.err
    assert not Path(folder / "out").exists()


@pytest.mark.slow
def test_the_page_for_teams_does_what_it_says(here, folder, postgres_server, postgres_version):
    """Its roles, its commands, in its order; afterwards a curator publishes, and can do nothing else."""

    def run(role, database, statements):
        with psycopg.connect(place(role, database), autocommit=True) as connection:
            for one in filter(None, map(str.strip, statements.split(";"))):
                connection.execute(one)

    def place(role, database="budgets"):
        return f"postgresql://{role}@/{database}?host={postgres_server.pgdata}"

    run("postgres", "postgres", "CREATE ROLE ann LOGIN; CREATE ROLE office LOGIN")
    server = ("postgres", "postgres")
    for language, block in re.findall(r"```(sql|sh)\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), re.DOTALL):
        if language == "sql":
            run(*server, block)
            server = ("ledger_owner", "budgets")
        for line in block.splitlines() if language == "sh" else ():
            words = [
                re.sub(r"//(\w+)@db.example.org/budgets\??", _at(postgres_server), one) for one in shlex.split(line)
            ]
            if words[0] == "dpress":
                done = here(*words[1:])
                assert (done.code, done.err.startswith("dpress")) == (0, False), done.err
    assert [one.who for one in Ledger.open(place("ann")).summary().entries] == ["Ann Example"]
    assert Ledger.exists(place("ledger_owner") + "&options=-csearch_path%3Dincomes")
    assert "Ann Example" in (folder / "ledger.html").read_text(encoding="utf-8")
    if postgres_version < 15:
        run("postgres", "postgres", re.search(r"`(REVOKE [^`]*)`", HOW_TO.read_text(encoding="utf-8"))[1])
    refused = here("publish", "ages.toml", "--out", "more", "--ledger", place("ann", "postgres"))
    assert "to create one CREATE on the schema" in refused.err
    for statement in ("DELETE FROM dpress_ledger", "ALTER TABLE dpress_ledger DISABLE TRIGGER USER"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            run("ann", "budgets", statement)


def _at(server):
    return rf"//\1@/budgets?host={server.pgdata}&"
