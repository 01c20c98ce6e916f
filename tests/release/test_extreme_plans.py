"""Numbers and losses at the end of what may be stated: planned and said in words, or refused by a line of ours."""

from typing import Any

import pytest

from dpress import catalog
from dpress.core.basics.refusal import one_line
from dpress.data.specification.spec import from_dict
from dpress.kinds.statistics import measured_attributes
from dpress.release.plan.plan import plan

BINS = {"name": "x", "kind": "numeric", "bins": 16}
TEN = BINS | {"bounds": [0.0, 10.0]}
ATTRIBUTES: list[dict[str, Any]] = [
    *(BINS | {"bounds": list(ends)} for ends in ((0.0, 1e300), (-1e160, 1e160), (-1e-310, 1e60), (0.0, 5e-324))),
    *({"name": "x", "kind": "integer", "bounds": list(ends)} for ends in ((0, 2**53 - 1), (-(2**63), 2**63 - 1))),
]
PERSON = {"unit": "uid", "rows_per_unit": 10**9}
LOSSES = [{"epsilon": 1e-6}, {"epsilon": 1000.0}, {"epsilon": 1.0, "delta": 1e-300}, {"epsilon": 1.0, **PERSON}]
USERS = {"users": 10**15}
ASKED: list[tuple[str, dict[str, Any]]] = [
    *(("statistics", {name: ["x"], **USERS}) for name in ("mean", "variance", "median")),
    ("statistics", {"mean": ["x"], "private_bounds": ["x"], **USERS}),
    ("histogram", {}),
    ("ranges", {}),
]
CASES = [
    *((own, {"epsilon": 1.0}) for own in ATTRIBUTES),
    *((TEN, loss) for loss in LOSSES),
]


def said(kind: str, parameters: Any, attribute: Any, privacy: Any) -> str:
    """The line of a refusal, "" where there is none."""
    release = {"kind": kind, "parameters": parameters}
    try:
        planned = plan(from_dict({"attribute": [attribute], "privacy": privacy, "release": release}))
        catalog.room(planned.design.kind).words.text(planned)
    except Exception as error:  # noqa: BLE001  # what is looked for
        return one_line(error)
    return ""


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("attribute", "privacy"), CASES, ids=str)
@pytest.mark.parametrize("model", ["central", "local"])
def test_extreme_numbers_are_planned_or_refused_by_a_line_of_ours(model: str, attribute: Any, privacy: Any) -> None:
    lines = [said(kind, parameters, attribute, {"model": model, **privacy}) for kind, parameters in ASKED]
    assert not [line for line in lines if "internal error" in line]


def test_squares_that_no_float_holds_are_found_without_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("statistics", {"mean": ["x"]}, ATTRIBUTES[0], {"epsilon": 1.0})
    assert "expected bounds of x within +-1e+60" in said(*asked)
    monkeypatch.setattr(measured_attributes, "LARGEST", 1e301)
    assert "internal error: OverflowError" in said(*asked)
