"""A folder that somebody else wrote: whatever its texts hold, they are text, and its files are files."""

import contextlib
import functools
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import msgspec
import pytest

from dpress.core.basics import regular_file
from dpress.data.specification.spec import load_spec
from dpress.studio import acts, routes, shell, written
from dpress.studio import session as session_module
from dpress.studio.draft import Column, Draft, Wish
from dpress.studio.session import Session

NASTY = [
    "x/publish?",
    "../../../etc/passwd",
    "..",
    "%2e%2e%2fpublish",
    "a b",
    "$(touch PWNED)",
    "`touch PWNED`",
    "'; touch PWNED; '",
    "\x03touch PWNED\n",
    "\x15\x04touch PWNED\r",
    "\n\n[release]\nkind = 'histogram'\n",
    '"""\n[privacy]\nepsilon = 1000\n',
    "\x1b]0;title\x07",
    "\u202etxt.exe",
    "<script>alert(1)</script>",
    "=HYPERLINK(1)",
    "__proto__",
    "constructor",
    "--help",
    "-",
    "~",
    "!!",
    "*",
    "1e-99999",
    "1e999999999",
    "1/0",
    "-1e400",
    "nan",
    "9" * 5000,
    "x = " + "[" * 5000,
    "x = " + "[" * 400 + "]" * 400,
    ".".join("a" * 5000) + " = 1",
    "x = 2024-01-01T00:00:00Z",
    "x = [nan, inf]",
    "\U0001f600\U000e0001",
]
SECTIONS = {"data", "attribute", "privacy", "release"}
SECRET = "hunter2"
URLS = [
    f"postgresql://ann:{SECRET}@host/db#rows",
    f"postgresql://ann:{SECRET}",  # not typed to its end
    f"postgres://host/db?user=ann&password={SECRET}#rows",
    f"mysql://ann:{SECRET}@host/db#rows",
    f"host=h password={SECRET} dbname=d",
]


def texts(kind):
    """The names of a struct's fields that are texts."""
    return [one.name for one in msgspec.structs.fields(kind) if one.type is str]


def places():
    """Every field of a draft that is a text, as what changes it."""
    replace = msgspec.structs.replace
    for name in texts(Draft):
        yield name, lambda own, text, name=name: replace(own, **{name: text})
    for name in texts(Wish):
        yield f"wish.{name}", lambda own, text, name=name: replace(own, wishes=[replace(own.wishes[0], **{name: text})])
    for name in texts(Column):
        yield (
            f"column.{name}",
            lambda own, text, name=name: replace(own, columns=[replace(own.columns[1], **{name: text})]),
        )


def state_of(client, draft):
    """What the studio says of a draft, which it must be able to say."""
    answer = client.put("/work", content=msgspec.json.encode(draft))
    assert answer.status_code == 200, (answer.status_code, answer.text[:300])
    return answer.json()


@pytest.mark.parametrize("field", [name for name, _ in places()])
def test_a_text_stays_a_text_wherever_it_stands(client, draft, field):
    change = dict(places())[field]
    for text in NASTY:
        state = state_of(client, change(draft, text))
        assert set(state) == {"draft", "kinds", "series", "wishes", "ledger", "folder"}
        for wish in state["wishes"]:
            assert all(line.isprintable() for line in wish["commands"])
            plain = tomllib.loads(wish["toml"])
            assert set(plain) <= SECTIONS | ({"periods"} if field == "wish.periods" else set())
            if not wish["fault"] and "epsilon" not in field:
                assert load_spec(wish["toml"]).privacy.epsilon == 1


def test_a_statement_stays_a_text_and_fails_in_a_line(client, draft):
    for text in NASTY:
        state = state_of(client, msgspec.structs.replace(draft, wishes=[Wish(name="one", kind="", sql=text)]))
        assert state["wishes"][0]["fault"] == ""
        assert set(tomllib.loads(state["wishes"][0]["toml"])) == SECTIONS - {"release"}
        for answer in (
            client.post("/wishes/forecast", content=b"one"),
            client.post("/query", content=msgspec.json.encode({"name": "one", "sql": text})),
        ):
            assert answer.status_code == 400
            assert "internal error" not in answer.json()["detail"], text
            assert "\n" not in answer.json()["detail"]
    assert client.post("/wishes/preview", content=b"one").json()["detail"] == "'one' has no preview"


