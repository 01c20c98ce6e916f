"""Error of ranges and boxes on real counts against the prediction, as JSON.

python bench/ranges.py > ranges.json

Reads $DPRESS_DATA, by default `../shared/data`: the DPBench histograms (Hay et al. 2016) of 4096 cells and of 256 x 256
cells, and Adult's age x hours per week (74 x 99 cells). Of the two-dimensional histograms blocks of 4 x 4 cells are
added up, which leaves 64 x 64 cells and every row. Progress goes to standard error.

Every strategy measures every histogram RUNS times and answers the same random boxes. The error of one run is the mean
over the boxes of (error^2 / predicted variance), whose expectation is 1: "ratio" is its mean over the runs,
"standard_error" comes from the spread of the runs of one strategy over all histograms of one shape, and
z = (ratio - 1) / standard_error.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from cases import Case, cases, data, random_ranges, say
from dpress.core.basics import rng
from dpress.inference.box_sums import box_sums
from machine import facts

ONE, TWO, ADULT = "dpbench/dpbench_1d_4096.npz", "dpbench/dpbench_2d_256.npz", "adult/adult.parquet"
BLOCK = 4
AGES, HOURS = (17, 90), (1, 99)
RUNS, BOXES = 100, 100
FAR = 4.5
Row = dict[str, Any]
Counts = npt.NDArray[np.int64]


def histograms() -> Iterator[dict[str, Counts]]:
    """Yield the histograms that are there, those of one shape together."""
    if path := data(ONE):
        with np.load(path) as tables:
            yield {name: tables[name].astype(np.int64) for name in tables.files}
    if path := data(TWO):
        with np.load(path) as tables:
            yield {name: coarse(tables[name].astype(np.int64)) for name in tables.files}
    if path := data(ADULT):
        rows = pq.read_table(path, columns=["age", "hours_per_week"])
        ages, hours = (column.to_numpy() for column in rows.columns)
        edges = [np.arange(low, high + 2) for low, high in (AGES, HOURS)]
        yield {"ADULT age x hours": np.histogram2d(ages, hours, edges)[0].astype(np.int64)}


def coarse(table: Counts) -> Counts:
    """Return the sums of blocks of cells."""
    rows, columns = (size // BLOCK for size in table.shape)
    return np.asarray(table.reshape(rows, BLOCK, columns, BLOCK).sum(axis=(1, 3)))


def accuracy(tables: dict[str, Counts], source: rng.Generator) -> list[Row]:
    """Return measured over predicted squared error on histograms of one shape, for every strategy."""
    shape = next(iter(tables.values())).shape
    boxes = [random_ranges(size, BOXES, source) for size in shape]
    out: list[Row] = []
    for one in cases(shape):
        say(f"accuracy: {'x'.join(map(str, shape))} cells, {one.name}, {one.loss}")
        exact, decoder = one.variances(boxes), one.decoder
        rows, spreads = [], []
        for name, table in tables.items():
            truth, flat = box_sums(table, boxes), table.ravel()
            noisy = [one.mechanism.measure(flat, rng=source) for _ in range(RUNS)]
            squares = np.array([decoder.box_answers(each, boxes) - truth for each in noisy]) ** 2
            spreads.append((squares / exact).mean(axis=1))
            rows.append(_row(one, name, table, exact, squares))
        error = float(np.mean([ratios.var(ddof=1) for ratios in spreads]) / RUNS) ** 0.5
        for row, ratios in zip(rows, spreads, strict=True):
            ratio = float(ratios.mean())
            out.append(row | {"ratio": ratio, "standard_error": error, "z": (ratio - 1) / error})
    return out


def _row(one: Case, name: str, table: Counts, exact: npt.NDArray[np.float64], squares: npt.NDArray[np.float64]) -> Row:
    row: Row = {"histogram": name, "shape": list(table.shape), "rows": int(table.sum())}
    row |= {"strategy": one.name, "loss": one.loss}
    return row | {"predicted_mse": float(exact.mean()), "measured_mse": float(squares.mean())}


def pooled(rows: list[Row]) -> list[Row]:
    """Return the ratio of every strategy over all histograms of one shape, with its sampling error."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault(("x".join(map(str, row["shape"])), row["strategy"], row["loss"]), []).append(row)
    out = []
    for (shape, strategy, loss), own in groups.items():
        ratio = float(np.mean([row["ratio"] for row in own]))
        error = own[0]["standard_error"] / len(own) ** 0.5
        row = {"shape": shape, "strategy": strategy, "loss": loss, "histograms": len(own)}
        row |= {"predicted_mse": own[0]["predicted_mse"], "ratio": ratio, "standard_error": error}
        out.append(row | {"z": (ratio - 1) / error})
    return out


def main() -> int:
    """Print one JSON object; return 1 if a measured error lies too far from its prediction."""
    source = rng.seeded(4096)
    rows = [row for tables in histograms() for row in accuracy(tables, source)]
    if not rows:
        missing = f"no histograms: set DPRESS_DATA to the folder that holds {ONE}"
        say(missing)
        print(json.dumps({"skipped": missing}))
        return 0
    worst = max(abs(row["z"]) for row in rows)
    out = {"machine": facts(), "runs": RUNS, "boxes": BOXES, "largest_z": worst, "pooled": pooled(rows)}
    json.dump(out | {"accuracy": rows}, sys.stdout, indent=2)
    print()
    return 0 if worst <= FAR else 1


if __name__ == "__main__":
    sys.exit(main())
