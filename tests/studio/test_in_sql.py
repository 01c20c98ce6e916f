"""Statements of SQL in the studio: planned and published as the commands do, refused with their place, asked again."""

import shlex

import msgspec
import pytest
from click.testing import CliRunner
from tests.studio.conftest import RARE

import dpress
from dpress.cli.main import cli
from dpress.core.basics.errors import SchemaMismatch
from dpress.query.sql.sql_refusal import SqlRefusal
from dpress.query.sql.sql_table import FREE
from dpress.release.statements import publish_statements
from dpress.studio import acts, in_sql
from dpress.studio.draft import Wish

SQL = """select sex, count(*) as n from people group by sex;
select pet, avg(age) as mean, count(*) from people group by pet"""
FAR = 12  # standard errors: noise of Laplace is beyond them with a chance of exp(-12 * sqrt(2)), 5e-8


def wishing(session, sql, **changes):
    """Wish for statements, and nothing else."""
    session.keep(msgspec.structs.replace(session.draft, wishes=[Wish(name="sql-1", kind="", sql=sql)], **changes))


def posted(client, path, body):
    answer = client.post(path, content=body)
    return answer.status_code, answer.json()


def asked(client, name, sql):
    return posted(client, "/query", msgspec.json.encode({"name": name, "sql": sql}))


def spent(session):
    return session.ledger["spent"]["epsilon"]


def test_the_plan_is_that_of_the_command(session, client, tmp_path, monkeypatch):
    wishing(session, SQL)
    code, found = posted(client, "/wishes/forecast", b"sql-1")
    assert code == 200, found
    in_page = [[cell for cell in row if cell] for table in found["tables"] for row in (table["header"], *table["rows"])]
    assert posted(client, "/wishes/save", b"sql-1")[0] == 200
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, shlex.split(session.wishes[0]["commands"][0])[1:])
    assert done.exit_code == 0, done.output
    in_terminal = [line for line in done.output.splitlines() if line]
    assert ["".join(row).replace(" ", "") for row in in_page] == [line.replace(" ", "") for line in in_terminal[:-2]]
    assert found["why"] == " ".join(in_terminal[-2:])
    assert {row[1] for row in found["tables"][1]["rows"]} == {"statistics", "queries"}
    assert found["chances"][1] == {"without": 10, "with": 28}


def test_statements_are_published_and_answered_within_the_budget(session, client):
    wishing(session, SQL, epsilon="0.8")
    code, made = posted(client, "/wishes/publish", b"sql-1")
    assert code == 200, made
    assert len(made["charged"]) == 2
    assert 0.75 < spent(session) <= 0.8
    code, found = posted(client, "/wishes/answers", b"sql-1")
    assert (code, found["missing"], found["charged"]) == (200, [], FREE)
    by_sex, by_pet = found["tables"]
    assert by_sex["header"] == ["sex", "n", "n_error", "n_low", "n_high"]
    for (sex, count, error, *_), true in zip(by_sex["rows"], (400, 200, 0), strict=True):
        assert abs(float(count.replace(",", "")) - true) < FAR * float(error), sex
    assert by_pet["csv"].splitlines()[0].startswith('"pet","mean","mean_error"')
    assert len(by_pet["csv"].splitlines()) == 1 + len(by_pet["rows"])
    before = spent(session)
    code, further = asked(client, "sql-1", "select count(*) as cats from people where pet = 'cat'")
    assert (code, further["charged"], further["tables"][0]["header"][0]) == (200, FREE, "cats")
    assert spent(session) == before
    assert posted(client, "/wishes/publish", b"sql-1")[1]["detail"].startswith("sql-1 is published already")


def test_a_refused_statement_has_its_place_and_nothing_happens(session, client):
    wishing(session, "select sex, count(*)\nfrom people where agee > 65 group by sex")
    before = sorted(session.folder.iterdir())
    for act in ("forecast", "check"):
        code, refused = posted(client, f"/wishes/{act}", b"sql-1")
        assert code == 400
        assert refused["detail"].startswith("there is no column 'agee'; the columns are age, sex, pet; did you mean")
        line, mark = refused["caret"].split("\n")
        assert line == "from people where agee > 65 group by sex"
        assert mark.strip() == "^^^^"
        assert mark.index("^") == line.index("agee")
    assert sorted(session.folder.iterdir()) == before
    with pytest.raises(SqlRefusal, match="there is no column 'agee'"):
        in_sql.publish(session, "sql-1")
    assert (session.ledger["exists"], session.is_published("sql-1")) == (False, False)


