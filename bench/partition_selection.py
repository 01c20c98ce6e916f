"""Names found at equal epsilon and delta: ours, Laplace and Gaussian noise with a threshold, and OpenDP's.

python bench/partition_selection.py > partition-selection.json

Two public lists of names: a Zipf sample, and the words of Python's own documentation (`pydoc_data.topics`), of persons
who have k of them in a row. Expected numbers are exact sums of the chance of every name, OpenDP's a mean of real runs.
Beside these, of persons who have few names or many: what weights find (`weighted_threshold`), as multiples of what the
better of the two selections by flat counts finds; the whole budget for each.
"""

import json
import math
import re
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from pydoc_data import topics
from typing import Any

import numpy as np
import opendp.prelude as dp
from scipy import optimize, special, stats

from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.mechanisms.selection import weighted_threshold
from dpress.mechanisms.selection.above_threshold import TOTAL_SHARE
from dpress.mechanisms.selection.best_selection import selections
from machine import facts

LOSSES = ((1.0, 1e-8), (1.0, 1e-5), (0.1, 1e-8), (3.0, 1e-6))
QUARTER = (0.25, 1e-8)  # what names get of epsilon = 1 where their groups are measured, too
NAMES = (1, 3, 10)  # of a person
RUNS = 10
MOST = 10  # names that a person keeps, where persons differ
PERSONS: dict[str, Callable[[Any], int]] = {
    "all 10": lambda _: 10,
    "4 on average": lambda drawn: int(drawn.geometric(0.25)),
    "9 in 10 have 1, the others 20": lambda drawn: 20 if drawn.random() < 0.1 else 1,
}
ONES = 20_000
ZIPF = {"names": 20_000, "rows": 100_000, "exponent": 1.1, "seed": 41}


def zipf() -> list[str]:
    """Return a sample of names whose frequencies fall as rank^-exponent."""
    weights = np.arange(1, ZIPF["names"] + 1) ** -ZIPF["exponent"]
    drawn = np.random.default_rng(ZIPF["seed"]).choice(len(weights), ZIPF["rows"], p=weights / weights.sum())  # noqa: TID251  # a sample, no noise
    return [f"name {one}" for one in drawn.tolist()]


def words() -> list[str]:
    """Return the words of Python's documentation, in their order."""
    return re.findall(r"[a-z_]+", " ".join(topics.topics.values()).lower())


def persons(texts: Sequence[str], names: int) -> Counter[str]:
    """Return how many persons have each name, a person being so many texts in a row."""
    return Counter(one for start in range(0, len(texts), names) for one in set(texts[start : start + names]))


def ours(counts: np.ndarray, epsilon: float, delta: float, names: int, *, total: bool) -> tuple[float, int]:
    """Return the expected number of names found by the method that `dpress plan` takes, and its even count."""
    loss, unit = ApproxDP(epsilon=epsilon, delta=delta), Unit(column=None if names == 1 else "person", rows=names)
    share = loss.epsilon * TOTAL_SHARE if total else Fraction(0)
    own = next(iter(selections(loss, unit, share).values()))
    chances = {count: float(own.chance(count)) for count in set(counts.tolist())}
    return sum(chances[count] for count in counts.tolist()), own.count_for(Fraction(1, 2))


def laplace(counts: np.ndarray, epsilon: float, delta: float, names: int) -> tuple[float, int]:
    """Discrete Laplace noise of scale k / epsilon, released from T on: k P(1 + X >= T) <= delta."""
    rate = epsilon / names
    threshold = 2 + math.floor(math.log(names / (delta * (1 + math.exp(-rate)))) / rate)
    above = np.exp(-rate * np.abs(threshold - counts)) / (1 + math.exp(-rate))
    below = 1 - np.exp(-rate * np.abs(1 - threshold + counts)) / (1 + math.exp(-rate))
    return float(np.where(counts < threshold, above, below).sum()), threshold


def sigma_for(epsilon: float, delta: float, length: float) -> float:
    """Return the standard deviation of Gaussian noise for a change of so much in L2."""

    def spent(sigma: float) -> float:
        ratio = length / sigma
        low, high = ratio / 2 - epsilon / ratio, -ratio / 2 - epsilon / ratio
        return float(special.ndtr(low) - math.exp(epsilon + special.log_ndtr(high)))

    return float(optimize.brentq(lambda own: math.log(max(spent(own), 1e-300) / delta), 0.05, 1e5))


