"""Write the pages that state evidence: hazards.md, proofs.md and papers-to-code.md of docs/explanations.

    python docs/hooks/write_explanations.py

hazards.yaml, proofs.yaml, the cards of all methods, the tests -> Markdown. A piece of evidence is a file, or a test of
one as `file::test_name`. The rooms in architecture.md are the packages as they are, in their own words, and api.md has
every public name with the first sentence of what is said of it.
"""

# ruff: noqa: INP001  # mkdocs runs its neighbours by their paths

import ast
import functools
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

import dpress
from dpress import catalog
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import NotSupported
from dpress.core.methods.mechanism import Card

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "explanations"
WRITTEN = "<!-- written by docs/hooks/write_explanations.py -->\n"
SQL_CASES = ROOT / "tests" / "query" / "sql" / "understood.toml"
ROOMS = "## The rooms\n\n```text\n"
API = "../reference/api.md"
NAMES = "## Every name in a line\n\n| of `dpress` | |\n|---|---|\n"
SENTENCES = ("ROW", "__version__")  # no class and no function: the page has a sentence on each
VERDICTS = ("foundations", "ranges", "joint", "spatial", "microdata")
MOST_TESTS = 3
ABOUT_HAZARDS = """\
NIST SP 800-226, *Guidelines for Evaluating Differential Privacy Guarantees* (2025), warns of ways in which a promise
on paper fails in use. This page takes such hazards, in our words and our order, and says of each what dpress does,
what it leaves to you, and where that can be checked. It holds {count}, and does not claim to be the publication's own
list: read that beside it. It has no word on hazards of machine learning, which dpress does not do. Tests are named
below `tests/`; that they exist is itself tested.
"""
ABOUT_PROOFS = """\
*Proven* in a claim means that a proof covers the code that runs. Every proof here has two halves: an argument, below,
which says why noise of a certain size suffices; and numbers, which the claim computes back from what the sampler
draws with and which tests compare with all neighbours of small tables, or with every entry of a small channel.
Symbols are those of the [notation](../notation.md). Long proofs are [pages of their own](#in-full).
"""
ABOUT_BASES = """\
The last column is the basis of a tiny instance at epsilon = 1, or what the method takes instead, in the words of its
claim.
"""
ABOUT_PAPERS = """\
Every method has one file, which names its paper; beside its own tests stand those of `tests/contract`, which run over
all of them: claim, channel or matrix, distribution of the draws, unbiasedness, planted faults. The first word of a
place is the document that [the verdicts](../papers/index.md) are about, or `local` for oracles of devices. Exact
error formulas are on the pages of [methods](../reference/methods.md) and [methods of
devices](../reference/device-methods.md).
"""

ABOUT_SQL = """\
Every statement here is a test: of a release of visits (columns age, sex, ward, size, visited) it asks what DuckDB says
of the rows. The [rules](sql.md) say what the columns of an answer are, and where it differs from a database's.
"""

Hazards = list[dict[str, Any]]
Proofs = dict[str, Any]


def told(name: str) -> Any:
    """Return what a YAML file of docs/ holds."""
    return yaml.safe_load((ROOT / "docs" / name).read_text(encoding="utf-8"))


@functools.cache
def tests_of(path: str) -> frozenset[str]:
    """Return the names of the test functions of a file, none where there is no such file."""
    if not (ROOT / path).is_file():
        return frozenset()
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def missing(evidence: list[str]) -> list[str]:
    """Return the pieces of evidence that do not exist."""
    found = []
    for one in evidence:
        path, _, name = one.partition("::")
        if not (name in tests_of(path) if name else (ROOT / path).is_file()):
            found.append(one)
    return found


def pieces(hazards: Hazards, proofs: Proofs) -> Iterator[str]:
    """Yield every piece of evidence of both files."""
    for part in hazards:
        for one in part["hazards"]:
            yield from one["evidence"]
    for argument in proofs["arguments"].values():
        yield from argument["evidence"]


