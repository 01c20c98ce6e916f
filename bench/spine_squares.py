"""Least squares over a country's regions: seconds and bytes by nodes times cells, a union's variance, shares; as JSON.

python bench/spine_squares.py > spine_squares.json

The regions are those of the reference data (`us_spine`): states, counties, tracts and block groups by the digits of
their codes; without it, made-up ones of about that size. The numbers are made up: what they are costs nothing. Tables:
the total, race (7), sex x age (2 x 18) and all three, at the four levels below the nation. "estimate" has the first
eighth, quarter and half of the block groups and all of them, each in a process of its own; "growth" is the time over
that of the row before, divided by the growth of nodes times cells: 1 is linear. "taken" is the most memory beyond the
noisy tables'. "union" is the variance of the total, and of a cell, of 1,000 random block groups: "first" also goes up
the tree once, which later ones use again.
Progress goes to standard error.
"""

import itertools
import json
import sys
import time
from collections.abc import Sequence

import numpy as np
import pyarrow.parquet as pq

from cases import data, fresh, once, say, seconds
from dpress.core.basics import rng
from dpress.core.maps.linear import Numbers
from dpress.core.maps.spine import Spine
from dpress.inference.regions.allocation import Allocation, shares
from dpress.inference.regions.estimates import estimates
from dpress.inference.regions.measured import Measured, Table
from dpress.inference.regions.variances import union_variance
from machine import facts

SHAPE: tuple[int, ...] = (2, 18, 7)
TABLES: tuple[Table, ...] = ((), (2,), (0, 1), (0, 1, 2))
DIGITS = (2, 5, 11, 12)
PARTS = (8, 4, 2, 1)
PLACES = 1000
LOSSES = {"rho": 1, "epsilon": 2}
STATES = {"Rhode Island": "44", "Massachusetts": "25", "Texas": "48", "all": ""}
MIB = 2.0**20
Row = dict[str, float | None]


def codes() -> Numbers:
    """Return the block groups' codes, increasing."""
    path = data("us_spine/us_block_groups_2010.parquet")
    if path is not None:
        return np.sort(pq.read_table(path, columns=["block_group"])["block_group"].to_numpy().astype("U12"))
    places = itertools.product(range(50), range(60), range(24), range(3))
    return np.array([f"{state:02}{county:03}{tract:06}{group}" for state, county, tract, group in places])


def spine_of(leaves: Numbers, digits: Sequence[int] = DIGITS) -> Spine:
    """Return the tree of increasing codes, whose first digits name the regions above."""
    firsts = [np.array([0])]
    for count in digits:
        short = leaves.astype(f"U{count}")
        firsts.append(np.flatnonzero(np.append(True, short[1:] != short[:-1])))
    ends = [np.append(first, len(leaves)) for first in firsts]
    return Spine(starts=tuple(np.searchsorted(below, above) for above, below in itertools.pairwise(ends)))


def measured_of(spine: Spine) -> Measured:
    """Return the same noise on all tables of every level but the first."""
    levels = tuple(dict.fromkeys(TABLES, 16.0) for _ in range(spine.depth))
    return Measured(spine=spine, shape=SHAPE, variances=({}, *levels))


def made_up(measured: Measured) -> list[dict[Table, Numbers]]:
    """Return numbers from -8 to 247 for every table, four bytes each."""
    source, levels = rng.seeded(1), list[dict[Table, Numbers]]()
    for nodes, variances in zip(measured.spine.sizes, measured.variances, strict=True):
        levels.append({})
        for table in variances:
            cells = nodes * measured.cells(table)
            values = source.words(-(-cells // 8)).view(np.uint8)[:cells].astype(np.int32) - 8
            levels[-1][table] = values.reshape(nodes, *(SHAPE[axis] for axis in table))
    return levels


def estimated(part: int) -> Row:
    """Return the cost of estimating the first part of the country."""
    leaves = codes()
    measured = measured_of(spine_of(leaves[: len(leaves) // part]))
    noisy = made_up(measured)
    say(f"1 / {part} of the regions: {measured.spine.sizes} nodes")
    levels, cost = once(lambda: estimates(measured, noisy, TABLES, lambda spaces: say(f"{spaces} more space")))
    numbers = sum(table.size for level in levels for table in level.values())
    given = sum(table.nbytes for level in noisy for table in level.values())
    return {"nodes": sum(measured.spine.sizes), "numbers": numbers, "noisy mib": given / MIB, **cost}


def union() -> Row:
    """Return the times of the variance of a union of random block groups."""
    measured = measured_of(spine_of(codes()))
    nodes = rng.seeded(2).words(3 * PLACES) % np.uint64(measured.spine.sizes[-1])
    places = {measured.spine.depth: np.unique(nodes.astype(np.int64))[::2][:PLACES]}
    cell = np.eye(1, measured.cells((0, 1, 2))).reshape(SHAPE)
    start = time.perf_counter()
    variance = union_variance(measured, places, {(0, 1, 2): cell})
    first = time.perf_counter() - start
    return {
        "places": len(places[measured.spine.depth]),
        "variance of a cell": variance,
        "first": first,
        "total": seconds(lambda: union_variance(measured, places, {(): np.ones(())})),
        "cell": seconds(lambda: union_variance(measured, places, {(0, 1, 2): cell})),
    }


def planned(state: str, power: int) -> Row:
    """Return the mean variance of even shares and of planned ones."""
    leaves = codes()
    spine = spine_of(leaves[np.char.startswith(leaves, STATES[state])], DIGITS[1 if STATES[state] else 0 :])
    wanted = ({}, *(dict.fromkeys(TABLES, 1 / len(TABLES) / spine.depth) for _ in range(spine.depth)))
    tables = ((), *(TABLES for _ in range(spine.depth)))
    start = time.perf_counter()
    allocation = Allocation(spine=spine, shape=SHAPE, tables=tables, workload=wanted, power=power)
    levels = shares(allocation, lambda rounds: say(f"{state}: {rounds} more round"))
    taken = time.perf_counter() - start
    best = np.array([levels[level].get(table, 0) for level, table in allocation.places])
    even = np.full(len(best), 1 / len(best))
    before, after = allocation.variance(even)[0], allocation.variance(best)[0]
    return {
        "even": before,
        "planned": after,
        "saved": 1 - after / before,
        "tables": int((best > 0).sum()),
        "seconds": taken,
    }


def main() -> None:
    """Print one JSON object."""
    rows = [fresh(estimated, part) for part in PARTS]
    for before, row in itertools.pairwise(rows):
        work = float(row["numbers"] or 1) / float(before["numbers"] or 1)
        row["growth"] = float(row["seconds"] or 0) / float(before["seconds"] or 1) / work
    plans = {f"{state}, {loss}": planned(state, power) for state in STATES for loss, power in LOSSES.items()}
    json.dump({"machine": facts(), "estimate": rows, "union": union(), "shares": plans}, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
