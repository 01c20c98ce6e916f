"""What a document's script writes, what it refuses in one line, and that only what decides something is recorded."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path.stem for path in (ROOT / "papers").glob("*.py") if "driver.main(" in path.read_text())
TEMPLATE = "{{ paper.name }}: {{ summary }}\n"
DESCRIPTION = "A toy."


@pytest.fixture
def driver(papers: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    found = papers("driver")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "toy.md.j2").write_text(TEMPLATE)
    monkeypatch.setattr(found, "PAGES", tmp_path / "pages")
    return found


@pytest.fixture
def nowhere(papers: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without data."""
    monkeypatch.setattr(papers("data"), "FOLDER", tmp_path / "nowhere")


@pytest.fixture
def toy(papers: Callable[[str], ModuleType], driver: ModuleType) -> Callable[..., Any]:
    """A document with one claim, about data sets, which holds."""
    claims, quantities = papers("claims"), papers("quantities")

    def made(*needed: str, name: str = "toy") -> Any:
        claim = claims.Claim(
            key="small",
            whose="document",
            words="the error is small",
            place="section 1",
            quantity=quantities.level("error", "error"),
            band=claims.at_most(2),
            violation=9,
            data=needed,
        )
        return driver.Paper(
            name=name,
            data=needed,
            tables=lambda _: {"errors": [{"run": run, "error": 1 + run / 100} for run in range(4)]},
            claims=lambda: [claim],
            draw=lambda folder, tables: (folder / "error.svg").write_text(f"<svg>{tables['errors'][0]['error']}</svg>"),
        )

    return made


def test_a_whole_run_writes_tables_verdicts_figures_and_the_page(
    driver: ModuleType, toy: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs"
    out.mkdir()
    (out / "of_an_earlier_run.svg").write_text("<svg/>")
    assert driver.main(toy(), DESCRIPTION, ["--out", str(out), "--docs", str(docs)]) == 0
    assert {path.name for path in docs.iterdir()} == {"toy.md", "toy.csv", "toy_error.svg"}
    assert (docs / "toy.md").read_text() == "toy: 1 held\n"
    told = capsys.readouterr()
    assert told.out.startswith("held  ")
    assert told.err.splitlines()[-1].endswith(f"results in {out}, page {docs / 'toy.md'}")
    kept = (out / "verdicts.csv").read_bytes()
    assert driver.main(toy(), DESCRIPTION, ["--again", "--out", str(out)]) == 0
    assert (out / "verdicts.csv").read_bytes() == kept


def test_what_cannot_be_judged_again_is_refused_in_one_line(
    driver: ModuleType, toy: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(paper: Any) -> str:
        assert driver.main(paper, DESCRIPTION, ["--again", "--out", str(tmp_path / "out")]) == 2
        told = capsys.readouterr()
        assert not told.out
        (line,) = told.err.splitlines()
        return line

    assert "run it without --again first" in refused(toy())
    assert driver.main(toy(), DESCRIPTION, ["--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    assert "has a run of toy, expected one of other" in refused(toy(name="other"))
    (tmp_path / "out" / "run.json").write_text("{")
    assert "run.json: " in refused(toy())


@pytest.mark.parametrize("more", [["--quick"], ["--again"]])
def test_a_quick_run_is_never_recorded(
    driver: ModuleType, toy: Callable[..., Any], tmp_path: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs"
    assert driver.main(toy(), DESCRIPTION, ["--quick", "--out", str(out)]) == 0
    (out / "errors.csv").unlink()
    capsys.readouterr()
    assert driver.main(toy(), DESCRIPTION, [*more, "--out", str(out), "--docs", str(docs)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--docs: a quick run" in line
    assert not docs.exists()
    assert not (out / "errors.csv").exists()  # nothing was run


@pytest.mark.usefixtures("nowhere")
def test_a_run_on_stand_ins_leaves_the_recorded_page_and_says_so_before_it_starts(
    driver: ModuleType, toy: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs"
    docs.mkdir()
    (docs / "toy.md").write_text("what the data decided\n")
    for more in ([], ["--again"]):
        assert driver.main(toy("nltcs"), DESCRIPTION, [*more, "--out", str(out), "--docs", str(docs)]) == 0
        told = capsys.readouterr()
        assert told.out.startswith("cannot be checked  ")
        assert [path.name for path in docs.iterdir()] == ["toy.md"]
        assert (docs / "toy.md").read_text() == "what the data decided\n"
        first = told.err.splitlines()[:2]
        assert "made-up stand-in" in first[0]
        assert first[1] == f"{docs / 'toy.md'} stays as it is: it tells what the data decide"
        assert (out / "error.svg").exists()


def test_tables_of_stand_ins_decide_nothing_when_the_data_have_come(
    driver: ModuleType,
    papers: Callable[[str], ModuleType],
    toy: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for there, more in ((False, []), (True, ["--again"])):
        monkeypatch.setattr(papers("data"), "there", lambda _, now=there: now)
        monkeypatch.setattr(papers("data"), "missing", lambda name: f"there is no {name}")
        assert driver.main(toy("nltcs"), DESCRIPTION, [*more, "--out", str(tmp_path / "out")]) == 0
        assert capsys.readouterr().out.startswith("cannot be checked  ")
    assert driver.main(toy("nltcs"), DESCRIPTION, ["--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.startswith("held  ")  # the control: run anew


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize("paper", ["nope", "", "ranges joint", *SCRIPTS])
def test_make_knows_the_documents_and_tells_their_names_before_it_installs_anything(paper: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    done = subprocess.run(
        ["make", "reproduce", f"PAPER={paper}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2  # a known one ends where the project's files are not there
    told = done.stderr.splitlines()[0]
    if paper in SCRIPTS:
        assert "pyproject.toml" in told
    else:
        assert told == f"PAPER={paper}: expected ranges, joint, spatial or microdata"
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]
