"""What chosen bounds did to the rows, for whoever holds them: how many are outside, how far clamping moves means.

Exact, so never private. rows -> those that the chosen bounds keep -> counts; a bound -> the schema of what is beyond.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Number
from dpress.attributes.policy import DROP
from dpress.data.add_up import Progress
from dpress.data.specification.spec import from_dict
from dpress.data.true_counts import true_counts
from dpress.mechanisms.discovery.bounds_first import BoundsFirst
from dpress.query.release import Release


def rows_outside(release: Release, data: Any, progress: Progress | None) -> dict[str, int]:
    """Return by attribute how many rows are outside of the bounds that were chosen; none where none were."""
    mechanism = release.mechanism
    if not isinstance(mechanism, BoundsFirst):
        return {}
    return {release.schema.names[axis]: _outside(release, axis, data, progress) for axis in mechanism.axes}


def _outside(release: Release, axis: int, data: Any, progress: Progress | None) -> int:
    attribute, unit = _numbers(release.schema, axis), release.claim.unit
    ways = (msgspec.structs.replace(attribute, bins=1), msgspec.structs.replace(attribute, bins=1, outside=DROP))
    whole, kept = (
        int(true_counts(_with(release.schema, axis, way), [(axis,)], data, unit, progress=progress).sum())
        for way in ways
    )
    return whole - kept


def beyond(release: Release) -> Iterator[tuple[str, Schema, float]]:
    """Yield what chosen bounds cut off: the attribute's name, the schema of values beyond a bound, and this bound.

    A value cut to the stated bounds is that between the chosen ones, and its parts below and above them: so a mean is
    moved by the means of these parts.
    """
    mechanism = release.mechanism
    if not isinstance(mechanism, BoundsFirst):
        return
    schema, stated = release.schema, from_dict(release.design.specification).schema
    for axis in mechanism.axes:
        attribute = _numbers(schema, axis)
        (low, high), (lowest, highest) = attribute.ends, _numbers(stated, axis).ends
        for ends, nearer in (((lowest, low), low), ((high, highest), high)):
            if ends[0] < ends[1]:
                yield attribute.name, _with(schema, axis, msgspec.structs.replace(attribute, bounds=ends)), nearer


def _numbers(schema: Schema, axis: int) -> Number:
    numbers = schema.tabular[axis].numbers
    if numbers is None:
        raise TypeError(f"{schema.names[axis]} has no bounds to choose")
    return numbers


def _with(schema: Schema, axis: int, attribute: Number) -> Schema:
    return Schema((*schema.attributes[:axis], attribute, *schema.attributes[axis + 1 :]))
