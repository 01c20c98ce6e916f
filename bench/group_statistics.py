"""Means, sums and quantiles at equal privacy: ours beside what a user would write, and beside OpenDP where installed.

python bench/group_statistics.py [--runs 300] > group_statistics.json

Tables: Adult's ages and hours by years of education (DPRESS_DATA), and log-normal incomes in five groups of 20 to
20,000 rows, once between bounds near them and once, for quantiles alone, between 0 and a billion. Epsilon is 1, one row
is protected. `ratio` is our mean squared error by the peer's, in geometric mean over the groups where both err (null
where none is), `of_means` the same of the means over all groups, exact ones with them (null where neither errs), both
against the truth of the rows; `goal` is what is wanted. The peers: `sum over count` is a noisy sum, clamped and not
centred, over a noisy count, half of epsilon each; `centred` the same with values less the middle of their bounds;
`OpenDP` its own sum and count likewise, and its median among the values that ours may publish; `nine separate` asks
nine quantiles one by one, a ninth of epsilon each. `tree` has intervals; `no intervals` is what a plan takes where
intervals = false, `chosen` the method group_quantiles. Nothing was chosen on these tables.
"""

import argparse
import json
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from dpress.core.basics import rng as generators
from dpress.core.maps.linear import Array
from dpress.data.specification.spec import from_dict
from dpress.kinds.statistics.curator.estimates import group_estimates
from dpress.kinds.statistics.curator.quantiles import estimates, values
from dpress.mechanisms.statistics.group_quantiles import GroupQuantiles
from dpress.noise.laplace import DiscreteLaplace
from dpress.release.plan.plan import plan
from machine import facts

EPSILON = 1.0
NINE = [number / 10 for number in range(1, 10)]
WIDE, WIDE_RUNS = "incomes, wide bounds", 20  # 2^16 candidates take their time
Row = dict[str, Any]
Run = Callable[[int], Row]


@dataclass(frozen=True, kw_only=True)
class People:
    """Rows in groups.

    Args:
        group: of every row.
        values: of every row.
        bounds: of the values.
        attribute: that has them, as a specification writes it, without its name.
    """

    group: Array
    values: Array
    bounds: tuple[float, float]
    attribute: Row

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.group.max()) + 1


def tables() -> dict[str, People]:
    """Return rows by name."""
    draw = np.random.default_rng(1)  # noqa: TID251  # made-up rows
    sizes = (20, 200, 2_000, 20_000, 20_000)
    incomes = np.clip(draw.lognormal(10.3, 0.8, sum(sizes)), 0, 200_000)
    group = np.repeat(np.arange(5), sizes)
    money = {"kind": "numeric", "bounds": [0.0, 200_000.0], "bins": 200}
    found = {"log-normal incomes": People(group=group, values=incomes, bounds=(0.0, 200_000.0), attribute=money)}
    far = {"kind": "integer", "bounds": [0, 1_000_000_000], "bins": 1 << 16}
    found[WIDE] = People(group=group, values=np.floor(incomes), bounds=(0, 1_000_000_000), attribute=far)
    data = Path(os.environ.get("DPRESS_DATA", "../shared/data")) / "adult" / "adult.parquet"
    if data.exists():
        adult = pq.read_table(data, columns=["education_num", "age", "hours_per_week"]).to_pandas()
        years = adult.education_num.to_numpy() - 1
        for name, column, bounds in (("Adult, age", "age", (17, 90)), ("Adult, hours", "hours_per_week", (1, 99))):
            own = {"kind": "integer", "bounds": list(bounds)}
            found[name] = People(group=years, values=adult[column].to_numpy(float), bounds=bounds, attribute=own)
    return found


def planned_for(people: People, parameters: Row, epsilon: float, method: str) -> Any:
    """Return the plan of statistics of the groups."""
    names = [str(one) for one in range(people.groups)]
    attributes = [{"name": "group", "kind": "categorical", "values": names}, {"name": "x"} | people.attribute]
    own = {"by": ["group"], "users": people.values.size, **parameters}
    release = {"kind": "statistics", "method": method, "parameters": own}
    return plan(from_dict({"attribute": attributes, "privacy": {"epsilon": epsilon}, "release": release}))


