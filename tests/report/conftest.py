"""Releases of every kind, from a small table in memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pytest

from dpress.core import rng
from dpress.core.claim import Claim
from dpress.data.spec import from_dict
from dpress.release.artifact import Release
from dpress.release.run import publish

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


def claiming(release: Release, **changes: Any) -> Release:
    """Return the release as if its mechanism made another claim."""
    chosen = release.planned.chosen
    inner = chosen.mechanism
    claim = replace(inner.claim, **changes)
    planned = replace(release.planned, chosen=replace(chosen, mechanism=Claimed(inner, claim)))
    return replace(release, planned=planned)


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
    "seeded": lambda: make("ranges", [AGE], rng=rng.seeded(1)),
}


@pytest.fixture(params=list(KINDS))
def release(request: pytest.FixtureRequest) -> Release:
    return KINDS[request.param]()
