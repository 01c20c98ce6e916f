"""What a device has given away after several reports: what losses add up to, and what permanent responses bound."""

from fractions import Fraction

from dpress.core.basics.kind import Division
from dpress.core.basics.losses.pure import as_pure
from dpress.data.specification.spec import Spec
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.report_type import Part
from dpress.release.plan.parameter_checks import of_kind


def times(spec: Spec) -> tuple[int, int]:
    """Return how often a device reports, and how often its values change meanwhile, as the specification says."""
    division = of_kind(spec, Division)
    return division.reports, division.changes


def given_away(collection: Collection, reports: int, changes: int) -> Fraction | None:
    """Return the epsilon of all reports of a device that keeps its secret: the largest of the report types'.

    A part costs its epsilon for every report. With a permanent response it costs that for a single one; reports of one
    value share its permanent response, so that their losses do not add up one by one, and from the second report on it
    is the lifetime's loss for every value that the device has held, where values share cells at most that of all
    cells. As in the device's ledger, histories are compared that change at the same times.

    Args:
        collection: what is asked.
        reports: of one device.
        changes: of its values.

    Returns:
        None where no epsilon is proven.
    """
    values = min(changes + 1, reports)
    losses = [[_of_part(part, reports, values) for part in report.parts] for report in collection.types]
    bounded = [[loss for loss in parts if loss is not None] for parts in losses]
    return max(sum(parts, Fraction(0)) for parts in bounded) if bounded == losses else None


def _of_part(part: Part, reports: int, values: int) -> Fraction | None:
    if (claimed := as_pure(part.oracle.claim.proven)) is None:
        return None
    if part.lifetime is None or reports == 1:
        return reports * claimed.epsilon
    most = values * part.lifetime.epsilon
    lifelong = part.oracle.lifelong
    return most if lifelong is None else min(most, lifelong.epsilon)
