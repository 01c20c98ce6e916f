"""Which tables are measured at which level, and how much their errors count, from what a specification says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpress.core.basics.near import meant
from dpress.core.basics.parameters import PLACE
from dpress.core.maps.spine import Spine
from dpress.inference.regions.measured import Table
from dpress.kinds.regions.kind import Regions, WeightedTable
from dpress.kinds.regions.levels import level_depth


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTables:
    """The tables of a release.

    Args:
        levels: for every level, coarse to fine, the attributes of its tables, () for totals, () first.
        weights: how much the error of every table counts at every level.
    """

    levels: tuple[tuple[Table, ...], ...]
    weights: tuple[Mapping[Table, float], ...]


def measured_tables(
    parameters: Regions, levels: Sequence[str], others: Sequence[str], spine: Spine, public_to: int
) -> MeasuredTables:
    """Return the tables, the totals at every level without public ones at or below it.

    Args:
        parameters: of the specification.
        levels: their names, everything first.
        others: the attributes beside the regions.
        spine: of the regions.
        public_to: the finest level whose totals are public; -1 without one.

    Raises:
        ValueError: a table or a level is none, or stands twice.
    """
    ends, weights = dict[Table, int]({(): len(levels) - 1}), dict[Table, float]({(): 1.0})
    stated = parameters.tables or ([[*others]] if others else [])
    for number, each in enumerate(stated, 1):
        place = f"tables[#{number}]"
        wanted = WeightedTable(attributes=each) if isinstance(each, list) else each
        table = axes_of(wanted.attributes, others, place)
        if table in ends:
            raise ValueError(f"{PLACE}.{place}: the same attributes as another table")
        finest = len(levels) - 1 if wanted.start is None else level_depth(wanted.start, levels, f"{place}.from")
        ends[table], weights[table] = finest, wanted.weight
    measured = _measured(parameters, levels, spine)
    return MeasuredTables(
        levels=tuple(
            tuple(table for table, finest in ends.items() if level <= finest and (table or level > public_to))
            if level in measured
            else ()
            for level in range(len(levels))
        ),
        weights=_weights(parameters, levels, ends, weights),
    )


def axes_of(names: Sequence[str], others: Sequence[str], place: str) -> Table:
    """Return the table over some attributes.

    Raises:
        ValueError: there is no such attribute; one line that names the place, a parameter.
    """
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ValueError(f"{PLACE}.{place}: {name!r} stands twice")
        if name not in others:
            raise ValueError(
                f"{PLACE}.{place}: there is no attribute {name!r} beside the regions; there are "
                f"{', '.join(others) or 'none'}{meant(name, others)}"
            )
    return tuple(sorted({others.index(name) for name in names}))


def _measured(parameters: Regions, levels: Sequence[str], spine: Spine) -> set[int]:
    """Return the levels that are measured; unless they are stated all but those that the next one repeats."""
    if parameters.levels is None:
        sizes = [*spine.sizes, 0]
        return {level for level in range(len(levels)) if sizes[level] != sizes[level + 1]}
    measured = {level_depth(name, levels, "levels") for name in parameters.levels}
    if len(levels) - 1 not in measured:
        raise ValueError(
            f"{PLACE}.levels: the finest level, {levels[-1]}, must be measured; `level` of [release] ends at another"
        )
    return measured


def _weights(
    parameters: Regions, levels: Sequence[str], ends: Mapping[Table, int], weights: Mapping[Table, float]
) -> tuple[Mapping[Table, float], ...]:
    stated = parameters.weights or {}
    for name in stated:
        level_depth(name, levels, "weights")
    if stated.get(levels[-1]) == 0:
        raise ValueError(
            f"{PLACE}.weights: the finest level, {levels[-1]}, must count; `level` of [release] ends at another"
        )
    return tuple(
        {table: stated.get(name, 1.0) * weights[table] for table, finest in ends.items() if level <= finest}
        for level, name in enumerate(levels)
    )