def ours(people: People, parameters: Row, epsilon: float = EPSILON, method: str = "auto") -> Run:
    """Return what draws the noise once and returns every statistic of all groups."""
    planned = planned_for(people, parameters, epsilon, method)
    mechanism, schema = planned.chosen.mechanism, planned.choice.schema
    levels = np.minimum(schema.tabular[1].edge_below(people.values), schema.shape[1] - 1)
    codes = np.array([people.group, levels], dtype=np.int32)
    exact = mechanism.exact(mechanism.decoder.answers(mechanism.decoder.sums(codes)))

    def run(seed: int) -> Row:
        rng = generators.seeded(seed)
        if not isinstance(mechanism, GroupQuantiles):
            found = group_estimates(mechanism.strategy, schema, mechanism.noisy(exact.copy(), rng=rng), z=1.96)
            return {name: found.of(name).value for name in found.names}
        drawn, values = mechanism.draw(exact.copy(), rng=rng), dict[str, Array]()
        if mechanism.groups is not None and drawn.sums is not None:
            found = group_estimates(mechanism.groups.strategy, schema, drawn.sums, z=1.96)
            values = {name: found.of(name).value for name in found.names}
        for own, cells in zip(mechanism.chosen, drawn.levels, strict=True):
            values |= {name: one.value for name, one in estimates(own, schema, cells).items()}
        return values

    return run


def without_intervals(people: People, shares: list[float], epsilon: float = EPSILON, method: str = "auto") -> Run:
    """Return what publishes quantiles that need no intervals, by the planned method or a stated one."""
    return ours(people, {"quantiles": {"x": shares}, "intervals": False}, epsilon, method)


def candidates(people: People) -> list[float]:
    """Return the values that a chosen median may have."""
    parameters = {"median": ["x"], "intervals": False}
    planned = planned_for(people, parameters, EPSILON, "group_quantiles")
    (own,) = planned.chosen.mechanism.chosen
    cells = np.tile(np.arange(own.cells), (people.groups, 1))
    return [*map(float, values(own, planned.choice.schema, cells)[0])]


def laplace(scale: float, size: int, rng: Any) -> Array:
    """Return discrete Laplace noise of a scale, as a user of a library gets it."""
    return DiscreteLaplace(scale=Fraction(scale).limit_denominator(1 << 20)).sample(size, rng=rng).astype(float)


def sum_over_count(people: People, *, centred: bool) -> Run:
    """Return a noisy sum over a noisy count, half of epsilon each."""
    groups, bounds = people.groups, people.bounds
    middle = sum(bounds) / 2 if centred else 0.0
    most = max(abs(end - middle) for end in bounds)
    sums = np.bincount(people.group, people.values - middle, groups)
    counts = np.bincount(people.group, minlength=groups)

    def run(seed: int) -> Row:
        rng = generators.seeded(seed)
        noisy = sums + laplace(2 * most / EPSILON, groups, rng)
        noisy_count = counts + laplace(2 / EPSILON, groups, rng)
        mean = np.clip(middle + noisy / np.maximum(noisy_count, 1), *bounds)
        return {"mean x": mean, "sum x": noisy + middle * noisy_count}

    return run


def open_dp(people: People, *, median: bool) -> Run:
    """Return OpenDP's sum and count of every group, half of epsilon each, or its median with all of it.

    Raises:
        ImportError: it is not installed.
    """
    import opendp.prelude as dp  # a peer

    dp.enable_features("contrib")
    own = [people.values[people.group == one].tolist() for one in range(people.groups)]
    bounds = (float(people.bounds[0]), float(people.bounds[1]))
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    if median:
        own_values = candidates(people)
        chosen = dp.binary_search_chain(
            lambda scale: space >> dp.m.then_private_quantile(dp.max_divergence(), own_values, 0.5, scale),
            d_in=1,
            d_out=EPSILON,
        )
        return lambda _seed: {"median x": np.array([chosen(one) for one in own])}
    whole, size = space >> dp.t.then_clamp(bounds) >> dp.t.then_sum(), space >> dp.t.then_count()
    half = {"d_in": 1, "d_out": EPSILON / 2}
    total = dp.binary_search_chain(lambda scale: whole >> dp.m.then_laplace(scale), **half)
    count = dp.binary_search_chain(lambda scale: size >> dp.m.then_laplace(scale), **half)

    def run(_seed: int) -> Row:
        noisy = np.array([total(one) for one in own])
        sizes = np.maximum([count(one) for one in own], 1)
        return {"mean x": np.clip(noisy / sizes, *bounds), "sum x": noisy}

    return run