def ran(lines, folder):
    """The words that a shell makes of commands, where `dpress` writes them down."""
    script = "dpress() { printf '%s\\0' \"$@\"; printf '\\0'; }\n" + "\n".join(lines)
    done = subprocess.run(
        [shutil.which("bash"), "-c", script],
        cwd=folder,
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]},
    )
    return [one.decode().split("\0") for one in done.stdout.split(b"\0\0")[:-1]]


def test_a_command_that_is_pasted_has_the_words_that_were_typed(session, draft, tmp_path):
    place = tmp_path / "shell"
    place.mkdir()
    for text in NASTY:
        own = {"relation": text, "epsilon": text, "person": text, "rows_per_unit": text}
        session.keep(msgspec.structs.replace(draft, unit="person", wishes=[Wish(name=text)], **own))
        lines = session.wishes[0]["commands"]
        words = ran(lines, place)
        folder = str(session.folder)
        assert words[0] == ["plan", f"{folder}/{text}.toml"]
        assert set(words[2]) >= {f"--relation={text}", f"--unit={text}", f"--epsilon={text}", f"--rows-per-unit={text}"}
    assert list(place.iterdir()) == []


def test_a_word_that_is_quoted_as_usual_would_press_keys(session, draft, monkeypatch):
    monkeypatch.setattr(shell, "word", shlex.quote)
    session.keep(msgspec.structs.replace(draft, relation="\x03touch PWNED\n"))
    assert not all(line.isprintable() for line in session.wishes[0]["commands"])


def test_no_text_is_a_part_of_an_address():
    built = re.compile(r"(ask|address|fetch)\([^)\n]*(\$\{|\" \+|\+ \")")
    found = {one.name: built.search(one.read_text(encoding="utf-8")) for one in routes.FOLDER.glob("*.js")}
    assert len(found) > 4
    assert not [name for name, hit in found.items() if hit]
    assert built.search('await ask("POST", `/wishes/${one.name}/forecast`)')
    paths = [path for path in Path(routes.__file__).read_text(encoding="utf-8").split('"') if path.startswith("/")]
    assert [path for path in paths if "{" in path] == ["/pages/{name:str}", "/wishes/{act:str}"]


def test_a_number_that_is_typed_is_bounded():
    for text in ("1e-99999", "1e999999999", "9" * 5000, "1/1e-9999"):
        assert written.part(text, "", ["", ""]) == text
        assert written.part("1", "", [text, ""]) == "1"
    assert written.part("1e-300", "", ["", ""]) == "0." + "0" * 300 + "5"


def test_what_is_nested_deeply_is_refused_in_a_line(session, draft, monkeypatch):
    deep = "x = " + "[" * 400 + "]" * 400
    session.keep(msgspec.structs.replace(draft, wishes=[Wish(name="one", more=deep)]))
    assert session.wishes[0]["fault"] == "$.release.parameters: the further parameters are nested more than 16 times"
    monkeypatch.setattr(written, "DEEPEST", 10**6)
    with contextlib.suppress(RecursionError):  # which some versions of Python raise here
        assert not session.wishes[0]["fault"].endswith("are nested more than 16 times")


@pytest.fixture
def special(tmp_path):
    """Names of what is no file: a device without an end, and a pipe that nobody writes to."""

    def made(name):
        zero, pipe = tmp_path / f"zero-{name}", tmp_path / f"pipe-{name}"
        zero.symlink_to("/dev/zero")
        os.mkfifo(pipe)
        return zero, pipe

    return made


@pytest.mark.parametrize("name", ["book.csv", "book.sav", "rows.csv", "rows.parquet"])
def test_what_is_no_file_is_not_read(session, special, name):
    for path in special(name):
        session.keep(Draft(source=str(path), names_in_first_line=True))
        read = functools.partial(session.codebook, str(path)) if name.startswith("book") else session.look
        with pytest.raises(OSError, match="expected a file, this is a device, a pipe or a socket"):
            read()


