"""What all documents' scripts share: arguments, processes, tables as CSV, verdicts, figures and the page of the docs.

Paper -> its tables, computed or read again -> verdicts -> files, a line for every claim, a page.
"""

import argparse
import csv
import multiprocessing
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # times are those of one core

import claims as judging
import runs
from claims import DEPENDS, HELD, NOT, UNKNOWN, Claim, Verdict
from quantities import Row, Tables

HERE = Path(__file__).parent
PAGES = HERE / "pages"  # a template for every document
RECORD = ("key", "whose", "place", "claim", "quantity", "band", "verdict", "at", "value", "error", "runs", "judged")
LONG = re.compile(r"\d+\.\d{3,}")  # a number of more digits than a picture shows
START = time.perf_counter()
Task = TypeVar("Task")


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A document: what is run, what is claimed, what is drawn.

    Args:
        name: of the script, the page and the folder of results.
        data: the data sets that it needs.
        tables: from `quick` to the tables of all experiments.
        claims: every claim, of the document and of ours.
        draw: writes the figures of tables into a folder, as SVG and PNG.
    """

    name: str
    data: tuple[str, ...]
    tables: Callable[[bool], dict[str, list[Row]]]
    claims: Callable[[], list[Claim]]
    draw: Callable[[Path, Tables], None]


def main(paper: Paper, description: str, arguments: Sequence[str] | None = None) -> int:
    """Run a document's experiments; return 1 if an identity fails, 2 if what is asked for cannot be had."""
    chosen = _arguments(paper, description, arguments)
    try:
        run = _run(paper, chosen)
        docs = runs.recorded(run, chosen.docs)
        chosen.out.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        print(f"{paper.name}: {error}", file=sys.stderr)
        return 2
    claims = paper.claims()
    tables = read(chosen.out) if chosen.again else _made(paper, run, claims, chosen.out)
    verdicts = [judging.judge(one, tables, frozenset(run.stand_ins)) for one in claims]
    write(chosen.out / "verdicts.csv", record(verdicts))
    _show(paper, tables, verdicts, out=chosen.out, docs=docs)
    return int(any(one.claim.whose == "identity" and one.kind == NOT for one in verdicts))


def _run(paper: Paper, chosen: argparse.Namespace) -> runs.Run:
    if chosen.again:
        return runs.earlier(chosen.out, paper.name)
    return runs.planned(paper.name, paper.data, quick=chosen.quick)


def _made(paper: Paper, run: runs.Run, claims: Sequence[Claim], out: Path) -> dict[str, list[Row]]:
    """Run the experiments and write their tables."""
    tables = paper.tables(run.quick)
    tables["identities"] = judging.computed(claims)
    runs.forget(out)
    for name, rows in tables.items():
        write(out / f"{name}.csv", rows)
    runs.write(out, run)
    return tables


def _show(paper: Paper, tables: Tables, verdicts: Sequence[Verdict], *, out: Path, docs: Path | None) -> None:
    """Draw the figures, write the page where it is to be, and print a line for every claim."""
    say("figures")
    with tempfile.TemporaryDirectory(dir=out) as fresh:  # the page has none of an earlier run
        paper.draw(Path(fresh), tables)
        if docs is not None:
            publish(paper, docs, Path(fresh), verdicts)
        for picture in Path(fresh).iterdir():
            picture.replace(out / picture.name)
    for one in verdicts:
        print(one.line)
    say(f"results in {out}" if docs is None else f"results in {out}, page {docs / paper.name}.md")


