"""Designs of every kind and every method as they were stored (`tests/formats`), and the people they are about."""

from pathlib import Path
from typing import Any

from tests.formats.make_formats import homes
from tests.formats.stored_case import USERS
from tests.formats.stored_cases import visitors

from dpress.core.basics.rng import seeded
from dpress.data.example_people import pickups
from dpress.document.design import Design
from dpress.query.designs import load_design
from dpress.query.release import Release
from dpress.release.curator.publish import publish
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb

STORED = Path(__file__).parents[1] / "formats" / "stored"
NAMES = sorted(path.parent.name for path in STORED.glob("*/design.json"))
PEOPLE, PICKUPS = visitors(), pickups(USERS)


def design_of(name: str) -> Design:
    """Return a stored design, read from its file."""
    return load_design(STORED / name / "design.json")


def rows_of(design: Design) -> Any:
    """Return the people that a design is about; of two tables both."""
    if design.specification.get("table"):
        return homes()
    return PICKUPS if design.kind == "spatial" else PEOPLE


def released(design: Design, folder: Path) -> Release:
    """Publish a table, or perturb and estimate, into `folder/release`."""
    rows, out = rows_of(design), folder / "release"
    if not design.local:
        return publish(design, rows, out=out, allow_unproven=True, rng=seeded(1))
    perturb(design, rows, out=folder / "reports.parquet", allow_unproven=True, rng=seeded(1))
    return estimate(design, folder / "reports.parquet", out=out, allow_unproven=True)
