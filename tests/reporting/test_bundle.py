"""A bundle: the same bytes every time, all that is published, nothing of who made it where."""

import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpress.cli.main import cli
from dpress.query.load import load_release
from dpress.reporting.bundle import write_bundle

SPEC = """
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 9]
[privacy]
epsilon = 1.0
unit = "person"
rows_per_unit = 2
[release]
kind = "histogram"
"""
WORDS = 'title = "Ages"\nlicense = "CC-BY-4.0"\n'
WHO = "Curator-Named-Nowhere"


@pytest.fixture
def publish(tmp_path, monkeypatch):
    """Publish three rows in an empty folder, with a ledger, and return the folder and what the command gave."""
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("age,person\n3,a\n4,a\n5,b\n", encoding="utf-8")

    def run(*options: str, words: str = WORDS):
        Path("spec.toml").write_text(SPEC + words, encoding="utf-8")
        fixed = [
            "publish",
            "spec.toml",
            "--data",
            "rows.csv",
            "--ledger",
            str(tmp_path / "hidden.ledger"),
            "--who",
            WHO,
        ]
        return CliRunner().invoke(cli, [*fixed, "--out", "out", "--bundle", "all.zip", *options])

    return run


def contents(path: str | Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as bundle:
        assert bundle.testzip() is None
        return {name: bundle.read(name) for name in bundle.namelist()}


def test_a_bundle_has_all_that_is_published_and_is_a_release_again(publish):
    done = publish()
    assert done.exit_code == 0, done.output
    held = contents("all.zip")
    made = {"report.html", "design.json", "README.txt", "LICENSE.txt", "age.csv"}
    assert set(held) == made | {path.name for path in Path("out").iterdir()}
    with zipfile.ZipFile("all.zip") as bundle:
        bundle.extractall("again")
    release = load_release("again")
    assert release.query("age = 3") == load_release("out").query("age = 3")
    assert held["LICENSE.txt"] == b"CC-BY-4.0\n"
    assert b"Licence: CC-BY-4.0" in held["README.txt"]
    assert b"Licence: CC-BY-4.0" in held["report.html"]
    write_bundle(release, "again", "second.zip")
    assert Path("second.zip").read_bytes() == Path("all.zip").read_bytes()
    assert held["age.csv"].splitlines()[0].endswith(b'"counts_of"')


def test_nothing_in_it_tells_who_made_it_where(publish, tmp_path):
    publish()
    hidden = [word.encode() for word in (WHO, "hidden.ledger", "rows.csv", str(tmp_path), str(Path.home()))]
    found = b"\n".join(contents("all.zip").values())
    assert [word for word in hidden if word in found] == []
    assert load_release("out").ledger_head.encode() in found  # what is there is found


def test_copies_as_csv_are_those_of_the_folder(publish):
    assert publish("--csv").exit_code == 0
    folder, kept = load_release("out"), contents("all.zip")
    Path("out/age.csv").unlink()
    object.__setattr__(folder, "csv", False)
    write_bundle(folder, "out", "made.zip")
    assert contents("made.zip")["age.csv"] == kept["age.csv"]


def test_without_a_licence_the_bundle_says_so(publish):
    publish(words="")
    held = contents("all.zip")
    assert "LICENSE.txt" not in held
    assert b"No licence is stated" in held["README.txt"]


@pytest.mark.parametrize("bundle", ["rows.csv", "nowhere/all.zip"])
def test_what_cannot_be_written_is_refused_before_the_charge(publish, bundle):
    before = Path("rows.csv").read_bytes()
    done = publish("--bundle", bundle)
    assert done.exit_code == 1
    assert not Path("out").exists()
    assert not Path("hidden.ledger").exists()
    assert Path("rows.csv").read_bytes() == before
