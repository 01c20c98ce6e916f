"""The search for `mechanisms.linear.hat_functions.LEVELS`: hats that suit all ranges under epsilon, size by size.

python bench/searched_ranges.py [CELLS ...] > searched_ranges.json

A line for every size that is searched (left out, those of LEVELS): "levels" as they stand in that file, the mean
variance of all ranges at epsilon 1 that they have, that of LEVELS as they are shipped, and, where a size has them, the
figures of HDMM's own search and of `optimise` from hats, which moves every weight for itself. All exact, no data is
read. The shape of hats is found by BFGS, their number by steps of a fifth up and down, which shrink. Takes minutes a
size from 1,024 cells on. Progress goes to standard error.
"""

import json
import sys

import numpy as np
from scipy.optimize import minimize

from cases import say
from dpress.core.maps.linear import Array
from dpress.mechanisms.linear.hat_functions import LEVELS, Level, hats_of
from dpress.mechanisms.linear.optimise import RangesGram, mean_coefficient, optimise
from machine import facts

HDMM = {1024: 121.1, 4096: 204.8}  # McKenna, Miklau, Hay and Machanavajjhala 2018: their program, minutes
START = Level(1, 1.2, 0.98, 0.9, 0.0, 0.0)
TWO = 600  # cells, from which on hats of two widths are better
STEP = 1e-5
SECONDS = 60.0


def theta(levels: tuple[Level, ...], cells: int) -> Array:
    return np.concatenate([level.theta(cells) for level in levels])


def variance(hats: Array) -> float:
    """Return the mean variance of all ranges at epsilon 1, for real-valued noise."""
    return 2 * mean_coefficient(hats, RangesGram(hats.shape[1]))[0]


def shaped(levels: tuple[Level, ...], cells: int) -> tuple[float, tuple[Level, ...]]:
    """Return the best shapes of so many hats, and their mean variance."""
    numbers, gram = [level.hats for level in levels], RangesGram(cells)

    def read(flat: Array) -> tuple[Level, ...]:
        rows = flat.reshape(len(numbers), 5)
        return tuple(
            Level(number, *np.exp(row[:3]).tolist(), *row[3:].tolist())
            for number, row in zip(numbers, rows, strict=True)
        )

    def error(flat: Array) -> tuple[float, Array]:
        value, gradient = mean_coefficient(theta(read(flat), cells), gram)
        moves = STEP * np.eye(flat.size)
        changes = [theta(read(flat + move), cells) - theta(read(flat - move), cells) for move in moves]
        return np.log(value), np.array([np.vdot(gradient, change) for change in changes]) / (2 * STEP * value)

    start = np.ravel([[*np.log(level[1:4]), *level[4:]] for level in levels])
    found = minimize(error, start, jac=True, method="BFGS", options={"maxiter": 25, "gtol": 1e-4})
    return 2 * float(np.exp(found.fun)), read(found.x)


def searched(cells: int) -> tuple[float, tuple[Level, ...]]:
    """Return the best levels, from about the numbers of hats that suit so many cells."""
    first = max(1, cells // (16 if cells > TWO else 20))
    numbers = (first, max(1, cells // 270)) if cells > TWO else (first,)
    best = shaped(tuple(START._replace(hats=number) for number in numbers), cells)
    step, tried = 1.2, {numbers}
    while step > 1.04:
        before = best[0]
        for place in range(len(numbers)):
            for factor in (step, 1 / step):
                now = [level.hats for level in best[1]]
                moved = round(now[place] * factor)
                now[place] = max(1, moved if moved != now[place] else now[place] + (1 if factor > 1 else -1))
                if tuple(now) not in tried:
                    tried.add(tuple(now))
                    levels = tuple(level._replace(hats=number) for level, number in zip(best[1], now, strict=True))
                    best = min(best, shaped(levels, cells), key=lambda pair: pair[0])
        step = step if best[0] < before * (1 - 1e-5) else 1 + (step - 1) / 2
    return best


def row(cells: int) -> dict[str, object]:
    say(f"searched ranges: {cells} cells")
    found, levels = searched(cells)
    free = optimise(RangesGram(cells), [theta(levels, cells)], seconds=SECONDS)
    return {
        "cells": cells,
        "levels": [[level.hats, *(round(number, 3) for number in level[1:])] for level in levels],
        "searched": found,
        "shipped": variance(hats_of(cells)),
        "every weight": 2 * free.coefficient,
        "HDMM": HDMM.get(cells),
    }


def main() -> None:
    """Print one JSON object."""
    sizes = [int(text) for text in sys.argv[1:]] or [*LEVELS]
    json.dump({"machine": facts(), "sizes": [row(cells) for cells in sizes]}, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
