"""`auto` takes no method of the documents' folders, and every other one competes, or is a part of one that does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.matrix.array import cases
from tests.matrix.cases import spec_of

from dpress import catalog
from dpress.core.basics.errors import NotSupported
from dpress.data.specification.spec import load_spec
from dpress.release.plan.plan import plan

PARTS = {
    "approximate_quantiles": "of `group_quantiles`",
    "exponential": "of the private cap of rows",
    "weighted_rounds": "of `discovered_groups`",
    "weighted_threshold": "of `discovered_groups`",
}
KEPT = {"private_bounds": "read in designs that have it: no plan makes it"}
PLACE = {"name": "at", "kind": "location", "columns": ["x", "y"], "bounds": [[0, 1], [0, 1]]}
HOUR = {"name": "hour", "kind": "integer", "bounds": [0, 23]}


def asked(attribute: dict[str, Any], kind: str, **parameters: object) -> dict[str, Any]:
    """Return a specification of devices for one attribute."""
    release = {"kind": kind, "method": "auto", "parameters": parameters}
    return {"attribute": [attribute], "privacy": {"model": "local", "epsilon": 1}, "release": release}


BESIDE_THE_MATRIX = [
    asked(PLACE, "spatial", rounds=3),
    asked(HOUR, "statistics", circular=["hour"]),
    {
        "attribute": [HOUR, HOUR | {"name": "late"}],
        "privacy": {"epsilon": 1},
        "release": {"kind": "statistics", "parameters": {"by": [], "relations": ["correlation hour late"]}},
    },
]


def specifications(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what the cases of the matrix ask for where no method is named, and what they leave out."""
    unlike = {str(spec_of({**case, "method": "auto"}, folder)): {**case, "method": "auto"} for case in cases()}
    yield from (spec_of(case, folder) for case in unlike.values())
    yield from BESIDE_THE_MATRIX


def chosen_among(specs: Iterator[dict[str, Any]]) -> tuple[set[str], set[str]]:
    """Return the methods that `auto` chose, and those that it chose among; what cannot be planned is left out."""
    chosen, among = set[str](), set[str]()
    for plain in specs:
        try:
            planned = plan(load_spec(plain))
        except (ValueError, NotSupported):
            continue
        chosen.add(planned.chosen.method)
        among |= {candidate.method for candidate in planned.choice.candidates}
    return chosen, among


@pytest.mark.slow
def test_auto_takes_no_documents_method_and_may_take_every_other(tmp_path: Path) -> None:
    chosen, among = chosen_among(specifications(tmp_path))
    competing = {name for name, entry in catalog.entries().items() if entry.competes}
    assert chosen <= competing
    assert among == competing - {*PARTS, *KEPT}
    assert len(competing) < len(catalog.entries())
