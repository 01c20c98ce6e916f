"""The README, the tutorial and the examples run as they are written.

A block of bash or Python runs in one folder per document, in order; a block of text right behind it is its output,
compared to the letter. `<!-- file: NAME -->` before a block writes it to a file, `<!-- not run: WHY -->` skips it,
and so do lines that start with `make`, which the continuous check runs itself.

The README runs as it would for a reader, process by process. In the other documents a line that is one plain `dpress`
command runs in this process, which spares its start; every other line, and every block of several, is the shell's.

Noise is the same every day: in this process it is drawn from the test's stream, in every other from one that is named
after the document and the number of the process in it.
"""

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.seeded.seeded_stream import SEED, TURNS

from dpress.cli.main import main

ROOT = Path(__file__).parents[2]
SEEDED = ROOT / "tests" / "seeded"
DOCUMENTS = (
    "README.md",
    "docs/index.md",
    "docs/tutorial/first-release.md",
    "docs/tutorial/without-toml.md",
    "docs/tutorial/households.md",
    "docs/tutorial/how-wrong.md",
    "docs/tutorial/ask-people.md",
    "docs/tutorial/how-long-how-much.md",
    "docs/tutorial/which-go-together.md",
    "docs/tutorial/where-people-are.md",
    "docs/tutorial/words-nobody-listed.md",
    "docs/tutorial/cost-per-ward.md",
    "docs/tutorial/pay-and-years.md",
    "docs/tutorial/a-labour-force-survey.md",
    "docs/tutorial/a-country.md",
    "docs/tutorial/from-sql-to-a-release.md",
    "docs/tutorial/survey-file.md",
    "docs/tutorial/possible-records.md",
    "docs/tutorial/real-files.md",
    "docs/tutorial/why-noise.md",
    "docs/how-to/a-folder-of-parquet.md",
    "docs/how-to/csv-files.md",
    "docs/how-to/what-goes-together-in-a-table.md",
    "docs/how-to/unknown-names.md",
    "docs/how-to/excel-and-statistics-packages.md",
    "docs/how-to/a-database.md",
    "docs/how-to/data-frames.md",
    "docs/how-to/dates.md",
    "docs/how-to/repeated-releases.md",
    "docs/how-to/asking-again.md",
    "docs/how-to/sets-of-values.md",
    "docs/explanations/proofs/gaussian-noise.md",
    "docs/explanations/proofs/regions.md",
    "docs/reference/queries.md",
    "docs/reference/sql.md",
    "docs/reference/release.md",
    "docs/reference/ranges.md",
    "docs/reference/statistics.md",
    "docs/reference/queries-kind.md",
    "docs/reference/regions.md",
    "docs/explanations/architecture.md",
    "examples/README.md",
)
PROGRESS = re.compile("[\u2800-\u28ff] ")  # what a slow machine prints of anything over two seconds
BLOCK = re.compile(
    r"(?:<!-- (?P<remark>file|not run): (?P<what>[^>]*?) -->\n)?"
    r"```(?P<language>[a-z]+)\n(?P<text>.*?)^```$(?:\n```text\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)


SHELL_ONLY = re.compile(r"[|&;<>(){}*?~`\\]|\$(?!EXAMPLES\b)")
"""What makes a line, outside quotes, more than one command and its arguments."""
QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
SEVERAL_LINES = re.compile(r"<<|^(for|do|done|if|while)\b|\\$|&$|^[A-Z]+=", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    output: str | None
    remark: str | None
    what: str | None


def blocks(document: str) -> Iterator[Block]:
    for match in BLOCK.finditer((ROOT / document).read_text(encoding="utf-8")):
        yield Block(**match.groupdict())


def bash(text: str, folder: Path) -> str:
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "EXAMPLES": str(ROOT / "examples"),
        "COLUMNS": "80",
        "PYTHONPATH": os.pathsep.join([str(SEEDED), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    lines = [line for line in text.splitlines() if not line.startswith("make ")]
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}"
    return done.stdout


def arguments(line: str) -> tuple[list[str], str | None] | None:
    """Return what a plain `dpress` command is told and the file of its output, or None if the line needs a shell."""
    command, into = re.fullmatch(r"(.*?)(?: > ([\w.-]+))?", line).groups()  # type: ignore[union-attr]
    if not command.startswith("dpress ") or SHELL_ONLY.search(QUOTED.sub("", command.partition(" #")[0])):
        return None
    words = shlex.split(command, comments=True)
    return [os.path.expandvars(word) for word in words[1:]], into


def here(told: list[str], into: Path | None) -> str:
    """Run a command in this process; return what it prints on either stream, or write its output to a file."""
    printed, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors if into else printed):
        code: object = 0
        try:
            main(told)
        except SystemExit as end:
            code = end.code
    assert not code, f"{told}\n{printed.getvalue()}{errors.getvalue()}"
    if into is None:
        return printed.getvalue()
    into.write_text(printed.getvalue(), encoding="utf-8")
    return errors.getvalue()


def lines(text: str, folder: Path) -> str:
    """Run a block line by line, its plain commands in this process."""
    if SEVERAL_LINES.search(text):
        return bash(text, folder)
    out = ""
    for line in text.splitlines():
        if (plain := arguments(line)) is None:
            out += bash(line, folder)
        else:
            out += here(plain[0], plain[1] and folder / plain[1])
    return out


def python(text: str, names: dict[str, object]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, "block", "exec"), names)  # noqa: S102  # the document's own code
    return printed.getvalue()


def trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines() if not PROGRESS.match(line)]


