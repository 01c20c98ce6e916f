"""A case, run from end to end: planned, published or collected, written, and read back.

case -> specification, rows -> plan -> publish, or perturb and estimate -> a folder -> the release that is read back.
"""

import contextlib
import hashlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.matrix import cases, tables
from tests.matrix.axes import Case, of_devices
from tests.matrix.tables import Rows
from tests.seeded.seeded_stream import SEED

import dpress
from dpress.cli.main import main
from dpress.core.basics import rng
from dpress.core.basics.losses.read import from_parameters
from dpress.data.specification.spec import Spec
from dpress.data.specification.toml import as_toml
from dpress.document.design import Design
from dpress.release.curator.publish import Payment
from dpress.release.periods.calendar import Calendar

PERIODS = ("2024-01", "2024-02")
Answering = dpress.Release | dpress.Series


class CommandRefused(ValueError):
    """A command ended with the code 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a case became.

    Args:
        case: a value of every axis.
        table: its rows.
        folder: where everything was written.
        design: what was planned; of periods that of one of them.
        release: as it was returned; None where a command made it.
        loaded: as it was read back: a release, or a series of periods.
        ledger: that paid; None without one.
    """

    case: Case
    table: Rows
    folder: Path
    design: Design
    release: dpress.Release | None
    loaded: Answering
    ledger: dpress.Ledger | None

    @property
    def releases(self) -> list[dpress.Release]:
        """Return the releases: one, or those of all spans."""
        return list(self.loaded.releases.values()) if isinstance(self.loaded, dpress.Series) else [self.loaded]

    @property
    def out(self) -> Path:
        """The folder of the release."""
        return self.folder / "out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What a case needs before a row is read.

    Args:
        case: a value of every axis.
        plain: its specification.
        spec: the same, read.
        folder: a new one.
    """

    case: Case
    plain: dict[str, Any]
    spec: Spec
    folder: Path
    options: dict[str, Any] = field(default_factory=dict)


def prepared(case: Case, folder: Path) -> Prepared:
    """Return the specification of a case, read.

    Raises:
        ValueError: it is refused.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plain = cases.spec_of(case, folder)
    options: dict[str, Any] = {"allow_unproven": True} if cases.unproven(case) else {}
    return Prepared(case=case, plain=plain, spec=dpress.load_spec(plain), folder=folder, options=options)


def planned(ready: Prepared) -> Design:
    """Return what is planned; of periods for the first.

    Raises:
        ValueError: it is refused.
    """
    if ready.case["periods"] == "none":
        return dpress.plan(ready.spec).design
    calendar = Calendar(ready.spec)
    return dpress.plan(calendar.of(calendar.spans[0])).design


def run(case: Case, folder: Path, table: Rows | None = None) -> Run:
    """Run a case with noise that is the same whenever it is run, whatever its rows.

    Args:
        case: a value of every axis.
        folder: a new one.
        table: rows in the place of the case's.

    Raises:
        ValueError: something refuses it.
    """
    ready = prepared(case, folder)
    rows = tables.rows_of(case) if table is None else table
    data = tables.held(case, rows, folder / "rows")
    ledger = ledger_of(ready)
    design = planned(ready)
    with noise_of(name_of(case)):
        release = (collected if of_devices(case) else published)(ready, design, data, ledger)
    out = folder / "out"
    loaded = dpress.load_release(out) if case["periods"] == "none" else dpress.load_series(out)
    account = None if ledger is None else dpress.Ledger.open(ledger)
    return Run(case=case, table=rows, folder=folder, design=design, release=release, loaded=loaded, ledger=account)


@contextlib.contextmanager
def noise_of(name: str) -> Iterator[None]:
    """Let secure generators draw what the name alone decides, whatever else draws from the operating system."""
    new_key, number = rng.new_key, itertools.count()
    rng.new_key = lambda: hashlib.sha256(f"{name} {next(number)}".encode()).digest()
    try:
        yield
    finally:
        rng.new_key = new_key


def name_of(case: Case) -> str:
    """Return what tells cases apart, as text."""
    return json.dumps({axis: str(value) for axis, value in case.items()})


