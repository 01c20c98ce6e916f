"""The README, the tutorial and the examples run as they are written.

A block of bash or Python runs in one folder per document, in order; a block of text right behind it is its output,
compared to the letter. `<!-- file: NAME -->` before a block writes it to a file, `<!-- not run: WHY -->` skips it,
and so do lines that start with `make`, which the continuous check runs itself.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    "README.md",
    "docs/index.md",
    "docs/tutorial/first-release.md",
    "docs/tutorial/how-wrong.md",
    "docs/tutorial/ask-people.md",
    "docs/tutorial/which-go-together.md",
    "docs/tutorial/where-people-are.md",
    "docs/tutorial/survey-file.md",
    "docs/reference/queries.md",
    "docs/reference/release.md",
    "docs/reference/methods.md",
    "examples/README.md",
)
BLOCK = re.compile(
    r"(?:<!-- (?P<remark>file|not run): (?P<what>[^>]*?) -->\n)?"
    r"```(?P<language>[a-z]+)\n(?P<text>.*?)^```$(?:\n```text\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)


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


def python(text: str, names: dict[str, object]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, "block", "exec"), names)  # noqa: S102  # the document's own code
    return printed.getvalue()


def trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_block_runs_and_prints_what_it_says(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    ran = 0
    for block in blocks(document):
        if block.remark == "file":
            (tmp_path / str(block.what)).write_text(block.text, encoding="utf-8")
        elif block.remark != "not run" and block.language in ("bash", "python"):
            printed = bash(block.text, tmp_path) if block.language == "bash" else python(block.text, names)
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