def test_any_release_is_asked_in_sql_for_nothing(session, client):
    assert posted(client, "/wishes/publish", b"marginals-1")[0] == 200
    statement = "select sex, count(*) from r group by sex order by 2 desc"
    before = spent(session)
    code, found = asked(client, "marginals-1", statement)
    assert (code, found["charged"]) == (200, FREE)
    (table,) = found["tables"]
    release = dpress.load_release(session.folder / "marginals-1")
    assert table["rows"] == release.sql(statement).rows
    assert table["numbers"] == [1, 2, 3, 4]
    assert spent(session) == before
    code, refused = asked(client, "marginals-1", "select sexx, count(*) from r group by sexx")
    assert code == 400
    assert refused["caret"].endswith("\n" + " " * len("select sexx, count(*) from r group by ") + "^^^^")
    assert asked(client, "marginals-2", statement)[1]["detail"] == "'marginals-2' is not published yet"
    assert client.post("/query", content=b"[]").status_code == 400


def test_rows_that_do_not_fit_leave_the_wish_to_be_changed(session):
    pets = session.draft.columns[3]
    strict = [*session.draft.columns[:3], msgspec.structs.replace(pets, other="")]
    wishing(session, SQL, columns=strict)
    with pytest.raises(SchemaMismatch):
        in_sql.publish(session, "sql-1")
    assert not session.is_published("sql-1")
    wishing(session, SQL, columns=[*strict[:3], pets])
    assert len(in_sql.publish(session, "sql-1")["charged"]) == 2
    assert spent(session) <= 1


def test_what_was_interrupted_goes_on_as_it_was_begun(session, monkeypatch):
    wishing(session, SQL)
    real, calls = publish_statements.publish, []

    def stopped(*arguments, **options):
        calls.append(options["out"].name)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(publish_statements, "publish", stopped)
    with pytest.raises(KeyboardInterrupt):
        in_sql.publish(session, "sql-1")
    found = in_sql.answers(session, "sql-1")
    assert (found["missing"], found["tables"]) == ((calls[1],), [])
    wishing(session, "select count(*) from people", epsilon="0.1")  # typed meanwhile, and for another wish
    in_sql.publish(session, "sql-1")
    assert len(calls) == 3
    assert [len(table["rows"]) for table in in_sql.answers(session, "sql-1")["tables"]] == [3, 3]
    assert 0.9 < spent(session) <= 1


def test_the_commands_do_the_same(session, tmp_path, monkeypatch):
    wishing(session, SQL, title="Pets")
    acts.save(session, "sql-1")
    (state,) = session.wishes
    assert '[release]\ntitle = "Pets"\n' in state["toml"]
    monkeypatch.chdir(tmp_path)
    for line in state["commands"]:
        done = CliRunner().invoke(cli, shlex.split(line)[1:])
        assert done.exit_code == 0, (line, done.output)
    assert session.wishes[0]["published"]
    assert [table["header"][0] for table in in_sql.answers(session, "sql-1")["tables"]] == ["sex", "pet"]


def test_only_check_tells_anything_of_the_rows(session, client):
    wishing(session, SQL)
    told = {act: client.post(f"/wishes/{act}", content=b"sql-1").text for act in ("forecast", "check", "publish")}
    told["answers"] = client.post("/wishes/answers", content=b"sql-1").text
    assert "Of the release counts, for statement 1:" in told["check"]
    assert [act for act, text in told.items() if RARE in text] == ["check"]


def test_a_device_in_a_folder_of_answers_is_not_read(session):
    wishing(session, SQL)
    in_sql.publish(session, "sql-1")
    manifest = session.folder / "sql-1" / "counts" / "release.json"
    manifest.unlink()
    manifest.symlink_to("/dev/zero")
    with pytest.raises(OSError, match="expected a file, this is a device"):
        in_sql.answers(session, "sql-1")
