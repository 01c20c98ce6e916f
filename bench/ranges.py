"""Error of ranges on real counts against the prediction, and the speed of exact errors, as JSON.

python bench/ranges.py > ranges.json

Reads the one-dimensional DPBench histograms of 4096 cells (Hay et al. 2016) from $DPRESS_DATA, a file or the folder
that holds `dpbench/dpbench_1d_4096.npz`; by default the folder `../shared/data`. Progress goes to standard error.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress import catalog
from dpress.core import rng
from dpress.core.claim import ZCDP, PureDP
from dpress.core.errors import NotSupported
from dpress.core.measurement import Measurement
from dpress.core.mechanism import RangeStrategy
from dpress.core.workload import AllRanges, Range
from dpress.mechanisms.linear.binary_tree import Cover
from dpress.mechanisms.linear.boost import Boost
from dpress.mechanisms.linear.privelet import Privelet
from dpress.mechanisms.matrix_mechanism import MatrixMechanism
from machine import facts

DATA = "../shared/data"
NAME = "dpbench/dpbench_1d_4096.npz"
LOSSES: dict[str, PureDP | ZCDP] = {"epsilon = 1": PureDP(epsilon=1), "rho = 0.5": ZCDP(rho="0.5")}
RUNS, RANGES = 40, 100
LARGE, HUGE = 1 << 20, 1 << 60
DENSE = (256, 1024)
REPEATS = 5
Array = npt.NDArray[np.float64]


def find() -> Path | None:
    """Return the file of histograms, None where it is absent."""
    given = Path(os.environ.get("DPRESS_DATA", DATA))
    path = given if given.suffix == ".npz" else given / NAME
    return path if path.is_file() else None


def strategies(cells: int) -> Iterator[tuple[str, str, MatrixMechanism]]:
    """Yield every strategy over ranges under the first loss that it accepts."""
    for name, card in catalog.cards().items():
        for words, loss in LOSSES.items() if card.strategy is not None else ():
            try:
                strategy = card.strategy(AllRanges(cells), loss)
                if not isinstance(strategy, RangeStrategy):
                    continue
                mechanism = MatrixMechanism(strategy=strategy, loss=loss)
                mechanism.noises  # noqa: B018  # raises where the strategy refuses the loss
            except NotSupported:
                continue
            yield name, words, mechanism
            break


def random_ranges(cells: int, number: int, source: rng.Generator) -> list[Range]:
    """Return ranges, each equally likely."""
    first = source.words(number) % np.uint64(cells + 1)
    second = source.words(number) % np.uint64(cells)
    second += second >= first
    return [Range(min(a, b) + 1, max(a, b)) for a, b in zip(first.tolist(), second.tolist(), strict=True)]


def answers(mechanism: MatrixMechanism, measurement: Measurement, ranges: list[Range]) -> Array:
    """Return the answers to the ranges."""
    decoder = mechanism.strategy.decoder
    if isinstance(decoder, Cover):
        return np.array([decoder.answer(measurement, [one.weights(decoder.map.cells)]) for one in ranges])
    sums = np.concatenate([np.zeros(1), np.cumsum(decoder.estimate(measurement)[0])])
    return np.asarray(sums[[one.right for one in ranges]] - sums[[one.left - 1 for one in ranges]])


def accuracy(path: Path) -> list[dict[str, Any]]:
    """Return measured over predicted squared error on every histogram, for every strategy."""
    rows, source = [], rng.seeded(4096)
    with np.load(path) as tables:
        counts = {name: tables[name].astype(np.int64) for name in tables.files}
    cells = len(next(iter(counts.values())))
    ranges = random_ranges(cells, RANGES, source)
    for method, loss, mechanism in strategies(cells):
        say(f"accuracy: {method}")
        decoder = mechanism.strategy.decoder
        exact = np.array([decoder.query_variance(mechanism.variance, [one.weights(cells)]) for one in ranges])
        for name, table in counts.items():
            sums = np.concatenate([[0], np.cumsum(table)])
            truth = sums[[one.right for one in ranges]] - sums[[one.left - 1 for one in ranges]]
            runs = [answers(mechanism, mechanism.measure(table, rng=source), ranges) - truth for _ in range(RUNS)]
            ratios = (np.array(runs) ** 2 / exact).mean(axis=1)
            row = {"histogram": name, "rows": int(table.sum()), "strategy": method, "loss": loss}
            row |= {"predicted_mse": exact.mean(), "measured_mse": float(np.mean(np.array(runs) ** 2))}
            row |= {"ratio": ratios.mean(), "standard_error": ratios.std(ddof=1) / np.sqrt(RUNS)}
            rows.append(row)
    return rows


def pooled(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the ratio of every strategy over all histograms, with its sampling error."""
    out = {}
    for name in dict.fromkeys(row["strategy"] for row in rows):
        own = [row for row in rows if row["strategy"] == name]
        error = np.sqrt(sum(row["standard_error"] ** 2 for row in own)) / len(own)
        out[name] = {"ratio": float(np.mean([row["ratio"] for row in own])), "standard_error": float(error)}
    return out


