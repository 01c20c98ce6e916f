"""Bounds that are known once they are chosen: what is read, drawn and written down in which order.

design, rows -> counts between round numbers -> bounds -> the completed design -> noisy sums between the bounds.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from dpress.core.bounded_attribute import Numeric
from dpress.core.design import Design, acting
from dpress.core.domain import Schema
from dpress.core.rng import Generator
from dpress.core.round_numbers import round_numbers
from dpress.data.add_up import Progress
from dpress.data.true_counts import exact_answers, true_counts
from dpress.mechanisms.discovery.private_bounds import PrivateBounds
from dpress.release.designs import central_ask
from dpress.release.drawn_groups import DrawnGroups

Bounds = tuple[float, float]


def ready(
    design: Design, mechanism: PrivateBounds, source: Any, progress: Progress | None
) -> Callable[[Generator], DrawnGroups]:
    """Return what draws the bounds and the noise of the sums, once everything that may refuse the rows saw them.

    Rows are read twice before anything is charged, and once more when bounds are drawn.

    Raises:
        OSError, SchemaMismatch: see `true_counts` and `exact_answers`.
    """
    unit, schema = mechanism.unit, design.schema
    tables = [(axis,) for axis in mechanism.axes]
    counts = np.split(
        true_counts(between_round_numbers(schema, mechanism.axes), tables, source, unit, progress=progress),
        np.cumsum([_intervals(schema, axis).size for axis in mechanism.axes])[:-1],
    )
    exact_answers(mechanism, schema, source, unit, progress=progress)

    def draw(rng: Generator) -> DrawnGroups:
        bounds = {
            axis: chosen(mechanism, _intervals(schema, axis), own, rng=rng)
            for axis, own in zip(mechanism.axes, counts, strict=True)
        }
        whole = completed(design, mechanism, bounds)
        exact = exact_answers(mechanism, whole.schema, source, unit, progress=progress)
        return DrawnGroups(design=whole, mechanism=mechanism, measurement=mechanism.noisy(exact, rng=rng))

    return draw


def between_round_numbers(schema: Schema, axes: tuple[int, ...]) -> Schema:
    """Return the attributes, those of the axes with a cell between each two round numbers within their bounds."""
    return Schema(tuple(_intervals(schema, axis) if axis in axes else own for axis, own in enumerate(schema.tabular)))


def chosen(mechanism: PrivateBounds, intervals: Numeric, counts: Any, *, rng: Generator) -> Bounds:
    """Return the bounds that are chosen.

    Args:
        mechanism: that chooses.
        intervals: between round numbers.
        counts: exact numbers of rows in them; further ones are of missing values, shape (intervals.size,).
        rng: a secure generator.
    """
    edges = intervals.edges
    low, high = mechanism.choose(np.asarray(counts[: intervals.ordered], dtype=np.int64), edges, rng=rng)
    return float(edges[low]), float(edges[high])


def completed(design: Design, mechanism: PrivateBounds, bounds: Mapping[int, Bounds]) -> Design:
    """Return a design whose attributes have the bounds that were found, by axis, and as many levels as before."""
    attributes = tuple(
        msgspec.structs.replace(own, bounds=bounds[axis]) if axis in bounds else own
        for axis, own in enumerate(design.attributes)
    )
    coded = acting(attributes, design.ask.attributes)
    return msgspec.structs.replace(design, attributes=attributes, ask=central_ask(mechanism, coded))


def _intervals(schema: Schema, axis: int) -> Numeric:
    own = schema.tabular[axis]
    if not isinstance(own, Numeric):
        raise TypeError(f"{own.name} has no bounds to choose")
    low, high = own.ends
    return msgspec.structs.replace(own, bounds=None, bins=None, cuts=round_numbers(low, high))
