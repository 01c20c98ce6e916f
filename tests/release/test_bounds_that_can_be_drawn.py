"""Every interval that private bounds may choose can be released: charged first, a draw must not fail."""

import itertools
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from dpress import PureDP, publish
from dpress.attributes.numbers.attribute import Numeric
from dpress.core.basics import rng
from dpress.core.basics.claim import Unit
from dpress.core.basics.round_numbers import origin_of
from dpress.data import table_rows
from dpress.data.specification.spec import Spec, from_dict
from dpress.data.table_rows import carrying
from dpress.ledger.ledger import Ledger
from dpress.mechanisms.discovery import bounds_from_outside, private_bounds
from dpress.mechanisms.discovery.bounds_first import BoundsFirst

FAR = (1.6e9, 1.8e9)
BOUNDS = [
    *(FAR, (-1.8e9, -1.6e9), (1.0, 1.0 + 1e-7), (1e15, 1e15 + 2.0**23)),
    *((0.0, 1.0), (-1.0, 0.0), (0.0, 1e9), (-60.0, 1440.0), (-1e-9, 1e9), (-1e9, 1e-9), (1.0, 1e9), (-3.0, 7.0)),
    *((0.0, 1e300), (-1e300, 1e300), (1e299, 1e300), (-1e300, 1e-300), (0.0, 2**53 - 1), (2.0**52, 2.0**53)),
    *((0.0, 1e-300), (0.0, 1e-310), (-1e-310, 1.0), (1e-300, 2e-300), (-1e-317, 1e-316), (1900.0, 2100.0)),
]
COARSE = [(1e9, 1e9 + 1), (-1e9 - 1, -1e9)]  # 2^20 levels fit between no bounds of these
CASES = [*((own, 1 << 20) for own in BOUNDS), *((own, 1 << 17) for own in COARSE), (FAR, 1), ((1.0, 1.0 + 1e-12), 9)]
MADE: list[Any] = [made.example(PureDP(epsilon=1), Unit()) for made in (bounds_from_outside, private_bounds)]


def spec(bounds: tuple[float, float], **parameters: Any) -> Spec:
    attribute = {"name": "x", "kind": "numeric", "bounds": list(bounds), "bins": 16}
    asked = {"mean": ["x"], "private_bounds": ["x"], "users": 5000, **parameters}
    release = {"kind": "statistics", "parameters": asked}
    return from_dict({"attribute": [attribute], "privacy": {"epsilon": 1.0}, "release": release})


def invalid(made: BoundsFirst, attribute: Numeric) -> list[tuple[float, float]]:
    """The pairs of numbers, any of which may be drawn, that no attribute with as many levels can have as bounds."""
    edges = table_rows.carrying(attribute, made.edges(*attribute.ends))
    assert (edges[0], edges[-1]) == attribute.ends
    return [ends for ends in itertools.combinations(edges, 2) if not valid(attribute, ends)]


def valid(attribute: Numeric, ends: tuple[float, float]) -> bool:
    try:
        msgspec.structs.replace(attribute, bounds=ends)
    except ValueError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("made", MADE, ids=lambda made: type(made).__name__)
@pytest.mark.parametrize(("bounds", "levels"), CASES)
def test_every_interval_that_may_be_drawn_carries_the_levels(made: Any, bounds: Any, levels: int) -> None:
    attribute = Numeric(name="x", bounds=bounds, bins=levels)
    assert invalid(made, attribute) == []


@pytest.mark.parametrize(("bounds", "levels"), CASES)
def test_every_scale_leads_to_another_number(bounds: Any, levels: int) -> None:
    edges = np.array(carrying(Numeric(name="x", bounds=bounds, bins=levels), MADE[0].edges(*bounds)))
    scales, origin = MADE[0].scales(edges), origin_of(*bounds)
    assert scales.size
    assert ((origin - scales < origin) & (origin + scales > origin)).all()


def all_of_them(_attribute: Numeric, edges: Sequence[float]) -> tuple[float, ...]:
    """The rule before: whatever is round."""
    return tuple(edges)


@pytest.mark.parametrize("bounds", [FAR, (-1.8e9, -1.6e9)])
def test_round_numbers_that_are_too_near_are_found(bounds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_rows, "carrying", all_of_them)
    assert invalid(MADE[0], Numeric(name="x", bounds=bounds, bins=1 << 20))


@pytest.mark.parametrize("bounds", [(0.0, 1e9), (-60.0, 1440.0), (-1e6, 1e6)])
def test_where_floats_are_fine_enough_nothing_is_left_out(bounds: tuple[float, float]) -> None:
    edges = MADE[0].edges(*bounds)
    assert carrying(Numeric(name="x", bounds=bounds, bins=1 << 20), edges) == edges


@pytest.mark.slow
@pytest.mark.parametrize(("bounds", "value"), [(FAR, 0), (FAR, 1), ((1e59, 1e60), 1), ((0.0, 1e-300), 0)])
def test_all_rows_at_a_bound_are_released(bounds: Any, value: int, tmp_path: Any) -> None:
    ledger = Ledger.create(tmp_path / "b.sqlite", limit=PureDP(epsilon=1), unit=Unit())
    rows = pa.table({"x": np.full(5000, bounds[value])})
    release = publish(spec(bounds), rows, ledger=ledger, out=tmp_path / "out", rng=rng.seeded(1))
    low, high = release.design.schema.tabular[0].ends  # type: ignore[union-attr]
    assert low <= bounds[value] <= high


def test_the_rule_before_failed_after_the_charge(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_rows, "carrying", all_of_them)
    ledger = Ledger.create(tmp_path / "b.sqlite", limit=PureDP(epsilon=1), unit=Unit())
    with pytest.raises(ValueError, match="strictly increasing") as caught:
        publish(spec(FAR), pa.table({"x": np.full(5000, FAR[0])}), ledger=ledger, rng=rng.seeded(1))
    assert caught.value.__notes__ == ["the charge of epsilon = 1 stands"]
    assert ledger.summary().spent["epsilon"] == 1
