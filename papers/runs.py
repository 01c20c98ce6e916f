"""How the tables in a folder were made, which decides what may be judged and recorded: `run.json` beside them.

It is written when all tables are there, so that a folder without it has none that can be judged again.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

import data

NAME = "run.json"


class Run(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run of a document's experiments.

    Args:
        paper: the name of the document.
        quick: whether with few settings and runs.
        stand_ins: data sets in whose place made-up rows were used.
    """

    paper: str
    quick: bool
    stand_ins: tuple[str, ...]


def planned(paper: str, needed: Iterable[str], *, quick: bool) -> Run:
    """Return what is to be run, and say which of the data sets that it needs are not there."""
    missing = tuple(name for name in needed if not data.there(name))
    for name in missing:
        print(f"no data: {data.missing(name)}; a made-up stand-in is used, which decides nothing", file=sys.stderr)
    return Run(paper=paper, quick=quick, stand_ins=missing)


def earlier(folder: Path, paper: str) -> Run:
    """Return how the tables in a folder were made.

    Raises:
        ValueError: it has no finished run of this document.
    """
    try:
        run = msgspec.json.decode((folder / NAME).read_bytes(), type=Run)
    except FileNotFoundError:
        raise ValueError(f"--again: there is no finished run in {folder}; run it without --again first") from None
    except msgspec.DecodeError as error:
        raise ValueError(f"--again: {folder / NAME}: {error}; run it without --again first") from None
    if run.paper != paper:
        raise ValueError(f"--again: {folder} has a run of {run.paper}, expected one of {paper}")
    for name in run.stand_ins:
        print(f"the last run had a made-up stand-in for {name}, which decides nothing", file=sys.stderr)
    return run


def recorded(run: Run, docs: Path | None) -> Path | None:
    """Return the folder in which a run's page is to be written; none, and say so, where stand-ins decide nothing.

    Raises:
        ValueError: the run is a quick one.
    """
    if docs is not None and run.quick:
        raise ValueError("--docs: a quick run leaves open what the page tells; run it in full, or without --docs")
    if docs is None or not run.stand_ins:
        return docs
    print(f"{docs / run.paper}.md stays as it is: it tells what the data decide", file=sys.stderr)
    return None


def write(folder: Path, run: Run) -> None:
    """Say that the tables of a run are there."""
    (folder / NAME).write_bytes(msgspec.json.encode(run) + b"\n")


def forget(folder: Path) -> None:
    """Say that the tables in a folder are about to be another run's."""
    (folder / NAME).unlink(missing_ok=True)