def _arguments(paper: Paper, description: str, arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few settings and runs, for tests")
    parser.add_argument("--again", action="store_true", help="judge and draw the tables of the last run")
    parser.add_argument("--out", type=Path, default=Path("out/papers") / paper.name, help="folder of the results")
    parser.add_argument("--docs", type=Path, help="folder in which to write the document's page, e.g. docs/papers")
    return parser.parse_args(arguments)


def record(verdicts: Sequence[Verdict]) -> list[Row]:
    """Return a row for every claim and every place of its axis: what the documentation keeps, and a test compares."""
    rows = []
    for one in verdicts:
        claim = one.claim
        row = {"key": claim.key, "whose": claim.whose, "place": claim.place, "claim": claim.words}
        row |= {"quantity": claim.quantity.words, "band": claim.band.words, "verdict": one.words}
        nothing = {"at": "", "value": "", "error": "", "runs": 0, "judged": UNKNOWN}
        figures = [
            {"at": own.at, "value": f"{own.value:.4g}", "error": f"{own.error:.2g}", "runs": own.runs}
            | {"judged": own.verdict}
            for own in one.figures
        ]
        rows += [row | own for own in figures or [nothing]]
    return rows


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV; columns that only some rows have are empty in the others."""
    names = list(dict.fromkeys(name for row in rows for name in row)) or list(RECORD)
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, names)
        out.writeheader()
        out.writerows(rows)


def read(folder: Path) -> dict[str, list[Row]]:
    """Return the tables of an earlier run."""
    return {path.stem: rows(path) for path in sorted(folder.glob("*.csv")) if path.stem != "verdicts"}


def rows(path: Path) -> list[Row]:
    """Return the rows of a CSV file, numbers as numbers; a budget such as "0.5" stays what it was: a text.

    What is empty is left out: a row without a `run` does not vary.
    """
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: _value(name, text) for name, text in row.items() if text} for row in csv.DictReader(file)]


TEXTS = {"epsilon", "f", "key", "at"}  # numbers that name a setting


def _value(name: str, text: str) -> Any:
    if name in TEXTS:
        return text
    if text in {"True", "False"}:
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def publish(paper: Paper, docs: Path, pictures: Path, verdicts: Sequence[Verdict]) -> None:
    """Write a document's page, its record and its figures into the documentation."""
    import jinja2  # noqa: PLC0415  # of the extra `report`

    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGES), autoescape=False, trim_blocks=True, lstrip_blocks=True,  # noqa: S701  # Markdown
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True,
    )  # fmt: skip
    whose = {name: [one for one in verdicts if one.claim.whose == name] for name in ("document", "dpress", "identity")}
    text = found.get_template(f"{paper.name}.md.j2").render(
        paper=paper, whose=whose, summary=summary(whose["document"])
    )
    docs.mkdir(parents=True, exist_ok=True)
    write(docs / f"{paper.name}.csv", record(verdicts))
    for picture in sorted(pictures.glob("*.svg")):
        short = LONG.sub(lambda found: f"{float(found[0]):.2f}", picture.read_text(encoding="utf-8"))
        (docs / f"{paper.name}_{picture.name}").write_text(short, encoding="utf-8")
    (docs / f"{paper.name}.md").write_text(text, encoding="utf-8")


def summary(verdicts: Sequence[Verdict]) -> str:
    """Return how many claims came out how, e.g. "3 held, 2 depend on what is left open"."""
    words = {HELD: "held", NOT: "did not hold", DEPENDS: "depend on what is left open", UNKNOWN: "cannot be checked"}
    counts = {kind: sum(one.kind == kind for one in verdicts) for kind in words}
    return ", ".join(f"{counts[kind]} {text}" for kind, text in words.items() if counts[kind])


def parallel(run: Callable[[Task], Mapping[str, Sequence[Row]]], tasks: Iterable[Task]) -> dict[str, list[Row]]:
    """Return the rows of all tasks by table, from two processes, in the order of the tasks.

    Args:
        run: from a task to rows by the name of their table; of a module, so that another process finds it.
        tasks: the longest first.
    """
    given = list(tasks)
    say(f"0/{len(given)} of what is to be run, the longest first")
    found: dict[int, Mapping[str, Sequence[Row]]] = {}
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1), mp_context=spawn) as pool:
        waiting = {pool.submit(run, task): number for number, task in enumerate(given)}
        for done, future in enumerate(as_completed(waiting), start=1):
            number = waiting[future]
            say(f"{done}/{len(given)}: {given[number]}")
            found[number] = future.result()
    tables: dict[str, list[Row]] = {}
    for number in range(len(given)):
        for name, own in found[number].items():
            tables.setdefault(name, []).extend(own)
    return tables


def seed(*setting: Any) -> int:
    """Return a number of a setting that is the same everywhere: settings must not share noise."""
    text = " ".join(map(str, setting)).encode()
    return sum(byte * pow(257, place, 1 << 31) for place, byte in enumerate(text)) % (1 << 31)


def say(text: str) -> None:
    """Tell how far a run is."""
    print(f"{time.perf_counter() - START:6.1f} s  {text}", file=sys.stderr, flush=True)