def ledger_of(ready: Prepared) -> Path | None:
    """Return the place of the ledger; one that stands has twice what a release may cost."""
    place = ready.folder / "budget.db"
    if ready.case["ledger"] == "none":
        return None
    if ready.case["ledger"] != "new":
        loss = Calendar(ready.spec).whole if ready.case["periods"] != "none" else ready.spec.privacy.loss
        twice = {name: 2 * value for name, value in amounts(loss).items()}
        dpress.Ledger.create(place, limit=from_parameters(twice), unit=ready.spec.privacy.protected)
    return place


def amounts(loss: Any) -> dict[str, Any]:
    """Return the numbers of a loss by name."""
    return {name: getattr(loss, name) for name in loss.names}


def published(ready: Prepared, design: Design, data: Any, ledger: Path | None) -> dpress.Release | None:
    """Publish a table, or two periods of it, and return the release."""
    case, out = ready.case, ready.folder / "out"
    engine = None if case["engine"] == "default" else str(case["engine"])
    if case["read"] == "command":
        return by_command(ready, data, ledger, ["--engine", engine] if engine else [])
    if case["periods"] != "none":
        for period in PERIODS:
            dpress.publish_period(ready.spec, period, data, out=out, ledger=ledger, engine=engine, csv=True)
        return None
    paid = {}
    if case["ledger"] == "part":
        paid = {"payment": Payment(limit=ready.spec.privacy.loss, partition="ward: a", touched=1)}
    return dpress.publish(design, data, ledger=ledger, out=out, engine=engine, csv=True, **paid, **ready.options)


def collected(ready: Prepared, design: Design, data: Any, ledger: Path | None) -> dpress.Release | None:
    """Collect reports, round by round, and return the last release, which is the one that is written to `out`."""
    del ledger
    if ready.case["read"] == "command":
        return by_command(ready, data, None, [])
    number = 0
    while True:
        reports, place = ready.folder / f"reports{number}.parquet", ready.folder / f"round{number}"
        dpress.perturb(design, data, out=reports, **ready.options)
        release = dpress.estimate(design, reports, out=place, csv=True, **ready.options)
        if not (place / "next.json").exists():
            place.rename(ready.folder / "out")
            return release
        design, number = dpress.load_design(place / "next.json"), number + 1


def by_command(ready: Prepared, data: Path, ledger: Path | None, more: Sequence[str]) -> None:
    """Do the same by the command line."""
    spec, out = ready.folder / "spec.toml", ready.folder / "out"
    spec.write_text(as_toml(ready.plain), encoding="utf-8")
    free = ["--allow-unproven"] * bool(ready.options)
    if of_devices(ready.case):
        design, number = str(spec), 0
        while True:
            reports, place = str(ready.folder / f"reports{number}.parquet"), ready.folder / f"round{number}"
            command("perturb", design, "--data", str(data), "--out", reports, "--quiet", *free)
            command("estimate", design, "--reports", reports, "--out", str(place), "--csv", "--quiet", *free)
            if not (place / "next.json").exists():
                place.rename(out)
                return
            design, number = str(place / "next.json"), number + 1
    paid = ["--ledger", str(ledger)] if ledger else []
    for period in ([], []) if ready.case["periods"] == "none" else (["--period", one] for one in PERIODS):
        if not out.exists() or period:
            own = [*period, *paid, *more, *free]
            command("publish", str(spec), "--data", str(data), "--out", str(out), "--csv", "--quiet", *own)


def command(*arguments: str) -> None:
    """Run a command of dpress in this process.

    Raises:
        CommandRefused: it ended with the code 1.
    """
    try:
        main(list(arguments))
    except SystemExit as end:
        if end.code:
            raise CommandRefused(f"dpress {arguments[0]} ended with {end.code}") from end


def in_process_of_its_own(*arguments: str) -> str:
    """Run a command that may end its process, and return what it said in the end; empty where all is well."""
    environment = os.environ | {SEED: "matrix", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "dpress", *arguments], env=environment, capture_output=True, text=True, check=False
    )
    last = (done.stderr.strip().splitlines() or [""])[-1]
    return "" if done.returncode == 0 else f"dpress {arguments[0]} ended with {done.returncode}: {last[:200]}"
