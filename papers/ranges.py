"""The experiments of "Error analysis of differentially private data publication under the matrix mechanism".

make reproduce PAPER=ranges        (python papers/ranges.py [--quick] [--out FOLDER])

Only noise is drawn: the error of an answer does not depend on the data, so every table here is empty. A pilot tells how
many runs a strategy needs for a ratio of measured to predicted error with a standard error of `TARGET`.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import driver
import numpy as np
from quantities import Row
from ranges_claims import claims
from ranges_figures import draw
from ranges_methods import (
    ADD,
    CONSISTENT,
    LOSSES,
    SEARCH,
    Subject,
    all_ranges_squares,
    diagonal,
    predicted,
    random_ranges,
    range_squares,
    serving,
    subject,
    subjects,
)

from dpress.core.basics import rng
from dpress.core.maps.ranges import Ranges, RangesOfLength

TARGET = 0.0025  # standard error of a ratio, for which the runs are chosen
PILOT = 1000  # runs that tell how many are needed
BATCHES = 50  # of the runs, each a `run` of the tables
STATED = 100  # the document's number of runs
RANGES = 50  # the document's number of random ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How large the experiments are.

    Args:
        cells: of experiment 1.
        heights: log2 of the cells of experiment 2.
        sizes: cells of the table of strategies.
        searched: of these, the cells for which a strategy is searched.
        seconds: of the search.
    """

    cells: int = 1024
    heights: Sequence[int] = tuple(range(11))
    sizes: Sequence[int] = (4, 16, 64, 256, 1024, 4096)
    searched: Sequence[int] = (4, 16, 64, 256, 1024, 4096)
    seconds: float = 4.0


