"""The experiments of "Error analysis of differentially private data publication under the matrix mechanism".

make reproduce PAPER=ranges        (python papers/ranges.py [--quick] [--out FOLDER])

Writes tables (CSV) and figures (SVG, PNG) to out/papers/ranges/ and prints a line for every claim; exit 1 if one fails.
Only noise is drawn: the error of an answer does not depend on the data, so every table here is empty.
"""

import argparse
import csv
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import range_claims
from range_answers import all_ranges_mse, range_errors
from range_figures import draw

from dpress import catalog
from dpress.core import rng
from dpress.core.claim import ZCDP, PureDP, Relation
from dpress.core.errors import NotSupported
from dpress.core.mechanism import RangeStrategy
from dpress.core.ranges import AllRanges, Range, Ranges
from dpress.core.workload import Boxes
from dpress.inference.lower_bound import lower_bound
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.product import box_variances
from dpress.release.strategies import mean_variance

LOSSES: dict[str, PureDP | ZCDP] = {"epsilon = 1": PureDP(epsilon=1), "rho = 0.5": ZCDP(rho="0.5")}
RUNS = 100  # the document's
SEED = 2018
ADD = Relation.ADD_REMOVE
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How large the experiments are.

    Args:
        cells: of experiment 1.
        ranges: random ranges of experiment 1.
        runs: of experiment 1; the first 100 make its table, all of them its check.
        heights: log2 of the cells of experiment 2.
        sizes: cells of the table of strategies.
        scale: multiplies every prediction; anything but 1 is a planted fault.
    """

    cells: int = 1024
    ranges: int = 50
    runs: int = 3000
    heights: Sequence[int] = tuple(range(11))
    sizes: Sequence[int] = (64, 256, 1024, 4096)
    scale: float = 1.0


QUICK: Row = {"cells": 64, "ranges": 20, "runs": 2500, "heights": tuple(range(6)), "sizes": (64, 256)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A strategy under the first loss that it accepts."""

    name: str
    loss: str
    mechanism: MatrixMechanism

    @property
    def formula(self) -> float | None:
        """The document's factor 2 D^2 / epsilon^2, for real-valued Laplace noise; None under rho."""
        return 2.0 * self.mechanism.strategy.map.sensitivity(1, ADD) ** 2 if self.loss == "epsilon = 1" else None

    @property
    def chosen(self) -> RangeStrategy:
        """The strategy, which has exact errors of ranges."""
        strategy = self.mechanism.strategy
        if not isinstance(strategy, RangeStrategy):
            raise NotSupported(f"{self.name} has no exact errors of ranges")
        return strategy

    @property
    def unit(self) -> list[float]:
        """The variance of every part of the map where noise of equal scale on all answers has variance one.

        A part of sensitivity D_i with the share s_i has ((D_i / s_i) / D)^2 under epsilon, D that of the whole map; a
        map in one part has 1.
        """
        parts = self.mechanism.parts
        if len(parts) == 1:
            return [1.0]
        whole = self.mechanism.strategy.map.sensitivity(1, ADD)
        pairs = zip(parts, self.mechanism.shares, strict=True)
        return [float(part.sensitivity(1, ADD) / share / whole) ** 2 for part, share in pairs]


def serving(cells: int, losses: Iterable[str]) -> Iterator[Subject]:
    """Yield every strategy of the catalogue that serves all ranges, under each of the losses that it accepts."""
    for name, card in catalog.cards().items():
        for loss in losses if card.strategy is not None else ():
            try:
                strategy = card.strategy(Boxes((AllRanges(cells),)), LOSSES[loss])
                if not isinstance(strategy, RangeStrategy):
                    continue
                mechanism = MatrixMechanism(strategy=strategy, loss=LOSSES[loss])
                mean_variance(mechanism, Boxes((AllRanges(cells),)))
            except NotSupported:
                continue
            yield Subject(name=name, loss=loss, mechanism=mechanism)


def subjects(cells: int) -> list[Subject]:
    """Return every strategy once: under epsilon = 1, or, where it refuses that, under rho = 0.5."""
    found: dict[str, Subject] = {}
    for one in serving(cells, LOSSES):
        found.setdefault(one.name, one)
    return list(found.values())


def random_ranges(cells: int, number: int, source: rng.Generator) -> list[Range]:
    """Return ranges, each equally likely: two different borders of the n + 1."""
    first = source.words(number) % np.uint64(cells + 1)
    second = source.words(number) % np.uint64(cells)
    second += second >= first
    return [Range(min(a, b) + 1, max(a, b)) for a, b in zip(first.tolist(), second.tolist(), strict=True)]


def predicted(mechanism: MatrixMechanism, ranges: Sequence[Range]) -> np.ndarray:
    """Return the exact variance of every range under the noise that is drawn, shape (ranges,)."""
    drawn = [noise.variance for noise in mechanism.noises]
    return box_variances(mechanism.strategy, [Ranges.of(mechanism.strategy.map.cells, ranges)], drawn)


