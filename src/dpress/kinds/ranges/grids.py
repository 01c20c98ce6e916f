"""Ranges of several attributes from devices: which grids are asked about, and what is predicted."""

import math
from collections.abc import Sequence

from dpress.attributes.attribute import Tabular
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.parameters import Parameters
from dpress.core.basics.rng import seeded
from dpress.core.maps.ranges import Ranges
from dpress.core.maps.workload import Boxes
from dpress.data.specification.spec import Spec
from dpress.kinds.ranges.drawn import drawn
from dpress.mechanisms.protocol.collection import Collection, method_of
from dpress.mechanisms.ranges.hdg import Hdg
from dpress.mechanisms.ranges.hdg_choice import best_grids, predicted_error
from dpress.release.plan import collections
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.parameter_checks import of_methods

METHOD = "hdg"
SAMPLE, SEED = 256, 0  # boxes of the workload that the predicted error is averaged over, the same for everybody
MOST_CELLS = 1 << 20  # of a pair's table, which is published
MOST_PAIRS = 1 << 22  # of all of them
MOST_ATTRIBUTES = 50  # whose 1,225 pairs are planned in about ten seconds


def candidate(spec: Spec, boxes: Boxes, users: int) -> Candidate:
    """Return the grids with the least predicted error.

    Raises:
        NotSupported: another method is named, a cell has no place in an order, or tables are too large.
    """
    if spec.release.method not in ("auto", METHOD):
        named = f"{spec.release.method!r} collects no ranges of several attributes"
        raise NotSupported(f"$.release.method: {named}; the method that does: {METHOD}")
    for attribute in spec.schema.tabular:
        check_order(attribute)
    _check_cells(spec.schema.names, boxes.shape)
    of_methods(spec, {METHOD: Parameters})
    made = best_grids(boxes.shape, collections.share(spec, "users"), sample(boxes), users)
    collection = Collection(shape=made.shape, types=made.types, split="users", estimator=made)
    return Candidate(method=METHOD, mechanism=collection, predicted_error=predicted_error(made, sample(boxes), users))


def grids_of(mechanism: object) -> Hdg | None:
    """Return the grids of a collection, None of any other mechanism."""
    estimator = method_of(mechanism)
    return estimator if isinstance(estimator, Hdg) else None


def sample(boxes: Boxes) -> list[Ranges]:
    """Return boxes of a workload, the same whenever they are drawn: nothing private is."""
    return drawn(boxes, SAMPLE, rng=seeded(SEED))


def check_order(attribute: Tabular) -> None:
    """Refuse an attribute with cells that have no neighbours.

    Raises:
        NotSupported: naming them.
    """
    if attribute.ordered < attribute.size:
        beside = ", ".join(repr(name) for name in attribute.extra)
        raise NotSupported(
            f"$.attribute: {attribute.name} has a cell without a place in the order ({beside}), which no tile can "
            "hold; leave out `null` and `other`, or ask for one attribute alone by another method"
        )


def _check_cells(names: Sequence[str], shape: Sequence[int]) -> None:
    if len(names) > MOST_ATTRIBUTES:
        raise NotSupported(
            f"{len(names)} attributes have {math.comb(len(names), 2):,} pairs, at most 1,225 are asked for"
        )
    pairs = [(a * b, first, second) for (a, first), (b, second) in _pairs(names, shape)]
    cells, first, second = max(pairs)
    if cells > MOST_CELLS:
        raise NotSupported(f"{first!r} and {second!r} have {cells:,} cells together, at most 2^20; use fewer `bins`")
    if (total := math.fsum(size for size, *_ in pairs)) > MOST_PAIRS:
        raise NotSupported(f"all pairs have {total:,.0f} cells, at most 2^22; use fewer `bins` or attributes")


def _pairs(names: Sequence[str], shape: Sequence[int]) -> list[tuple[tuple[int, str], tuple[int, str]]]:
    sized = [*zip(shape, names, strict=True)]
    return [(first, second) for place, first in enumerate(sized) for second in sized[place + 1 :]]
