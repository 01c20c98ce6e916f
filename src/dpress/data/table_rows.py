"""The rows of a table as a mechanism sees them: sums, by whatever engine reads them; see `table_sums.Rows`."""

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.attributes.discovered import with_discovered
from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Numeric
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.round_numbers import origin_of
from dpress.core.methods.name_counts import CountNames
from dpress.core.methods.people import People
from dpress.core.methods.table_sums import Edges, Found, Integers, Sums
from dpress.data.add_up import Counts, Progress
from dpress.data.count_names import name_counting
from dpress.data.kept_sums import KeptSums
from dpress.data.person_totals import person_totals
from dpress.data.rows import people
from dpress.data.table import Table
from dpress.data.true_counts import check_shape, row_sums, true_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRows:
    """The rows of a table.

    Args:
        schema: how they are coded.
        source: where they are, as `open_source` takes or returns them.
        unit: whose contribution is bounded.
        progress: called with the number of rows done so far, of every reading.
        kept: the sums of parts that are done; None where nothing is kept, as once something was drawn.
    """

    schema: Schema
    source: Any
    unit: Unit
    progress: Progress | None = None
    kept: KeptSums | None = None

    def tables(self, tables: Sequence[tuple[int, ...]]) -> Counts:
        """Return the counts of tables; see `true_counts`."""
        return true_counts(self.schema, tables, self.source, self.unit, progress=self.progress, kept=self.kept)

    def sums(self, sums: Sums) -> Counts:
        """Return sums over rows, then over persons; see `row_sums` and `person_totals`."""
        if sums.shape is not None:
            check_shape(self.schema, sums.shape)
        if sums.of_persons is None:
            options: dict[str, Any] = {"progress": self.progress, "kept": self.kept}
            return row_sums(self.schema, sums.of_rows, self.source, self.unit, **options)
        return person_totals(self.schema, sums, self.source, self.unit, progress=self.progress)

    def names(self, axis: int) -> CountNames:
        """Return what counts names; it takes memory for them, see `name_counting`."""
        attribute = self.schema.attributes[axis]
        if not attribute.discovered:
            raise NotSupported(
                f"attribute {attribute.name}: the design lists the names that a release found; publish the one it was "
                "made by, or its specification"
            )
        return name_counting(attribute, self.source, self.unit, progress=self.progress)

    def between(
        self, axes: Sequence[int], edges: Callable[[float, float], tuple[float, ...]]
    ) -> dict[int, tuple[Edges, Integers]]:
        """Return numbers between bounds, and the counts of rows between them, without those of missing values."""
        attributes = {axis: _cut(self.schema.tabular[axis], edges) for axis in axes}
        coded = Schema(tuple(attributes.get(axis, attribute) for axis, attribute in enumerate(self.schema.tabular)))
        counts = replace(self, schema=coded).tables([(axis,) for axis in attributes])
        ends = np.cumsum([attribute.size for attribute in attributes.values()])[:-1]
        return {
            axis: (attribute.edges, np.asarray(part[: attribute.ordered], dtype=np.int64))
            for (axis, attribute), part in zip(attributes.items(), np.split(counts, ends), strict=True)
        }

    def people(self) -> People:
        """Return the rows behind a fold; see `data.rows.people`."""
        return people(Table(self.source, self.schema.columns, self.unit), self.schema, progress=self.progress)

    def completed(self, found: Found) -> "TableRows":
        """Return the same rows, coded by what was found."""
        return replace(self, schema=Schema(with_discovered(self.schema.attributes, found)), kept=None)


def _cut(attribute: Tabular, edges: Callable[[float, float], tuple[float, ...]]) -> Numeric:
    numbers = attribute.movable
    if numbers is None:
        raise TypeError(f"{attribute.name} has no bounds to choose")
    return numbers.with_edges(carrying(numbers, edges(*numbers.ends)))


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