def experiment_1(setting: Setting, source: rng.Generator) -> tuple[list[Row], list[Row]]:
    """Return a row for every strategy and range, and a row for every strategy with the mean over the ranges."""
    ranges = random_ranges(setting.cells, setting.ranges, source)
    rows, checks = [], []
    for one in subjects(setting.cells):
        _say(f"experiment 1: {one.name}")
        zero = np.zeros(setting.cells, dtype=np.int64)
        noisy = [one.mechanism.measure(zero, rng=source) for _ in range(setting.runs)]
        squares = range_errors(one.mechanism, noisy, ranges) ** 2
        exact = predicted(one.mechanism, ranges) * setting.scale
        coefficients = one.chosen.range_variances(Ranges.of(setting.cells, ranges), one.unit)
        cell = one.mechanism.strategy.decoder.cell_variances(one.mechanism.variance)[0]
        for index, asked in enumerate(ranges):
            coefficient = coefficients[index]
            row = {"strategy": one.name, "loss": one.loss, "left": asked.left, "right": asked.right}
            row |= {"length": asked.right - asked.left + 1, "coefficient": coefficient, "predicted": exact[index]}
            row["formula"] = one.formula * coefficient if one.formula else None
            row |= {"diagonal": float(np.sum(cell[asked.left - 1 : asked.right])), "runs": RUNS}
            row |= {"measured": squares[:RUNS, index].mean(), "all_runs": setting.runs}
            rows.append(row | {"measured_all_runs": squares[:, index].mean()})
        ratio = (squares / exact).mean(axis=1)
        checks.append(_check(one, setting.cells, setting.runs, ratio))
        checks[-1]["worst_range"] = max((squares.mean(axis=0) / exact).tolist(), key=lambda r: abs(np.log(r)))
    return rows, checks


def experiment_2(setting: Setting, source: rng.Generator) -> tuple[list[Row], list[Row]]:
    """Return a row for every strategy and number of cells with the mean over all ranges."""
    rows, checks = [], []
    for height in setting.heights:
        cells = 1 << height
        _say(f"experiment 2: {cells} cells")
        zero = np.zeros(cells, dtype=np.int64)
        for one in subjects(cells):
            exact = mean_variance(one.mechanism, Boxes((AllRanges(cells),))) * setting.scale
            measured = np.array(
                [all_ranges_mse(one.mechanism, one.mechanism.measure(zero, rng=source)) for _ in range(RUNS)]
            )
            coefficient = one.chosen.average_variance(one.unit)
            row = {"strategy": one.name, "loss": one.loss, "cells": cells, "coefficient": coefficient}
            row |= {"predicted": exact, "formula": one.formula * coefficient if one.formula else None}
            rows.append(row | {"runs": RUNS, "measured": measured.mean()})
            checks.append(_check(one, cells, RUNS, measured / exact))
    return rows, checks


def _check(one: Subject, cells: int, runs: int, ratios: np.ndarray) -> Row:
    return {
        "strategy": one.name,
        "loss": one.loss,
        "cells": cells,
        "runs": runs,
        "ratio": float(ratios.mean()),
        "standard_error": float(ratios.std(ddof=1) / np.sqrt(runs)),
        "noises": one.mechanism.noises,
    }


def strategies(setting: Setting) -> list[Row]:
    """Return mean variances over all ranges and their ratio to the lower bound, by cells and loss.

    Under epsilon the document's formula 2 D^2 / epsilon^2 times the mean coefficient; under rho the variance of the
    discrete Gaussian noise, which agrees with D2 / (2 rho) to many digits.
    """
    rows = []
    for cells in setting.sizes:
        _say(f"table of strategies: {cells} cells")
        for one in serving(cells, LOSSES):
            variance = mean_variance(one.mechanism, Boxes((AllRanges(cells),)))
            drawn = variance
            if one.formula:
                variance = one.formula * one.chosen.average_variance(one.unit)
            bound = lower_bound(Boxes((AllRanges(cells),)), ADD) * (2 if one.formula else 1)
            row = {"cells": cells, "loss": one.loss, "strategy": one.name, "mean_variance": variance}
            rows.append(row | {"of_the_noise_drawn": drawn, "lower_bound": bound, "ratio": variance / bound})
    return sorted(rows, key=lambda row: (row["cells"], row["loss"], row["mean_variance"]))


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(rows)


def _say(text: str) -> None:
    print(f"{time.perf_counter() - START:6.1f} s  {text}", file=sys.stderr, flush=True)


START = time.perf_counter()


def main() -> int:
    """Run everything; return 1 if a claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small sizes, for tests")
    parser.add_argument("--out", type=Path, default=Path("out/papers/ranges"))
    parser.add_argument("--scale-predicted", type=float, default=1.0, help="plant a fault: scale every prediction")
    chosen = parser.parse_args()
    setting = Setting(**(QUICK if chosen.quick else {}), scale=chosen.scale_predicted)
    chosen.out.mkdir(parents=True, exist_ok=True)
    source = rng.seeded(SEED)
    first, checks_1 = experiment_1(setting, source)
    second, checks_2 = experiment_2(setting, source)
    table = strategies(setting)
    write(chosen.out / "experiment_1.csv", first)
    write(chosen.out / "experiment_2.csv", second)
    write(chosen.out / "strategies.csv", table)
    _say("claims")
    claims = [*range_claims.exact(setting.cells), *range_claims.variances(table)]
    claims += range_claims.measured(checks_1, checks_2, setting.ranges)
    claims += range_claims.diagonal(first)
    write(chosen.out / "claims.csv", [{"holds": one.holds, "claim": one.claim, "found": one.found} for one in claims])
    _say("figures")
    draw(chosen.out, first, second, table)
    for one in claims:
        print(f"{'holds' if one.holds else 'FAILS'}  {one.claim}: {one.found}")
    return 0 if all(one.holds for one in claims) else 1


if __name__ == "__main__":
    sys.exit(main())
