"""Releases of every kind, from a small table in memory."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dpress.core import rng
from dpress.core.claim import Claim
from dpress.data.spec import from_dict
from dpress.release.estimate import estimate
from dpress.release.perturb import perturb
from dpress.release.publish import publish
from dpress.release.release import Release

AGE = {"kind": "integer", "name": "age", "bounds": [0, 19]}
SEX = {"kind": "categorical", "name": "sex", "values": ["Female", "Male"]}
REGION = {"kind": "categorical", "name": "region", "values": ["North", "South", "East", "West", "Centre"], "other": "X"}
PEOPLE = pa.table(
    {
        "age": [row % 20 for row in range(400)],
        "sex": ["Female" if row % 3 else "Male" for row in range(400)],
        "region": [REGION["values"][row * row % 5] for row in range(400)],
        "uid": [row // 4 for row in range(400)],
        "pay": [row * 10.0 for row in range(400)],
    }
)


@dataclass(frozen=True)
class Claimed:
    """A mechanism whose claim was replaced: nothing in the catalogue is unproven yet."""

    inner: Any
    claim: Claim

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def make(
    kind: str,
    attributes: list[dict[str, Any]],
    privacy: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> Release:
    plain = {
        "attribute": attributes,
        "privacy": privacy or {"epsilon": 1.0},
        "release": {"kind": kind, "parameters": parameters or {}, "method": options.pop("method", "auto")},
    }
    data = options.pop("data", PEOPLE)
    if "rng" in options:
        return publish(from_dict(plain), data, **options)
    release = publish(from_dict(plain), data, rng=rng.seeded(2026), **options)
    return replace(release, private=True)  # the same page in every run, worded as a private release


def collect(
    attributes: list[dict[str, Any]],
    privacy: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    **release: Any,
) -> Release:
    """Return the release of a local collection among the same people."""
    kind = "marginals" if len(attributes) > 1 else "histogram"
    asked = {"kind": kind, "parameters": parameters or {}, **release}
    plain = {"attribute": attributes, "privacy": {"model": "local", **(privacy or {"epsilon": 1.0})}, "release": asked}
    spec = from_dict(plain)
    with tempfile.TemporaryDirectory() as folder:
        reports = Path(folder) / "reports.parquet"
        perturb(spec, PEOPLE, out=reports, rng=rng.seeded(2026))
        return replace(estimate(spec, reports), private=True)


def joined(dependent: bool = True, users: int = 3000, **release: Any) -> Release:  # noqa: FBT001, FBT002  # one choice
    """Return a joint distribution of three attributes, of which the first two are one and the same, or nothing is.

    Independent attributes run through all combinations equally often, so that no chance is in the people themselves.
    """
    first = [row % 4 for row in range(users)]
    second = first if dependent else [row // 4 % 4 for row in range(users)]
    plain = {
        "attribute": [
            {"kind": "integer", "name": "age", "bounds": [0, 3]},
            {"kind": "integer", "name": "score", "bounds": [0, 3]},
            SEX,
        ],
        "privacy": {"model": "local", "epsilon": release.pop("epsilon", 4.0)},
        "release": {"kind": "joint", "parameters": {"ways": 2}, **release},
    }
    spec = from_dict(plain)
    data = pa.table({"age": first, "score": second, "sex": [SEX["values"][row // 16 % 2] for row in range(users)]})
    with tempfile.TemporaryDirectory() as folder:
        reports = Path(folder) / "reports.parquet"
        perturb(spec, data, out=reports, rng=rng.seeded(2026))
        return replace(estimate(spec, reports, records=100), private=True)


def claiming(release: Release, **changes: Any) -> Release:
    """Return the release as if its mechanism made another claim."""
    chosen = release.planned.chosen
    inner = chosen.mechanism
    claim = replace(inner.claim, **changes)
    claimed = replace(chosen, mechanism=Claimed(inner, claim))
    candidates = tuple(claimed if one is chosen else one for one in release.planned.candidates)
    planned = replace(release.planned, chosen=claimed, candidates=candidates)
    return replace(release, planned=planned)


def place(**options: Any) -> dict[str, Any]:
    """Return the attribute of a position in New York."""
    return {"kind": "location", "name": "place", "columns": ["lon", "lat"], "bounds": BOX, **options}


BOX = [[-74.3, -73.7], [40.4, 41.0]]
POINTS = pa.table(
    {"lon": [-74.0 + (row % 5) / 50 for row in range(900)], "lat": [40.7 + (row % 3) / 50 for row in range(900)]}
)


def mapped(method: str = "gtr_top_down", epsilon: float = 4.0, **parameters: Any) -> Release:
    """Return the map of a collection among people in one corner of New York, on 8 x 8 cells."""
    plain = {
        "attribute": [place()],
        "privacy": {"model": "local", "epsilon": epsilon},
        "release": {"kind": "spatial", "method": method, "parameters": {"height": 3, "users": 900, **parameters}},
    }
    spec = from_dict(plain)
    with tempfile.TemporaryDirectory() as folder:
        reports = Path(folder) / "reports.parquet"
        perturb(spec, POINTS, out=reports, rng=rng.seeded(2026), allow_unproven=True)
        return replace(estimate(spec, reports, allow_unproven=True), private=True)


def mapped_table(method: str = "quadtree", **options: Any) -> Release:
    """Return the map of the same points in a table."""
    parameters = {"quadtree": {"height": 3}, "uniform_grid": {"side": 7}}.get(method, {})
    return make("spatial", [place(**options)], parameters=parameters, method=method, data=POINTS)


KINDS: dict[str, Callable[[], Release]] = {
    "ranges": lambda: make("ranges", [AGE]),
    "histogram": lambda: make("histogram", [REGION]),
    "two-way": lambda: make("marginals", [AGE, REGION, SEX], method="marginals"),
    "two-way sums": lambda: make("marginals", [AGE, REGION, SEX], method="identity"),
    "three-way": lambda: make("marginals", [AGE, REGION, SEX], {"epsilon": 1, "relation": "replace-one"}, {"ways": 3}),
    "zcdp": lambda: make("ranges", [AGE], {"rho": 0.1}),
    "approximate": lambda: make("ranges", [AGE], {"epsilon": 1.0, "delta": 1e-5}),
    "person": lambda: make("histogram", [SEX], {"epsilon": 1.0, "unit": "uid", "rows_per_unit": 3}),
    "large": lambda: make("ranges", [{"kind": "numeric", "name": "pay", "bounds": [0, 4096], "bins": 4096}]),
    "local": lambda: collect([AGE, REGION, SEX]),
    "local at once": lambda: collect([AGE, SEX], parameters={"split": "budget"}),
    "local for ever": lambda: collect([AGE, SEX], {"epsilon": 2.0}, method="rr_ldp"),
    "local of one": lambda: collect([REGION], method="rappor", postprocess=["base_cut", "norm_sub"]),
    "local joint": lambda: joined(users=1600),
    "local joint of bits": lambda: joined(users=1600, method="rr_ldp", parameters={}),
    "local map": mapped,
    "map": mapped_table,
    "seeded": lambda: make("ranges", [AGE], rng=rng.seeded(1)),
}


@pytest.fixture(params=list(KINDS))
def release(request: pytest.FixtureRequest) -> Release:
    return KINDS[request.param]()
