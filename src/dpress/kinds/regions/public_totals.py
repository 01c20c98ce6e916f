"""Totals of a level that are public: stated in a file, or declared to be read from the rows."""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from dpress.attributes.protocol import Cells
from dpress.core.basics.parameters import PLACE
from dpress.core.maps.spine import Spine
from dpress.kinds.regions.levels import TOTAL, level_depth, tree_of
from dpress.mechanisms.linear.region_tables import PublicTotals

ROWS = "rows"
Stated = Mapping[str, str | Mapping[str, int]]


def public_totals(stated: Stated, column: Cells, levels: Sequence[str], spine: Spine) -> tuple[PublicTotals, ...]:
    """Return the public totals of the levels, coarse to fine.

    Args:
        stated: by level, "rows" or the total of every code.
        column: of the regions.
        levels: their names, everything first.
        spine: of the regions.

    Raises:
        ValueError: a level or a code is none, a region has no total, levels do not add up, or only some are of rows.
    """
    if not stated:
        return ()
    if len({value == ROWS for value in stated.values()}) > 1:
        raise ValueError(f'{PLACE}.invariants: either all levels are stated in files, or all are "{ROWS}"')
    if TOTAL in stated:
        raise ValueError(f"{PLACE}.invariants: expected levels of the tree, got {TOTAL!r}; {levels[1]} gives it, too")
    depths = {level_depth(name, levels, "invariants"): name for name in stated}
    totals = tuple(
        PublicTotals(level=name, depth=depth, counts=_counts(stated[name], column, name, spine.sizes[depth]))
        for depth, name in sorted(depths.items())
    )
    for coarse, fine in itertools.pairwise(totals):
        _check_sums(coarse, fine, spine)
    return totals


def _counts(stated: str | Mapping[str, int], column: Cells, level: str, regions: int) -> tuple[int, ...]:
    """Return the stated total of every region, in their order; none where they are read from the rows."""
    if isinstance(stated, str):
        return ()
    counts = np.full(regions, -1, dtype=np.int64)
    counts[tree_of(column).nodes(level, [*stated])] = [*stated.values()]
    if (missing := np.flatnonzero(counts < 0)).size:
        codes = column.at(level).labels_between(int(missing[0]), int(missing[0]) + 1)
        what = f"{missing.size:,} of {regions:,} regions have no total"
        raise ValueError(f"{PLACE}.invariants.{level}: {what}, the first of them {codes[0]}")
    return tuple(counts.tolist())


def _check_sums(coarse: PublicTotals, fine: PublicTotals, spine: Spine) -> None:
    sums = np.array(fine.counts, dtype=np.int64)
    for level in reversed(range(coarse.depth, fine.depth)) if fine.counts else ():
        sums = np.add.reduceat(sums, spine.starts[level][:-1])
    if fine.counts and (wrong := int((sums != np.array(coarse.counts)).sum())):
        raise ValueError(
            f"{PLACE}.invariants: {wrong:,} totals of {coarse.level} are not the sums of those of {fine.level}"
        )
