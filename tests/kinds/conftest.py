"""Releases of every kind, from a small table in memory, each made once in a run."""

import copy
import functools
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from tests.release.conftest import make_spec, rows

from dpress.core.basics import rng
from dpress.core.basics.claim import Claim
from dpress.data.specification.spec import from_dict
from dpress.query.release import Release
from dpress.release.curator.publish import publish
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb

__all__ = ["make_spec", "rows"]

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
BOX = [[-74.3, -73.7], [40.4, 41.0]]
POINTS = pa.table(
    {"lon": [-74.0 + (row % 5) / 50 for row in range(900)], "lat": [40.7 + (row % 3) / 50 for row in range(900)]}
)
TABLES = {"people": PEOPLE, "points": POINTS}


def reclaimed(inner: Any, claim: Claim) -> Any:
    """Return a mechanism whose claim was replaced: nothing in the catalogue is unproven yet."""
    found = copy.copy(inner)
    getattr(found, "__dict__", {}).pop("claim", None)  # where it was computed and kept
    object.__setattr__(found, "__class__", type("Claimed", (type(inner),), {"__slots__": (), "claim": claim}))
    return found


def make(
    kind: str,
    attributes: list[dict[str, Any]],
    privacy: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> Release:
    """Return the release of a table: of `PEOPLE`, or of `data`; with a seed of its own it is not private."""
    release = {name: options.pop(name) for name in ("method", "postprocess") if name in options}
    plain = {
        "attribute": attributes,
        "privacy": privacy or {"epsilon": 1.0},
        "release": {"kind": kind, "parameters": parameters or {}, **release},
    }
    text, seed, data = msgspec.json.encode(plain), options.pop("seed", None), options.pop("data", "people")
    if isinstance(data, str) and not options:
        return _published(text, data, seed)
    return _drawn(text, TABLES[data] if isinstance(data, str) else data, seed, **options)


@functools.cache
def _published(text: bytes, data: str, seed: int | None) -> Release:
    return _drawn(text, TABLES[data], seed)


def _drawn(text: bytes, data: pa.Table, seed: int | None, **options: Any) -> Release:
    release = publish(from_dict(msgspec.json.decode(text)), data, rng=rng.seeded(seed or 2026), **options)
    return replace(release, private=seed is None)  # the same page in every run, worded as a private release


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
    return _estimated(msgspec.json.encode(plain), "people")


@functools.cache
def _estimated(text: bytes, data: str) -> Release:
    return _answered(text, TABLES[data])


def _answered(text: bytes, data: pa.Table, **options: Any) -> Release:
    spec = from_dict(msgspec.json.decode(text))
    with tempfile.TemporaryDirectory() as folder:
        reports = Path(folder) / "reports.parquet"
        perturb(spec, data, out=reports, rng=rng.seeded(2026), allow_unproven=True)
        return replace(estimate(spec, reports, allow_unproven=True, **options), private=True)


def joined(dependent: bool = True, users: int = 3000, **release: Any) -> Release:  # noqa: FBT001, FBT002  # one choice
    """Return a joint distribution of three attributes, of which the first two are one and the same, or nothing is.

    Independent attributes run through all combinations equally often, so that no chance is in the people themselves.
    """
    plain = {
        "attribute": [
            {"kind": "integer", "name": "age", "bounds": [0, 3]},
            {"kind": "integer", "name": "score", "bounds": [0, 3]},
            SEX,
        ],
        "privacy": {"model": "local", "epsilon": release.pop("epsilon", 4.0)},
        "release": {"kind": "joint", "parameters": {"ways": 2}, **release},
    }
    return _joined(msgspec.json.encode(plain), dependent, users)


@functools.cache
def _joined(text: bytes, dependent: bool, users: int) -> Release:  # noqa: FBT001  # as above
    first = [row % 4 for row in range(users)]
    second = first if dependent else [row // 4 % 4 for row in range(users)]
    data = pa.table({"age": first, "score": second, "sex": [SEX["values"][row // 16 % 2] for row in range(users)]})
    return _answered(text, data, records=100)


def claiming(release: Release, **changes: Any) -> Release:
    """Return the release as if its mechanism made another claim."""
    inner, claimed = release.mechanism, replace(release)
    claimed.__dict__["mechanism"] = reclaimed(inner, replace(inner.claim, **changes))  # as the cached property would
    return claimed


def place(**options: Any) -> dict[str, Any]:
    """Return the attribute of a position in New York."""
    return {"kind": "location", "name": "place", "columns": ["lon", "lat"], "bounds": BOX, **options}


def mapped(method: str = "gtr_top_down", epsilon: float = 4.0, **parameters: Any) -> Release:
    """Return the map of a collection among people in one corner of New York, on 8 x 8 cells."""
    plain = {
        "attribute": [place()],
        "privacy": {"model": "local", "epsilon": epsilon},
        "release": {"kind": "spatial", "method": method, "parameters": {"height": 3, "users": 900, **parameters}},
    }
    return _estimated(msgspec.json.encode(plain), "points")


def mapped_table(method: str = "quadtree", **options: Any) -> Release:
    """Return the map of the same points in a table."""
    parameters = {"quadtree": {"height": 3}, "uniform_grid": {"side": 7}}.get(method, {})
    return make("spatial", [place(**options)], parameters=parameters, method=method, data="points")


KINDS: dict[str, Callable[[], Release]] = {
    "ranges": lambda: make("ranges", [AGE]),
    "histogram": lambda: make("histogram", [REGION]),
    "two-way": lambda: make("marginals", [AGE, REGION, SEX], method="marginals"),
    "two-way sums": lambda: make("marginals", [AGE, REGION, SEX], method="identity"),
    "three-way": lambda: make("marginals", [AGE, REGION, SEX], {"epsilon": 1, "relation": "replace-one"}, {"ways": 3}),
    "queries": lambda: make(
        "queries", [AGE, REGION, SEX], parameters={"queries": ["age >= 10 or region = X", "sex = Male", "age < 5"]}
    ),
    "zcdp": lambda: make("ranges", [AGE], {"rho": 0.1}),
    "approximate": lambda: make("ranges", [AGE], {"epsilon": 1.0, "delta": 1e-5}),
    "person": lambda: make("histogram", [SEX], {"epsilon": 1.0, "unit": "uid", "rows_per_unit": 3}),
    "large": lambda: make("ranges", [{"kind": "numeric", "name": "pay", "bounds": [0, 4096], "bins": 4096}]),
    "local": lambda: collect([AGE, REGION, SEX]),
    "local at once": lambda: collect([AGE, SEX], parameters={"split": "budget"}),
    "local for ever": lambda: collect([AGE, SEX], {"epsilon": 2.0}, method="rr_ldp"),
    "local of one": lambda: collect([REGION], method="rappor", postprocess=["base_cut", "norm_sub"]),
    "local joint": joined,
    "local joint of bits": lambda: joined(method="rr_ldp", parameters={}),
    "local map": mapped,
    "map": mapped_table,
    "seeded": lambda: make("ranges", [AGE], seed=1),
}


@pytest.fixture(params=list(KINDS))
def release(request: pytest.FixtureRequest) -> Release:
    return KINDS[request.param]()
