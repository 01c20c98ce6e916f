"""Bounds that are known once they are chosen: what is read, drawn and written down in which order.

design, rows -> counts between round numbers -> bounds -> the completed design -> noisy sums between the bounds.
"""

import bisect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Numeric
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.rng import Generator
from dpress.core.basics.round_numbers import origin_of
from dpress.data.add_up import Counts, Progress
from dpress.data.true_counts import exact_answers, true_counts
from dpress.document.design import Design, acting
from dpress.mechanisms.discovery.bounds_first import BoundsFirst, ChosenBounds
from dpress.query.designs import central_ask
from dpress.release.curator.drawn_groups import DrawnGroups


def ready(
    design: Design, mechanism: BoundsFirst, source: Any, progress: Progress | None
) -> Callable[[Generator], DrawnGroups]:
    """Return what draws the bounds and the noise of the sums, once everything that may refuse the rows saw them.

    Rows are read twice before anything is charged, and once more when bounds are drawn.

    Raises:
        NotSupported: the design is one that a release has completed.
        OSError, SchemaMismatch: see `true_counts` and `exact_answers`.
    """
    unit, schema = mechanism.unit, design.schema
    if mechanism.done:
        raise NotSupported(
            "the design states bounds that a release found; publish the one it was made by, or its specification"
        )
    counts = interval_counts(schema, mechanism, source, progress)
    exact_answers(mechanism, schema, source, unit, progress=progress)

    def draw(rng: Generator) -> DrawnGroups:
        drawn = {axis: chosen(mechanism, *own, rng=rng) for axis, own in counts.items()}
        whole, finished = completed(design, mechanism, drawn)
        exact = exact_answers(finished, whole.schema, source, unit, progress=progress)
        return DrawnGroups(design=whole, mechanism=finished, measurement=finished.noisy(exact, rng=rng))

    return draw


def interval_counts(
    schema: Schema, mechanism: BoundsFirst, source: Any, progress: Progress | None
) -> dict[int, tuple[Numeric, Counts]]:
    """Return by axis the intervals between the numbers that bounds are chosen from, and the exact counts of rows.

    Raises:
        OSError, SchemaMismatch: see `true_counts`.
    """
    between = {axis: _intervals(schema, mechanism, axis) for axis in mechanism.axes}
    coded = Schema(tuple(between.get(axis, own) for axis, own in enumerate(schema.tabular)))
    counts = true_counts(coded, [(axis,) for axis in between], source, mechanism.unit, progress=progress)
    ends = np.cumsum([own.size for own in between.values()])[:-1]
    return dict(zip(between, zip(between.values(), np.split(counts, ends), strict=True), strict=True))


def chosen(mechanism: BoundsFirst, intervals: Numeric, counts: Counts, *, rng: Generator) -> ChosenBounds:
    """Return the bounds that are chosen.

    Args:
        mechanism: that chooses.
        intervals: between the numbers that bounds are chosen from.
        counts: exact numbers of rows in them; further ones are of missing values, shape (intervals.size,).
        rng: a secure generator.
    """
    return mechanism.bounds(np.asarray(counts[: intervals.ordered], dtype=np.int64), intervals.edges, rng=rng)


def completed(design: Design, mechanism: BoundsFirst, drawn: Mapping[int, ChosenBounds]) -> tuple[Design, BoundsFirst]:
    """Return a design whose attributes have the bounds that were found, by axis, and as many levels as before."""
    attributes = tuple(
        msgspec.structs.replace(own, bounds=drawn[axis].ends) if axis in drawn else own
        for axis, own in enumerate(design.attributes)
    )
    coded = acting(attributes, design.ask.attributes)
    finished = mechanism.completed(tuple(own.rows for own in drawn.values() if own.rows is not None))
    whole = msgspec.structs.replace(design, attributes=attributes, ask=central_ask(finished, coded))
    return whole, finished


def _intervals(schema: Schema, mechanism: BoundsFirst, axis: int) -> Numeric:
    numbers = schema.tabular[axis].movable
    if numbers is None:
        raise TypeError(f"{schema.names[axis]} has no bounds to choose")
    return numbers.with_edges(carrying(numbers, mechanism.edges(*numbers.ends)))


def carrying(attribute: Numeric, edges: Sequence[float]) -> tuple[float, ...]:
    """Return those edges of which any two are bounds that the attribute's levels fit between, increasing.

    What is drawn is charged for beforehand, so it must be possible to release. Far from zero floats are too coarse for
    levels between two near numbers: of these the ones further from the bounds' number nearest to zero are kept, where
    values are looked for first. That depends on the stated bounds alone.

    Args:
        attribute: as it is measured, with its levels.
        edges: between which rows would be counted, increasing; the first and the last are the stated bounds.
    """
    low, high = attribute.ends
    origin, kept = origin_of(low, high), [low, high]
    for edge in sorted(edges[1:-1], key=lambda number: -abs(number - origin)):
        place = bisect.bisect(kept, edge)
        if attribute.carried(kept[place - 1], edge) and attribute.carried(edge, kept[place]):
            kept.insert(place, edge)
    return tuple(kept)
