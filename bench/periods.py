"""Running totals over periods: the standard error of a count of the first t periods, by counter, at one loss, as JSON.

python bench/periods.py > periods.json

A row loses epsilon = 1 over all T periods together, under every counter: "separate" has that for each period, "tree"
and "smooth" divide it among the spans that a row is in, and "each" is the naive way to publish every running total
anew, with epsilon / T each. The variances are exact, of discrete Laplace noise on a count of one cell;
"mean" and "worst" are over t = 1..T. "mean / log2(T)^1.5" stays flat where the squared error grows as the cube of the
logarithm, which Laplace noise makes of it; under rho it is the square: "rho mean / log2(T)".
"""

import json
import math
import sys

import numpy as np

from dpress.core.maps.spans import coefficients, depth, spans
from dpress.noise.laplace import DiscreteLaplace
from machine import facts

PERIODS = (4, 12, 52, 365, 1024)
STEP = 8  # every so many-th total of a long horizon


def shares(counter: str, periods: int) -> list[float]:
    """Return the sum of squares of the coefficients of the first t periods."""
    every, found = spans(counter, periods), []
    for end in range(1, periods + 1, max(1, periods // (64 * STEP) * STEP)):
        own = coefficients([one for one in every if one[1] < end], (np.arange(periods) < end).astype(float))
        if own is None:
            raise ValueError(f"{counter}: the first {end} periods do not add up")
        found.append(float(own @ own))
    return found


def variance(parts: int) -> float:
    """Return the variance of a count under a part of epsilon = 1."""
    return DiscreteLaplace(scale=parts).variance


def main() -> None:
    """Print a row for every horizon and counter."""
    rows = []
    for periods in PERIODS:
        for counter in ("separate", "tree", "smooth"):
            parts, own = depth(spans(counter, periods)), shares(counter, periods)
            errors = [math.sqrt(variance(parts) * share) for share in own]
            rows.append(
                {
                    "periods": periods, "counter": counter, "spans of a row": parts,
                    "mean": round(float(np.mean(errors)), 2), "worst": round(max(errors), 2),
                    "mean / log2(T)^1.5": round(float(np.mean(errors)) / math.log2(periods) ** 1.5, 3),
                    "rho mean / log2(T)": round(float(np.mean(np.sqrt(parts * np.array(own)))) / math.log2(periods), 3),
                }
            )  # fmt: skip
        each = math.sqrt(variance(periods))
        rows.append({"periods": periods, "counter": "each", "mean": round(each, 2), "worst": round(each, 2)})
    json.dump({"machine": facts(), "rows": rows}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