def shown(evidence: str) -> str:
    """Return evidence as Markdown: a link to a page, or a test in words."""
    path, _, name = evidence.partition("::")
    if name:
        return f"`{name.removeprefix('test_')}` in `{path.removeprefix('tests/')}`"
    if path.startswith("docs/explanations/proofs/"):
        return f"in full: {proof_link(ROOT / path)}"
    number = re.fullmatch(r"docs/decisions/(\d+)-.+", path)
    words = f"decision {int(number[1])}" if number else Path(path).stem
    return f"[{words}](../{path.removeprefix('docs/')})"


def proof_link(path: Path) -> str:
    """Return a link from proofs.md to a page of a long proof, by the page's title."""
    title, _, _ = path.read_text(encoding="utf-8").partition("\n")
    return f"[{title.removeprefix('# ')}](proofs/{path.name})"


def proof_subject(path: Path) -> str:
    """Return what a page of a long proof shows: its first sentence says so."""
    sentence, _, _ = path.read_text(encoding="utf-8").split("\n\n")[1].partition(". ")
    return sentence.removeprefix("This page shows ")


def hazards_page(hazards: Hazards) -> str:
    """Return hazards.md."""
    count = sum(len(part["hazards"]) for part in hazards)
    out = [
        "# Hazards, and what stands against them\n",
        WRITTEN,
        ABOUT_HAZARDS.format(count=count),
    ]
    for part in hazards:
        out.append(f"## {part['part']}\n")
        for one in part["hazards"]:
            out.append(f"**{one['hazard']}** {one['answer']}\n")
            if "left" in one:
                out.append(f"*Left to you:* {one['left']}\n")
            out.append("\n".join(f"- {shown(piece)}" for piece in one["evidence"]) + "\n")
    return "\n".join(out)


def basis(card: Card) -> str:
    """Return what a small instance's claim rests on, as the code says."""
    for loss in catalog.LOSSES.values():
        try:
            words = card.example(loss, ROW).claim.basis
        except NotSupported:
            continue
        return re.sub(r"(\d{6})\d{4,}/\d+", r"\1.../...", words).replace("|", "\\|").removesuffix("; one report")
    raise AssertionError(card.name)


def proofs_page(proofs: Proofs) -> str:
    """Return proofs.md."""
    out = [
        "# Where the proofs are\n",
        WRITTEN,
        ABOUT_PROOFS,
        "## By method\n",
        ABOUT_BASES,
        "| method | arguments | what the claim of a tiny instance rests on |\n|---|---|---|",
    ]
    titles = {key: argument["title"] for key, argument in proofs["arguments"].items()}
    for name, card in catalog.cards().items():
        if catalog.claims(card)[1] is None:
            out.append(f"| `{name}` | **not proven**: runs only with `--allow-unproven` | |")
        else:
            links = ", ".join(f"[{titles[key]}](#{key})" for key in proofs["methods"][name])
            out.append(f"| `{name}` | {links} | {basis(card)} |")
    out.append("\n## The arguments\n")
    for key, argument in proofs["arguments"].items():
        out.append(f'<h3 id="{key}">{argument["title"]}</h3>\n')
        out.append(argument["proof"])
        out.append("Checked by:\n\n" + "\n".join(f"- {shown(piece)}" for piece in argument["evidence"]) + "\n")
    out.append("## In full\n")
    out += [f"- {proof_link(path)}: {proof_subject(path)}" for path in sorted((PAGES / "proofs").glob("*.md"))]
    return "\n".join(out) + "\n"


