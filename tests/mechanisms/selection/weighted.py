"""What the tests of selections by weights share: losses, units, and selections that claim more than they keep."""

import dataclasses
from typing import Any, TypeVar

import pytest

from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.approximate import ApproxDP

LOSSES = [ApproxDP(epsilon=1, delta="1e-8"), ApproxDP(epsilon="0.25", delta="1e-5"), ApproxDP(epsilon=3, delta="0.01")]
MOVED = Relation.REPLACE_ONE
UNITS = [Unit(), Unit(relation=MOVED), Unit(column="uid", rows=3), Unit(relation=MOVED, column="uid", rows=3)]
PERSON = UNITS[2]
each_unit = pytest.mark.parametrize("unit", UNITS, ids=str)

Selection = TypeVar("Selection", bound=Any)


def faulty(honest: Selection, **changed: object) -> Selection:
    """One that claims like an honest one and draws otherwise; made without its own check."""
    made: Selection = object.__new__(type(honest))
    for field in dataclasses.fields(honest):
        object.__setattr__(made, field.name, changed.get(field.name, getattr(honest, field.name)))
    return made
