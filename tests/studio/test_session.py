"""The work of a person: kept at every change, published once, within one budget."""

import shlex
from pathlib import Path

import msgspec
import pytest

import dpress
from dpress.core.basics.errors import BudgetExceeded
from dpress.ledger.ledger import Ledger
from dpress.studio import acts
from dpress.studio.draft import Wish
from dpress.studio.session import Session


def wishing(session, *wishes, **changes):
    session.keep(msgspec.structs.replace(session.draft, wishes=list(wishes), **changes))


def test_work_goes_on_where_it_was(session):
    assert Session.at(session.folder).draft == session.draft
    assert Session.at(session.folder, session.draft.source).draft == session.draft
    with pytest.raises(ValueError, match="keeps work on another source"):
        Session.at(session.folder, "others.csv")
    (session.folder / "studio.json").write_text('{"source": 3}', encoding="utf-8")
    with pytest.raises(ValueError, match="not what a studio of this version keeps"):
        Session.at(session.folder)


def test_several_wishes_share_one_budget_and_one_ledger(session):
    wishing(session, Wish(name="ages", attributes=["age"]), Wish(name="pets", attributes=["pet"]), epsilon="0.9")
    assert [one["epsilon"] for one in session.wishes] == ["0.45", "0.45"]
    assert acts.publish(session, "ages")["charged"] == {"epsilon": 0.45}
    assert session.ledger["spent"] == {"epsilon": 0.45}
    wishing(session, *session.draft.wishes, Wish(name="more", attributes=["sex"]))
    assert [one["epsilon"] for one in session.wishes] == ["0", "0.225", "0.225"]
    for name in ("pets", "more"):
        acts.publish(session, name)
    assert session.ledger["spent"] == session.ledger["limit"] == {"epsilon": 0.9}
    wishing(session, Wish(name="again", attributes=["sex"], epsilon="0.1"))
    with pytest.raises(BudgetExceeded):
        acts.publish(session, "again")
    assert not session.is_published("again")
    for name in ("ages", "pets", "more"):
        assert dpress.load_release(session.folder / name).private
        assert acts.page(session, name).startswith(b"<!DOCTYPE html>")


def test_wishes_of_one_name_are_told_apart_by_neither_plan_nor_publish(session):
    wishing(session, Wish(name="ages"), Wish(name="ages", attributes=["age"]))
    assert [one["fault"] for one in session.wishes] == ["several wishes are called 'ages'; rename one"] * 2
    with pytest.raises(ValueError, match="several wishes are called"):
        acts.publish(session, "ages")
    assert not session.ledger["exists"]


def test_a_second_click_publishes_nothing(session):
    acts.publish(session, "marginals-1")
    with pytest.raises(ValueError, match="is published already"):
        acts.publish(session, "marginals-1")
    assert Ledger.open(session.folder / "ledger.sqlite").summary().rows == 3  # opening, reservation, spend


@pytest.mark.parametrize("name", ["", "..", "a/b", "a b", "-x", "é"])
def test_a_name_that_is_no_folder_is_refused_before_anything_is_spent(session, name):
    wishing(session, Wish(name=name))
    with pytest.raises(ValueError, match="expected a name of letters"):
        acts.publish(session, name)
    assert not session.ledger["exists"]
    with pytest.raises(ValueError, match="is not published yet"):
        acts.page(session, name)


def test_the_commands_do_the_same(session, tmp_path, monkeypatch):
    from click.testing import CliRunner

    from dpress.cli.main import cli

    spec = acts.save(session, "marginals-1")["spec"]
    (state,) = session.wishes
    assert Path(spec).read_text(encoding="utf-8") == state["toml"]
    monkeypatch.chdir(tmp_path)
    for line in state["commands"]:
        done = CliRunner().invoke(cli, shlex.split(line)[1:])
        assert done.exit_code in ((0, 1) if " check " in line else (0,)), (line, done.output)
    assert session.wishes[0]["published"]
    assert (session.folder / "marginals-1.toml").read_text(encoding="utf-8") == state["toml"]