@functools.cache
def imports() -> dict[str, tuple[str, ...]]:
    """Return the test files that import each module of a method, by the module's last name."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for name in set(re.findall(r"dpress\.mechanisms\.\w+\.(?:documents\.)?(\w+)", text)):
            found.setdefault(name, []).append(str(path.relative_to(ROOT / "tests")))
    return {name: tuple(paths) for name, paths in found.items()}


def tests_for(card: Card) -> list[str]:
    """Return the test files of a method: the one of its name, else the first of those that import it."""
    paths = imports().get(card.name, ())
    own = [path for path in paths if Path(path).stem == f"test_{card.name}"]
    return own or list(paths[:MOST_TESTS])


def papers_page() -> str:
    """Return papers-to-code.md."""
    out = [
        "# From papers to code\n",
        WRITTEN,
        ABOUT_PAPERS,
        "| paper, place | method, file below `src/dpress/mechanisms` | tests, below `tests` |\n|---|---|---|",
    ]
    for card in sorted(catalog.cards().values(), key=lambda card: (card.paper.partition(":")[0], card.name)):
        kind, _, place = card.paper.partition(":")
        first = f"[{kind}](../papers/{kind}.md)" if kind in VERDICTS else kind
        out.append(
            f"| {first}: {place.strip()} | `{file_of(card)}` | {', '.join(f'`{path}`' for path in tests_for(card))} |"
        )
    return "\n".join(out) + "\n"


def file_of(card: Card) -> str:
    """Return the file of a method, below the folder of all."""
    (path,) = (ROOT / "src" / "dpress" / "mechanisms").rglob(f"{card.name}.py")
    return str(path.relative_to(ROOT / "src" / "dpress" / "mechanisms"))


def room_lines(package: Path, depth: int = 0) -> Iterator[str]:
    """Yield a line for a package and for each below it: its name and what it says of itself."""
    words = (ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or "").split("\n")[0]
    yield f"{'  ' * depth + package.name + '/':<22}{words}"
    for inner in sorted(package.iterdir()):
        if (inner / "__init__.py").is_file():
            yield from room_lines(inner, depth + 1)


def architecture_page() -> str:
    """Return architecture.md with the rooms as they are."""
    before, rest = (PAGES / "architecture.md").read_text(encoding="utf-8").split(ROOMS)
    sketch = "\n".join(room_lines(ROOT / "src" / "dpress"))
    return f"{before}{ROOMS}{sketch}\n```{rest.partition('```')[2]}"


def python_page() -> str:
    """Return api.md with every public name in a line, for who reads it as Markdown, without the site."""
    before, rest = (PAGES / API).read_text(encoding="utf-8").split(NAMES)
    lines = []
    for name in dpress.__all__:
        if name not in SENTENCES:
            paragraph = " ".join((inspect.getdoc(getattr(dpress, name)) or "").partition("\n\n")[0].split())
            sentence = re.match(r"(.+?)\.(?= |$)", paragraph)
            lines.append(f"| `{name}` | {_in_table(sentence[1] if sentence else paragraph)} |")
    table = "\n".join(lines)
    return f"{before}{NAMES}{table}\n\n## {rest.partition('## ')[2]}"


def _in_table(text: str) -> str:
    return text.replace("|", "\\|") or " "


def sql_page() -> str:
    """Return the page of the SQL that is understood and refused: the cases of its tests."""
    cases = tomllib.loads(SQL_CASES.read_text(encoding="utf-8"))
    parts = [
        "\n".join([f"## {part['title']}", "", "```sql", *(f"{each};" for each in part["statements"]), "```"])
        for part in cases["part"]
    ]
    rows = [f"| `{_in_table(each['statement'])}` | ... {_in_table(each['words'])} ... |" for each in cases["refused"]]
    refused = "\n".join(["## Refused", "", "| statement | the line says |", "|---|---|", *rows])
    return "\n\n".join(["# SQL that is understood", WRITTEN + ABOUT_SQL, *parts, refused]) + "\n"


def pages() -> dict[str, str]:
    """Return every page's text by its file name, as it lies below the explanations."""
    return {
        "../reference/sql-understood.md": sql_page(),
        API: python_page(),
        "architecture.md": architecture_page(),
        "hazards.md": hazards_page(told("hazards.yaml")),
        "proofs.md": proofs_page(told("proofs.yaml")),
        "papers-to-code.md": papers_page(),
    }


if __name__ == "__main__":
    for page, text in pages().items():
        (PAGES / page).write_text(text, encoding="utf-8")