LENGTHS = 1024  # cells of the table of lengths
QUICK = Setting(cells=16, heights=tuple(range(6)), sizes=(4, 16, 64, 256), searched=(4, 16, 64), seconds=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One strategy of one experiment, at one number of cells."""

    experiment: str
    strategy: str
    loss: str
    cells: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.experiment}, {self.strategy}, {self.cells} cells"


def run(task: Task) -> dict[str, list[Row]]:
    """Return the rows of a task by table."""
    one = subject(task.strategy, task.loss, task.cells, task.seconds if task.strategy == SEARCH else None)
    source = rng.seeded(driver.seed("ranges", task.experiment, task.strategy, task.cells))
    return {"experiment 1": experiment_1, "experiment 2": experiment_2, "sizes": sizes}[task.experiment](one, source)


def experiment_1(one: Subject, source: rng.Generator) -> dict[str, list[Row]]:
    """Return the document's table of random ranges, and a row for every range and batch of many more runs."""
    ranges = random_ranges(one.cells, RANGES, rng.seeded(driver.seed("ranges", "random ranges", one.cells)))
    exact, alone = predicted(one, ranges), diagonal(one, ranges)
    formula = one.strategy.range_variances(Ranges.of(one.cells, ranges), one.real_noise)
    stated = range_squares(one, ranges, STATED, source)
    pilot = range_squares(one, ranges, PILOT, source)
    size = _batch((pilot / exact).mean(axis=1))
    batches = [range_squares(one, ranges, size, source).mean(axis=0) for _ in range(BATCHES)]
    own = {"strategy": one.name, "loss": one.loss, "cells": one.cells}
    errors = stated.std(axis=0, ddof=1) / math.sqrt(STATED)
    table, rows = [], []
    for index, asked in enumerate(ranges):
        place = own | {"range": index + 1, "left": asked.left, "right": asked.right}
        place |= {"length": asked.right - asked.left + 1, "predicted": exact[index], "diagonal": alone[index]}
        measured, error = stated[:, index].mean(), errors[index]
        ends = {"bottom": max(measured - error, measured / 2), "top": measured + error}  # one standard error
        table.append(place | {"formula": formula[index], "measured": measured, "runs": STATED} | ends)
        rows += [place | {"measured": mean[index], "run": run, "draws": size} for run, mean in enumerate(batches)]
    as_stated = [
        own | {"run": run, "predicted": 1.0, "measured": ratio}
        for run, ratio in enumerate((stated / exact).mean(axis=1))
    ]
    return {"table_1": table, "experiment_1_stated": as_stated, "experiment_1": rows}


def experiment_2(one: Subject, source: rng.Generator) -> dict[str, list[Row]]:
    """Return the means over all ranges: of the document's runs, and of batches of many more."""
    exact = one.mean_variance
    stated = all_ranges_squares(one, STATED, source)
    size = _batch(all_ranges_squares(one, PILOT, source) / exact)
    own = {"strategy": one.name, "loss": one.loss, "cells": one.cells, "predicted": exact}
    more = [all_ranges_squares(one, size, source).mean() for _ in range(BATCHES)]
    return {
        "experiment_2_stated": [own | {"run": run, "measured": value} for run, value in enumerate(stated)],
        "experiment_2": [own | {"run": run, "measured": value, "draws": size} for run, value in enumerate(more)],
    }


def _batch(ratios: np.ndarray) -> int:
    """Return the runs of a batch, of which all together give the ratio its standard error."""
    return math.ceil((float(ratios.std(ddof=1)) / TARGET) ** 2 / BATCHES)


def sizes(one: Subject, source: rng.Generator) -> dict[str, list[Row]]:
    """Return the mean variance over all ranges with real-valued noise, and how many times the lower bound it is."""
    del source
    own = {"strategy": one.name, "loss": one.loss, "cells": one.cells}
    mean = one.strategy.average_variance(one.real_noise)
    return {"sizes": [own | {"mean_variance": mean, "lower_bound": one.bound, "over_bound": mean / one.bound}]}


def lengths(cells: int, loss: str) -> list[Row]:
    """Return the variance of every strategy with real-valued noise, averaged over the ranges of a length."""
    rows = []
    for one in serving(cells, loss):
        for length in [1 << level for level in range(cells.bit_length())]:
            mean = float(np.mean(one.strategy.range_variances(RangesOfLength(cells, length).ranges(), one.real_noise)))
            rows.append({"strategy": one.name, "loss": loss, "cells": cells, "length": length, "mean_variance": mean})
    return rows


def indices() -> list[Row]:
    """Return the accuracy index at finite numbers of cells as a part of its limit."""
    rows = []
    for height in (5, 10, 15, 20, 60, 300):
        for name in CONSISTENT:
            one = subject(name, "epsilon = 1", 1 << 5).strategy
            strategy = type(one)(1 << height)
            index = height**3 / (strategy.map.sensitivity(1, ADD) ** 2 * strategy.average_variance([1.0]))
            row = {"strategy": name, "cells": f"2^{height}", "index": index, "limit": strategy.accuracy_index}
            rows.append(row | {"of_limit": index / strategy.accuracy_index})
    return rows


def tasks(setting: Setting) -> list[Task]:
    """Return every task, the longest first."""
    found = [
        Task(experiment=experiment, strategy=one.name, loss=one.loss, cells=cells, seconds=setting.seconds)
        for experiment, all_cells in (
            ("experiment 1", [setting.cells]),
            ("experiment 2", [1 << height for height in reversed(setting.heights)]),
        )
        for cells in all_cells
        for one in subjects(cells).values()
    ]
    for cells in setting.sizes:
        named = [(one.name, one.loss) for loss in LOSSES for one in serving(cells, loss)]
        named += [(SEARCH, "epsilon = 1")] if cells in setting.searched else []
        found += [
            Task(experiment="sizes", strategy=name, loss=loss, cells=cells, seconds=setting.seconds)
            for name, loss in named
        ]
    return found


def tables(quick: bool) -> dict[str, list[Row]]:  # noqa: FBT001  # the driver's signature
    """Return the tables of all experiments."""
    setting = QUICK if quick else Setting()
    found = driver.parallel(run, tasks(setting))
    found["lengths"] = [row for loss in LOSSES for row in lengths(LENGTHS, loss)]
    found["indices"] = indices()
    return found


PAPER = driver.Paper(name="ranges", data=(), tables=tables, claims=claims, draw=draw)

if __name__ == "__main__":
    sys.exit(driver.main(PAPER, __doc__ or ""))
