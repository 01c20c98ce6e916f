"""Ranges from devices: squared error over random ranges, ours by the flat oracle, HIO and AHEAD as published, as JSON.

python bench/devices_ranges.py [USERS...] > devices_ranges.json

Reads the ten one-dimensional DPBench histograms (Hay et al. 2016) under $DPRESS_DATA, by default `../shared/data`, in
1,024 cells (blocks of four). USERS people (10^5 and 10^6 unless given) are drawn from each, RUNS times; all methods see
the same people and RANGES random ranges, at epsilon 1. "ratio" is the mean squared error by that of the flat oracle.

`level_tree` runs as it is published, report by report, and `grown` is method "ahead" in its five rounds; `top_down`,
`posterior` and `grown, top_down` are the same collections after that adjustment. The
peers' reports are drawn by count, which is the same in distribution: a user of OUE who holds a value sets its bit with
1/2, others with 1 / (e + 1). HIO (Wang et al. 2019): branching 5, levels evenly, a range is the sum of its cover.
AHEAD (Du et al. 2021): a binary tree of ten layers asked of as many groups, split where a share exceeds
sqrt(3 Var), Norm-Sub on every layer; a leaf asked again has the mean of its shares; inverse-variance means from the
leaves up; a range is the sum of its cover.
"by the best peer" is of `grown, top_down`, and "in one round" of `top_down`, by the better of HIO and AHEAD.
"predicted" is the plan's mean over all ranges by what `level_tree` has, both per range.

"choice" is the unbiased error of the plan's tree by that of the best candidate as measured, flat or of another
branching, CHOSEN_RUNS collections of CHOSEN_USERS people each, over all ranges that begin or end at one of 64 cuts.
"""

import json
import math
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from cases import data, say
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import seeded
from dpress.core.maps.ranges import AllRanges
from dpress.inference.halves.posterior_counts import posterior_counts
from dpress.inference.postprocess import norm_sub, top_down
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.ranges.ahead_tree import ahead_tree
from dpress.mechanisms.ranges.level_tree import LevelTree, level_tree
from dpress.noise.uniform import below
from machine import facts

CELLS, RUNS, RANGES, EPSILON = 1024, 12, 2000, 1.0
BRANCHINGS, CHOSEN_RUNS, CHOSEN_USERS = (2, 4, 8, 16, 32, CELLS), 30, 10_000
ONE = "dpbench/dpbench_1d_4096.npz"
Counts = npt.NDArray[Any]
Random = np.random.Generator  # noqa: TID251  # of the peers' reports


def oue(held: Counts, users: int, random: Random) -> Counts:
    """Return the estimated counts of OUE over so many users."""
    q = 1 / (math.exp(EPSILON) + 1)
    return (random.binomial(held, 0.5) + random.binomial(users - held, q) - users * q) / (0.5 - q)


def collected(tree: LevelTree, codes: Counts, seed: int) -> tuple[Counts, Any]:
    """Return the cells of our collection, from everybody's report, and what gives the variance of their sums."""
    collection, rng = Collection(shape=tree.shape, types=tree.types, split="users", estimator=tree), seeded(seed)
    drawn = collection.drawn(len(codes), rng=rng)
    tallies = [own.tally(own.perturb(codes[None, drawn == i], rng=rng)) for i, own in enumerate(tree.types)]
    (cells,) = tree.decoder(len(codes)).estimate(tree.measurement(tallies))
    return cells, tree.query_variances(tallies)


def grown(codes: Counts, seed: int) -> Counts:
    """Return the cells of our collection in rounds, from everybody's report in one of them."""
    own, rng = ahead_tree(CELLS, PureDP(epsilon=EPSILON)), seeded(seed)
    rounds = len(own.levels)
    drawn = below(rounds, len(codes), rng=rng)
    for number in range(rounds):
        (asked,) = own.types
        tallies = [asked.tally(asked.perturb(codes[None, drawn == number], rng=rng))]
        (cells,) = own.decoder(len(codes)).estimate(own.measurement(tallies))
        own = own.following(tallies) or own
    return cells


