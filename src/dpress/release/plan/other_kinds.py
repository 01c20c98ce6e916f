"""Which other kinds of release answer what a specification asks, under the same privacy, and how well.

plan -> what each room offers instead -> plans of their own -> their error on the queries that were asked for.

A room whose card says `stands_in` may offer itself: `instead` of its `plan_text.PlanWords`.
"""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from dpress import catalog
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.workload import Areas, Workload, boxes_of
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release.plan.candidate import UNIT
from dpress.release.plan.linear_error import mean_variance
from dpress.release.plan.plan import Plan, plan
from dpress.release.plan.strategies import LARGEST_TABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherKind:
    """Another kind of release that answers the same under the same privacy.

    Args:
        kind: as a specification names it.
        method: that its own plan chooses.
        change: what would change in the specification.
        predicted_error: mean variance of the answers that were asked for, in counts squared; where the plan's own error
            is of another unit, of the answers that the other kind is made for; None where none is known beforehand.
        page: of the documentation, on what to choose; empty where the error says it.
    """

    kind: str
    method: str
    change: str
    predicted_error: float | None
    page: str


def other_kinds(planned: Plan) -> list[OtherKind]:
    """Return the other kinds that answer what a plan does, the least error first, unknown ones last; reads no row."""
    if planned.workload.sums is not None:  # the error of tables depends on how many cells each one adds up
        return []
    return sorted(_others(planned), key=lambda kind: math.inf if kind.predicted_error is None else kind.predicted_error)


def _others(planned: Plan) -> Iterator[OtherKind]:
    if not catalog.kind(planned.spec.release.kind).of_counts:
        return
    for name in (name for name, card in catalog.kinds().items() if card.stands_in):
        offer = catalog.room(name).words.instead(planned)
        if offer is None or offer.kind == planned.spec.release.kind:
            continue
        with contextlib.suppress(NotSupported, ValueError):  # of what does not serve these attributes or this budget
            other = plan(_changed(planned, offer.kind))
            if _largest_table(other) > LARGEST_TABLE:  # which `publish` refuses
                continue
            error = _error(planned, other)
            yield OtherKind(
                kind=offer.kind,
                method=other.chosen.method,
                change=_change(planned, offer.kind),
                predicted_error=error,
                page="" if error is not None else offer.page,
            )


def _changed(planned: Plan, kind: str) -> Any:
    """Return the specification of the other kind: nothing that this one's method or kind takes."""
    spec = planned.spec
    release = msgspec.structs.replace(spec.release, kind=kind, method="auto", parameters={}, postprocess=msgspec.UNSET)
    return msgspec.structs.replace(spec, release=release)


def _change(planned: Plan, kind: str) -> str:
    """Return in words what `_changed` changes."""
    release = planned.spec.release
    named = ["method"] if release.method != "auto" else []
    left_out = [*named, *release.parameters, *(["postprocess"] if release.postprocess else [])]
    without = f" without {', '.join(f'`{name}`' for name in left_out)}" if left_out else ""
    return f'kind = "{kind}"{without}'


def _largest_table(other: Plan) -> int:
    """Return the cells of the largest table that a curator would publish; 0 where none is."""
    mechanism, shape = other.chosen.mechanism, other.choice.schema.shape
    if not isinstance(mechanism, MatrixMechanism):
        return 0
    return max(math.prod(shape[axis] for axis in table) for table in mechanism.decoder.tables)


def _error(planned: Plan, other: Plan) -> float | None:
    """Return the mean variance of another plan's answers to the queries of this one; see `OtherKind`."""
    if other.choice.unit != UNIT:
        return None
    if planned.choice.unit != UNIT:
        return other.chosen.predicted_error
    mechanism = other.chosen.mechanism
    if not isinstance(mechanism, MatrixMechanism) or isinstance(planned.workload, Areas):
        return None
    asked, parts = planned.workload, list[Workload]([planned.workload])
    if asked.tables and other.workload.axes:  # whose mechanism tells the error of boxes
        parts = [*boxes_of(asked.shape, asked.tables)]
    total = math.fsum(part.queries * mean_variance(mechanism, part) for part in parts)
    return total / planned.workload.queries