def seconds(call: Callable[[], object]) -> float:
    """Return the median time of a call that ran once before."""
    call()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def exact_errors() -> dict[str, float]:
    """Return how many ranges of 2^60 cells are priced exactly in a second under `privelet`."""
    say("speed: exact errors at 2^60 cells")
    ranges = random_ranges(HUGE, 1000, rng.seeded(60))
    strategy = Privelet(HUGE)
    taken = seconds(lambda: [strategy.range_coefficient(one) for one in ranges])
    return {"cells": HUGE, "ranges_per_second": len(ranges) / taken}


def publishing() -> list[dict[str, Any]]:
    """Return the seconds to measure and to reconstruct 2^20 cells, for every strategy."""
    rows, source, table = [], rng.secure(), np.arange(LARGE) % 100
    for name, loss, mechanism in strategies(LARGE):
        say(f"speed: 2^20 cells, {name}")
        try:
            noisy = mechanism.measure(table, rng=source)
            measure = seconds(lambda m=mechanism: m.measure(table, rng=source))  # type: ignore[misc]
            estimate = seconds(lambda m=mechanism, y=noisy: m.strategy.decoder.estimate(y))  # type: ignore[misc]
        except NotSupported:
            continue
        rows.append({"strategy": name, "loss": loss, "measure_seconds": measure, "estimate_seconds": estimate})
    return rows


def against_dense() -> list[dict[str, Any]]:
    """Return the time of NumPy's dense least squares, by SVD and by normal equations, over that of the two passes."""
    rows = []
    for cells in DENSE:
        say(f"speed: dense least squares, {cells} cells")
        strategy = Boost(cells)
        matrix = np.array([strategy.map.apply(cell) for cell in np.eye(cells)]).T
        mechanism = MatrixMechanism(strategy=strategy, loss=PureDP(epsilon=1))
        noisy = mechanism.measure(np.arange(cells) % 100, rng=rng.seeded(cells))
        dense = np.linalg.lstsq(matrix, noisy.answers, rcond=None)[0]
        away = float(np.max(np.abs(dense - strategy.decoder.estimate(noisy)[0])))
        slow = seconds(lambda a=matrix, y=noisy.answers: np.linalg.lstsq(a, y, rcond=None))  # type: ignore[misc]
        fast = seconds(lambda s=strategy, y=noisy: s.decoder.estimate(y))  # type: ignore[misc]
        gram = seconds(lambda a=matrix, y=noisy.answers: np.linalg.solve(a.T @ a, a.T @ y))  # type: ignore[misc]
        row = {"cells": cells, "lstsq_seconds": slow, "normal_equations_seconds": gram, "dpress_seconds": fast}
        row |= {"lstsq_ratio": slow / fast, "normal_equations_ratio": gram / fast}
        rows.append(row | {"largest_difference": away})
    return rows


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    path = find()
    if path is None:
        missing = f"no histograms: set DPRESS_DATA to {Path(NAME).name} or to the folder that holds {NAME}"
        say(missing)
        print(json.dumps({"skipped": missing}))
        return
    rows = accuracy(path)
    out = {"machine": facts(), "runs": RUNS, "ranges": RANGES, "pooled": pooled(rows), "accuracy": rows}
    out |= {"exact_errors": exact_errors(), "publishing": publishing(), "dense_least_squares": against_dense()}
    json.dump(out, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