def gaussian(counts: np.ndarray, epsilon: float, delta: float, names: int) -> tuple[float, int]:
    """Gaussian noise, half of delta by the exact profile (Balle, Wang 2018), half for the threshold; the best split."""

    best = (0.0, 0)
    for share in (0.1, 0.5, 0.9):
        sigma = sigma_for(epsilon, share * delta, math.sqrt(names))
        threshold = 1 + sigma * float(stats.norm.isf((1 - share) * delta / names))
        best = max(best, (float(stats.norm.sf((threshold - counts) / sigma).sum()), math.ceil(threshold)))
    return best


def weights(texts: list[str], epsilon: float, delta: float, persons: str) -> dict[str, float]:
    """Names found by weights, and as a multiple of those that the best of the flat counts finds."""
    drawn, start, lists = np.random.default_rng(ZIPF["seed"]), 0, []  # noqa: TID251  # a sample, no noise
    while start < len(texts):
        names = PERSONS[persons](drawn)
        lists.append(drawn.permutation(sorted(set(texts[start : start + names])))[:MOST].tolist())
        start += names
    loss, unit = ApproxDP(epsilon=epsilon, delta=delta), Unit(column="person", rows=MOST)
    own = weighted_threshold.calibrated(loss, unit)
    flat, weighted = Counter[str](), Counter[str]()
    for one in lists:
        flat.update(one)
        weighted.update(dict.fromkeys(one, own.weights[len(one) - 1]))
    found = sum(float(own.chance(count)) for count in weighted.values())
    plain, _ = ours(np.array([*flat.values()]), epsilon, delta, MOST, total=False)
    return {
        "epsilon": epsilon,
        "delta": delta,
        "weights": round(found, 2),
        "times flat counts": round(found / plain, 2),
    }


def opendp_space() -> tuple[object, object]:
    dp.enable_features("contrib")
    counts = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    return counts, dp.l01inf_distance(dp.absolute_distance(T=int))


def opendp(counts: Counter[str], epsilon: float, delta: float, names: int) -> tuple[float, int]:
    """OpenDP's `make_laplace_threshold`: a mean of real runs.

    Its map takes a name to be released above the threshold, its release takes it from the threshold on (`off_by_one`);
    so that it keeps delta, the threshold is one above the smallest that the map allows.
    """

    def made(threshold: int) -> dp.Measurement:
        return opendp_space() >> dp.m.then_laplace_threshold(scale=names / epsilon * (1 + 1e-9), threshold=threshold)

    def fits(threshold: int) -> bool:
        own = made(threshold).map((names, names, 1))
        return own[0] <= epsilon and own[1] <= delta

    threshold = dp.binary_search(fits, bounds=(1, 10**7)) + 1
    own = made(threshold)
    return statistics.mean(len(own(dict(counts))) for _ in range(RUNS)), threshold


def off_by_one() -> dict[str, float]:
    """What OpenDP's map says of the chance that a name is released which counts 1, and how often it was."""
    own = opendp_space() >> dp.m.then_laplace_threshold(scale=1.0, threshold=4)
    released = own({f"name {one}": 1 for one in range(ONES)})
    return {"delta_of_its_map": own.map((1, 1, 1))[1], "share_released": len(released) / ONES}


def case(texts: list[str], epsilon: float, delta: float, names: int) -> dict[str, object]:
    """Return the names found by every method."""
    counted = persons(texts, names)
    counts = np.array([*counted.values()])
    found = {
        "ours": ours(counts, epsilon, delta, names, total=False),
        "ours with a total": ours(counts, epsilon, delta, names, total=True),
        "laplace threshold": laplace(counts, epsilon, delta, names),
        "gaussian threshold": gaussian(counts, epsilon, delta, names),
        "opendp": opendp(counted, epsilon, delta, names),
    }
    rest = max(own for name, (own, _) in found.items() if not name.startswith("ours"))
    return {
        "epsilon": epsilon,
        "delta": delta,
        "names_of_a_person": names,
        "names_in_the_data": len(counted),
        "found": {name: round(own, 2) for name, (own, _) in found.items()},
        "count_with_an_even_chance": {name: count for name, (_, count) in found.items()},
        "at_least_the_best_peer": found["ours"][0] >= rest * (1 - 1e-9),
    }


def main() -> None:
    """Print everything as JSON."""
    sources = {"zipf": zipf(), "words of Python's documentation": words()}
    cases = {
        source: [case(texts, *loss, names) for loss in LOSSES for names in NAMES] for source, texts in sources.items()
    }
    weighted = {
        source: {name: [weights(texts, *loss, name) for loss in (*LOSSES, QUARTER)] for name in PERSONS}
        for source, texts in sources.items()
    }
    json.dump(
        {
            "machine": facts(),
            "zipf": ZIPF,
            "runs": RUNS,
            "opendp_delta": off_by_one(),
            "cases": cases,
            "weights": weighted,
        },
        sys.stdout,
        indent=2,
    )


if __name__ == "__main__":
    main()