def hio(codes: Counts, ends: Counts, random: Random, branching: int = 5) -> Counts:
    """Return the answers to ranges [low, high) by the nodes that cover them."""
    height = math.ceil(math.log(CELLS, branching))
    level, sums = random.integers(0, height, codes.size), []
    for own in range(height):
        width = branching ** (height - 1 - own)
        held = np.bincount(codes[level == own] // width, minlength=-(-CELLS // width))
        users = int(held.sum())
        sums.append(np.append(0, np.cumsum(oue(held, users, random))) * codes.size / users)

    def cover(own: int, low: int, high: int) -> float:
        if low >= high:
            return 0.0
        width = branching ** (height - 1 - own)
        first, last = -(-low // width), -(-high // width) if high == CELLS else high // width
        if first >= last:
            return cover(own + 1, low, high)
        inside = float(sums[own][last] - sums[own][first])
        return inside + cover(own + 1, low, first * width) + cover(own + 1, min(last * width, high), high)

    return np.array([cover(0, low, high) for low, high in ends.tolist()])


def ahead(codes: Counts, ends: Counts, random: Random) -> Counts:
    """Return the answers to ranges [low, high) by the nodes that cover them; leaves that are cut are spread evenly."""
    height = int(math.log2(CELLS))
    level, starts, widths, split = random.integers(0, height, codes.size), np.zeros(1, int), np.array([CELLS]), [True]
    shares, asked = np.ones(1), np.ones(1)
    theta = math.sqrt(3 * 4 * math.exp(EPSILON) * height / codes.size) / (math.exp(EPSILON) - 1)
    layers: list[tuple[Counts, ...]] = []
    for own in range(height):
        parts = np.where(split, 2, 1)
        above = np.repeat(np.arange(parts.size), parts)
        widths = widths[above] // parts[above]
        starts = np.append(0, np.cumsum(widths)[:-1])
        mine = codes[level == own]
        held = np.bincount(np.searchsorted(starts, mine, side="right") - 1, minlength=starts.size)
        found, before = norm_sub(oue(held, mine.size, random) / mine.size, users=1), asked[above] * (parts[above] == 1)
        shares, asked = (before * shares[above] + found) / (before + 1), before + 1
        layers.append((starts, widths, shares, asked, above))
        split = (before == 0) & (shares >= theta)
    return cover(layers, ends) * codes.size


def cover(layers: list[tuple[Counts, ...]], ends: Counts) -> Counts:
    """Return the shares in ranges, by the highest nodes within: inverse-variance means of a node and its children."""
    starts, widths, shares, asked, above = layers[-1]
    means, spread = [shares], 1 / asked
    for upper in layers[-2::-1]:
        below, its = (np.bincount(above, weights=own, minlength=upper[2].size) for own in (means[0], spread))
        kept = np.bincount(above) == 1
        trust = np.where(kept, 0.0, its / (its + 1 / upper[3]))
        means.insert(0, trust * upper[2] + (1 - trust) * below)
        spread, above = np.where(kept, its, trust / upper[3]), upper[4]
    low, high = ends[:, :1], ends[:, 1:]
    total, inside = np.zeros(len(ends)), np.zeros((len(ends), 1), bool)
    for (starts, widths, _, _, above), own in zip(layers, means, strict=True):
        held, inside = inside[:, above], (starts >= low) & (starts + widths <= high)
        total += (inside & ~held) @ own
    cut = np.clip(np.minimum(starts + widths, high) - np.maximum(starts, low), 0, None) / widths
    return np.asarray(total + np.where(inside, 0.0, cut) @ means[-1])


def row(name: str, held: Counts, users: int) -> dict[str, Any]:
    """Return every method's error on one histogram, by that of the flat oracle."""
    random, tree = np.random.default_rng(users), level_tree(CELLS, PureDP(epsilon=EPSILON), AllRanges(CELLS))  # noqa: TID251  # made-up people
    errors: dict[str, list[float]] = {}
    for run in range(RUNS):
        codes = random.choice(CELLS, size=users, p=held / held.sum()).astype(np.int32)
        truth = np.bincount(codes, minlength=CELLS)
        ends = np.sort(random.integers(0, CELLS, (RANGES, 2)), axis=1) + np.array([0, 1])
        exact = sums(truth, ends)
        (ours, variance), rounds = collected(tree, codes, run), grown(codes, run)
        found = {
            "flat": sums(oue(truth, users, random), ends),
            "level_tree": sums(ours, ends),
            "top_down": sums(top_down(ours, users=users), ends),
            "posterior": sums(posterior_counts(ours, variance, users=users), ends),
            "grown": sums(rounds, ends),
            "grown, top_down": sums(top_down(rounds, users=users), ends),
            "hio": hio(codes, ends, random),
            "ahead": ahead(codes, ends, random),
        }
        for method, answers in found.items():
            errors.setdefault(method, []).append(float(np.mean((answers - exact) ** 2)))
    mean = {method: float(np.mean(own)) for method, own in errors.items()}
    predicted = tree.axis_variance(AllRanges(CELLS), users) / mean["level_tree"]
    ratios = {method: round(own / mean["flat"], 4) for method, own in mean.items()}
    best = min(ratios["hio"], ratios["ahead"])
    say(f"{name} {users:,}: {ratios}")
    return {"histogram": name, "users": users, **ratios, "by the best peer": round(ratios["grown, top_down"] / best, 3),
            "in one round": round(ratios["top_down"] / best, 3), "predicted": round(predicted, 2)}  # fmt: skip


def choice(name: str, held: Counts) -> dict[str, Any]:
    """Return the error of the plan's tree by that of the best candidate, on one histogram."""
    random, axis, loss = np.random.default_rng(1), AllRanges(CELLS), PureDP(epsilon=EPSILON)  # noqa: TID251  # made-up people
    trees = {"plan": level_tree(CELLS, loss, axis)}
    trees |= {str(own): level_tree(CELLS, loss, axis, branching=own) for own in BRANCHINGS}
    cuts = np.linspace(0, CELLS, 65).astype(int)
    ends = np.array([(low, high) for low in cuts for high in range(low + 1, CELLS + 1)])
    errors = dict.fromkeys(trees, 0.0)
    for run in range(CHOSEN_RUNS):
        codes = random.choice(CELLS, size=CHOSEN_USERS, p=held / held.sum()).astype(np.int32)
        exact = sums(np.bincount(codes, minlength=CELLS), ends)
        for method, tree in trees.items():
            errors[method] += float(np.mean((sums(collected(tree, codes, run)[0], ends) - exact) ** 2))
    best = min(errors, key=errors.__getitem__)
    found = {"choice": round(errors["plan"] / errors[best], 3), "branching": trees["plan"].branching, "best": best}
    say(f"{name}: {found}")
    return {"histogram": name, **found}


def sums(cells: Counts, ends: Counts) -> Counts:
    """Return the sums of cells over ranges [low, high)."""
    totals = np.append(0, np.cumsum(cells))
    return np.asarray(totals[ends[:, 1]] - totals[ends[:, 0]])


def main(users: list[int]) -> None:
    """Print the rows and the worst ratios."""
    histograms = np.load(data(ONE) or sys.exit(f"no histograms: set DPRESS_DATA to the folder that holds {ONE}"))
    rows = [row(name, histograms[name].reshape(CELLS, -1).sum(axis=1), n) for n in users for name in histograms.files]
    chosen = [choice(name, histograms[name].reshape(CELLS, -1).sum(axis=1)) for name in histograms.files]
    worst = {
        "choice by the best candidate": max(one["choice"] for one in chosen),
        "level_tree by flat": max(one["level_tree"] for one in rows),
        "grown, top_down by flat": max(one["grown, top_down"] for one in rows),
        "top_down by flat": max(one["top_down"] for one in rows),
        "grown, top_down by the best peer": max(one["by the best peer"] for one in rows),
        "top_down by the best peer": max(one["in one round"] for one in rows),
    }
    json.dump({"machine": facts(), "worst": worst, "choices": chosen, "rows": rows}, sys.stdout, indent=1)


if __name__ == "__main__":
    main([int(one) for one in sys.argv[1:]] or [10**5, 10**6])
