"""Numbers from devices: distributions by the flat oracle's, means by the published mechanisms', as JSON.

python bench/devices_numbers.py [USERS] > devices_numbers.json

USERS people (10^5 unless given) are drawn from Adult's ages and hours under $DPRESS_DATA, from log-normal incomes and
from made-up times of pick-ups with three peaks; RUNS runs at epsilon 1. "wasserstein" is the mean distance of the
fitted distribution from that of the people, in widths of the bounds; "flat" that of oue (Norm-Sub) over 1,024 bins,
whose reports are drawn by count: the same in distribution. "mean_by_published" is the exact
variance of our mean by the least of Duchi's bit, the piecewise and the hybrid mechanism (Wang et al. 2019) for these
people: "planned" of what a plan takes for numbers that lie evenly, "assumed" where it is told their mean and spread.
The last row has the distances on the circle, in rounds.
"""

import json
import math
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from cases import data, say
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import seeded
from dpress.inference.numbers.fitted_distribution import distribution
from dpress.inference.postprocess import norm_sub
from dpress.mechanisms.numbers.circular_wave import CircularWave
from dpress.mechanisms.numbers.piecewise import best_window
from dpress.mechanisms.numbers.square_wave import SquareWave, windows_of_means
from machine import facts

RUNS, EPSILON, BINS, LEVELS = 3, 1.0, 1024, 512
Levels = npt.NDArray[Any]


def people(name: str, users: int, random: Any) -> tuple[Levels, int]:
    """Return levels of people, and how many levels there are."""
    if name in ("age", "hours_per_week"):
        low, high = {"age": (17, 90), "hours_per_week": (1, 99)}[name]
        values = pq.read_table(data("adult/adult.parquet"), columns=[name])[name].to_numpy().astype(int)
        return (random.choice(values, users) - low).astype(np.int32), high - low + 1
    if name == "income":
        share = np.minimum(np.exp(random.normal(10.3, 0.8, users)), 199_999.0) / 200_000
    else:
        peaks = random.choice([8.5, 18.0, 21.0], users, p=[0.35, 0.4, 0.25])
        share = (peaks + random.normal(0, 1.5, users)) % 24 / 24
    return (share * LEVELS).astype(np.int32), LEVELS


def wasserstein(shares: Any, levels: Levels) -> float:
    """Return the distance of a distribution from that of people, in widths."""
    truth = np.bincount(levels, minlength=shares.size) / levels.size
    return float(np.abs(np.cumsum(shares - truth)).sum() / shares.size)


def round_circle(shares: Any, levels: Levels) -> float:
    """Return the same on the circle, in rounds: cumulative differences, less their median (Rabin, Delon, Gousseau)."""
    truth = np.bincount(levels, minlength=shares.size) / levels.size
    ahead = np.cumsum(shares - truth)
    return float(np.abs(ahead - np.median(ahead)).mean())


def circle(users: int) -> dict[str, Any]:
    """Return distances on the circle of pick-ups: of the wave that goes round, the one that does not, and flat."""
    random, found = np.random.default_rng(7), {}  # noqa: TID251  # people, and the peer's reports
    levels, size = people("pickup", users, random)
    loss, rng = PureDP(epsilon=EPSILON), seeded(3)
    for name, own in (
        ("circular_wave", CircularWave(levels=size, loss=loss)), ("square_wave", SquareWave(levels=size, loss=loss)),
    ):  # fmt: skip
        fits = [distribution(own.map, own.tally(own.perturb(levels, rng=rng))[None]) for _ in range(RUNS)]
        found[name] = round(float(np.mean([round_circle(one.shares[0], levels) for one in fits])), 5)
    q, held, flat = 1 / (math.exp(EPSILON) + 1), np.bincount(levels, minlength=size), []
    for _ in range(RUNS):
        counts = (random.binomial(held, 0.5) + random.binomial(users - held, q) - users * q) / (0.5 - q)
        flat.append(round_circle(norm_sub(counts, users=users) / users, levels))
    return {"attribute": "pickup, on the circle", "users": users, **found, "flat": round(float(np.mean(flat)), 5)}


def published(levels: Levels, size: int) -> float:
    """Return the least variance of the published mechanisms by one user, in half widths squared."""
    square, half, whole = float(((2 * levels / (size - 1) - 1) ** 2).mean()), math.exp(EPSILON / 2), math.exp(EPSILON)
    bit = ((whole + 1) / (whole - 1)) ** 2 - square
    piecewise = square / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)
    return min(bit, piecewise, piecewise * (1 - 1 / half) + bit / half)


def row(name: str, users: int) -> dict[str, Any]:
    """Return the figures of one attribute."""
    random = np.random.default_rng(7)  # noqa: TID251  # people, and the peer's reports
    levels, size = people(name, users, random)
    loss, rng = PureDP(epsilon=EPSILON), seeded(3)
    own = SquareWave(levels=size, loss=loss)
    found = [distribution(own.map, own.tally(own.perturb(levels, rng=rng))[None]) for _ in range(RUNS)]
    q, binned = 1 / (math.exp(EPSILON) + 1), levels.astype(np.int64) * BINS // size
    held, flat = np.bincount(binned, minlength=BINS), []
    for _ in range(RUNS):
        counts = (random.binomial(held, 0.5) + random.binomial(users - held, q) - users * q) / (0.5 - q)
        flat.append(wasserstein(norm_sub(counts, users=users) / users, binned))
    place = 2 * levels / (size - 1) - 1
    mean, spread, least = float(place.mean()), float(place.var()), published(levels, size)
    windows = windows_of_means(size, 1, EPSILON, mean * (size - 1) / 2, spread * (size - 1) ** 2 / 4)
    noise = windows / (size - 1) ** 2 * 4 - spread  # by window
    bit = 1 / math.tanh(EPSILON / 2) ** 2 - float((place**2).mean())
    even = float(noise[best_window(size, 1, EPSILON) - 1])
    means = {"planned": round(even / least, 4), "assumed": round(min(float(noise.min()), bit) / least, 4)}
    ours = float(np.mean([wasserstein(one.shares[0], levels) for one in found]))
    return {
        "attribute": name, "users": users, "levels": size, "wasserstein": round(ours, 5),
        "flat": round(float(np.mean(flat)), 5), "ratio": round(ours / float(np.mean(flat)), 3),
        "evened": [one.evened for one in found], "mean_by_published": means,
    }  # fmt: skip


def main() -> None:
    """Write the figures of every attribute."""
    users = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rows = []
    for name in ("age", "hours_per_week", "income", "pickup"):
        rows.append(row(name, users))
        say(str(rows[-1]))
    rows.append(circle(users))
    say(str(rows[-1]))
    json.dump({"machine": facts(), "rows": rows}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