def truth(people: People) -> Row:
    """Return the statistics of the rows."""
    own = [people.values[people.group == one] for one in range(people.groups)]
    found: Row = {"mean x": np.array([one.mean() for one in own]), "sum x": np.array([one.sum() for one in own])}
    for share in NINE:
        found[named(share)] = np.array([np.sort(one)[max(0, math.ceil(share * one.size) - 1)] for one in own])
    return found


def named(share: float) -> str:
    """Return what a quantile is called."""
    return "median x" if share == 0.5 else f"quantile {share:g} x"


def errors(run: Run, true: Row, names: list[str], runs: int) -> dict[str, Array]:
    """Return the mean squared error of every statistic in every group; a value that is not given counts as missing."""
    drawn = [run(seed) for seed in range(runs)]
    return {name: np.nanmean([(one[name] - true[name]) ** 2 for one in drawn], axis=0) for name in names}


def compared(own: Array, peer: Array, what: str, goal: float) -> Row:
    """Return the ratios of the errors and their means; of groups whose value is known on both sides."""
    finite = np.isfinite(own) & np.isfinite(peer)
    own, peer = own[finite], peer[finite]
    known = (own > 0) & (peer > 0)
    ratio = math.exp(float(np.log(own[known] / peer[known]).mean())) if known.any() else None
    exact = [int((one == 0).sum()) for one in (own, peer)]
    both = [float(own.mean()), float(peer.mean())]
    means = both[0] / both[1] if both[1] > 0 else None
    row = {"against": what, "ratio": ratio, "of_means": means, "goal": goal}
    return row | {"errors": both, "exact_groups": exact, "groups": int(finite.sum())}


def measured(name: str, people: People, runs: int) -> list[Row]:
    """Return the figures of one table."""
    true, rows = truth(people), []
    if name == WIDE:
        return [{"table": name} | row for row in medians(people, true, min(runs, WIDE_RUNS))]
    own = errors(ours(people, {"mean": ["x"]}), true, ["mean x", "sum x"], runs)
    peers = {
        "sum over count": (sum_over_count(people, centred=False), 0.55),
        "centred sum over count": (sum_over_count(people, centred=True), 0.55),
    }
    try:
        peers["OpenDP"] = (open_dp(people, median=False), 1.0)
    except ImportError:
        print("OpenDP is not installed: left out", file=sys.stderr)
    for peer, (run, goal) in peers.items():
        other = errors(run, true, [*own], runs)
        rows += [
            {"statistic": one} | compared(own[one], other[one], peer, goal if one == "mean x" else 1.0) for one in own
        ]
    rows += medians(people, true, runs)
    ways: dict[str, Callable[[list[float], float], Run]] = {
        "tree": lambda shares, part: ours(people, {"quantiles": {"x": shares}}, part),
        "no intervals": lambda shares, part: without_intervals(people, shares, part),
        "chosen": lambda shares, part: without_intervals(people, shares, part, "group_quantiles"),
    }
    rows += [{"statistic": f"nine quantiles, {what}"} | nine_at_once(way, true, runs) for what, way in ways.items()]
    return [{"table": name} | row for row in rows]


def medians(people: People, true: Row, runs: int) -> list[Row]:
    """Return the errors of a median by those of OpenDP's; none where that is not installed."""
    try:
        other = errors(open_dp(people, median=True), true, ["median x"], runs)["median x"]
    except ImportError:
        return []
    ways = {"tree": ours(people, {"median": ["x"]}), "no intervals": without_intervals(people, [0.5])}
    return [
        {"statistic": f"median x, {what}"}
        | compared(errors(run, true, ["median x"], runs)["median x"], other, "OpenDP", 1.0)
        for what, run in ways.items()
    ]


def nine_at_once(way: Callable[[list[float], float], Run], true: Row, runs: int) -> Row:
    """Return the errors of nine quantiles from one release by those of nine releases."""
    names = [named(share) for share in NINE]
    together = errors(way(NINE, EPSILON), true, names, runs)
    separate: dict[str, Array] = {}
    for share, one in zip(NINE, names, strict=True):
        separate |= errors(way([share], EPSILON / len(NINE)), true, [one], runs)
    both = [np.mean([own[one] for one in names], axis=0) for own in (together, separate)]
    return compared(both[0], both[1], "nine separate", 0.7)


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(description="Errors of means, sums and quantiles beside peers.")
    parser.add_argument("--runs", type=int, default=300, metavar="N")
    options = parser.parse_args()
    rows = [row for name, own in tables().items() for row in measured(name, own, options.runs)]
    print(json.dumps({"machine": facts("numpy"), "figures": rows}, indent=2))


if __name__ == "__main__":
    sys.exit(main())