@pytest.mark.parametrize("name", ["studio.json", "ledger.sqlite", "marginals-1.toml"])
def test_a_folder_that_came_with_a_device_is_refused(session, name):
    (session.folder / "marginals-1").mkdir()
    (session.folder / name).unlink(missing_ok=True)
    (session.folder / name).symlink_to("/dev/zero")
    with pytest.raises(OSError, match="expected a file"):
        _ = Session.at(session.folder).wishes


def test_files_that_a_specification_names_are_files():
    attribute = {"name": "a", "kind": "categorical", "values": ["x", "y"]}
    plain = {"privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    for field in ("labels", "hierarchy"):
        with pytest.raises(OSError, match="expected a file"):
            load_spec(plain | {"attribute": [attribute | {field: "/dev/zero"}]})


def test_a_file_is_read_as_far_as_it_may_be_large(tmp_path, monkeypatch):
    path = tmp_path / "book.csv"
    path.write_bytes(b"12345")
    assert regular_file.read(path, 5) == b"12345"
    with pytest.raises(OSError, match=r"book.csv: expected a file of at most 4 bytes"):
        regular_file.read(path, 4)
    monkeypatch.setattr(regular_file, "check", lambda _: None)  # were it exchanged after the look
    with pytest.raises(OSError, match="at most 10 bytes"):
        regular_file.read("/dev/zero", 10)


def test_a_link_in_the_folder_is_not_written_through(session, tmp_path):
    victim = tmp_path / "profile"
    victim.write_text("mine", encoding="utf-8")
    for name in ("studio.json", "marginals-1.toml"):
        (session.folder / name).unlink(missing_ok=True)
        (session.folder / name).symlink_to(victim)
    session.keep(session.draft)
    acts.save(session, "marginals-1")
    assert victim.read_text(encoding="utf-8") == "mine"
    assert not (session.folder / "marginals-1.toml").is_symlink()


def test_a_page_that_came_with_the_folder_is_not_shown(session):
    acts.publish(session, "marginals-1")
    page = session.folder / "marginals-1" / acts.REPORT
    page.write_text("<script>evil()</script>", encoding="utf-8")
    shown = acts.page(session, "marginals-1")
    assert b"evil()" not in shown
    assert shown.startswith(b"<!DOCTYPE html>")


def kept(folder):
    return "".join(one.read_text(encoding="utf-8") for one in folder.iterdir() if one.is_file())


@pytest.mark.parametrize("url", URLS)
def test_a_password_is_kept_nowhere_and_shown_nowhere(client, session, draft, url, tmp_path):
    answer = client.put("/work", content=msgspec.json.encode(msgspec.structs.replace(draft, source=url, users="77")))
    assert answer.status_code == 400
    assert "the URL of the rows holds a password" in answer.json()["detail"]
    assert SECRET not in answer.text + client.get("/work").text + kept(session.folder)
    assert session.draft.users == "77"  # what else was typed is kept
    with pytest.raises(ValueError, match="holds a password") as refused:
        Session.at(tmp_path / "other", url)
    assert SECRET not in str(refused.value)
    assert not (tmp_path / "other").exists()


def test_a_password_that_an_earlier_version_kept_goes(session, draft):
    old = msgspec.structs.replace(draft, source=URLS[0], about=f"from {URLS[0]}")
    (session.folder / "studio.json").write_bytes(msgspec.json.encode(old))
    found = Session.at(session.folder)
    assert (found.draft.source, found.draft.about) == ("", "")
    assert found.draft.columns == draft.columns
    assert SECRET not in kept(session.folder)


def test_the_check_for_passwords_matters(client, session, draft, monkeypatch):
    monkeypatch.setattr(session_module, "without_passwords", lambda own: own)
    client.put("/work", content=msgspec.json.encode(msgspec.structs.replace(draft, source=URLS[0])))
    assert SECRET in kept(session.folder)


def test_more_wishes_than_anybody_looks_at_are_refused(client, session, draft):
    many = msgspec.structs.replace(draft, wishes=[Wish(name=f"a{place}") for place in range(101)])
    assert client.put("/work", content=msgspec.json.encode(many)).status_code == 400
    (session.folder / "studio.json").write_bytes(msgspec.json.encode(many))
    with pytest.raises(ValueError, match="not what a studio of this version keeps"):
        Session.at(session.folder)