@pytest.fixture
def ended(tmp_path: Path) -> Iterator[None]:
    """Stop a service that a document left running because something in between failed."""
    yield
    for path in tmp_path.glob("*.pid"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(path.read_text()), signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.usefixtures("ended")
@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_block_runs_and_prints_what_it_says(
    document: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("EXAMPLES", str(ROOT / "examples"))
    monkeypatch.setenv(SEED, document)
    monkeypatch.setenv(TURNS, str(tmp_path_factory.mktemp("turns") / "turns"))
    shell = bash if document == "README.md" else lines
    names: dict[str, object] = {}
    ran = 0
    for block in blocks(document):
        if block.remark == "file":
            (tmp_path / str(block.what)).write_text(block.text, encoding="utf-8")
        elif block.remark != "not run" and block.language in ("bash", "python"):
            printed = shell(block.text, tmp_path) if block.language == "bash" else python(block.text, names)
            ran += 1
            if block.output is not None:
                assert trimmed(printed) == trimmed(block.output), block.text
    assert ran, f"{document} has no block that runs"


def test_the_reader_of_blocks_sees_remarks_and_outputs() -> None:
    found = list(blocks("README.md"))
    assert any(block.remark == "not run" for block in found)
    assert sum(block.output is not None for block in found) >= 3
    assert {"bash", "python"} <= {block.language for block in found}


def test_a_wrong_output_or_a_failing_command_is_noticed(tmp_path: Path) -> None:
    assert trimmed(bash("echo one", tmp_path)) != trimmed("two")
    with pytest.raises(AssertionError):
        bash("false | true", tmp_path)


def test_processes_of_a_document_draw_the_same_every_day_and_not_the_same_as_one_another(tmp_path, monkeypatch) -> None:
    draw = "python -c 'import os; print(os.urandom(8).hex())'\n" * 2
    monkeypatch.setenv(SEED, "a document")
    found = []
    for day in ("one", "two"):
        monkeypatch.setenv(TURNS, str(tmp_path / day))
        found.append(bash(draw, tmp_path).split())
    assert found[0] == found[1]
    assert len(set(found[0])) == 2
    monkeypatch.delenv(SEED)
    assert bash(draw, tmp_path).split() != found[0]


def test_a_command_in_this_process_prints_what_one_of_its_own_prints(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    text = "dpress error privelet --cells 64 --range 1:1 # both ends included\ndpress list > list.txt\n"
    assert lines(text, tmp_path) == bash(text, tmp_path)
    again = (tmp_path / "list.txt").read_text(encoding="utf-8")
    assert again == bash("dpress list", tmp_path)
    with pytest.raises(AssertionError, match="cells"):
        lines("dpress error privelet --cells 0 --average", tmp_path)


def test_a_line_that_needs_a_shell_is_told_from_a_plain_one() -> None:
    assert arguments("dpress query out 'age in 1..2 and (x > 3)' total > a.txt") == (
        ["query", "out", "age in 1..2 and (x > 3)", "total"],
        "a.txt",
    )
    for line in (
        "dpress a | tail",
        "dpress a || true",
        'dpress a "$(b)"',
        "dpress a $b",
        "dpress a *",
        "head x",
        "make",
    ):
        assert arguments(line) is None, line
    assert SEVERAL_LINES.search("for a in b; do\n  dpress $a\ndone")
    assert SEVERAL_LINES.search("dpress plan \\\n  x")
