"""Records of Adult with a proof: what they lose, tables of two attributes, a million records; as JSON.

python bench/microdata.py > microdata.json

Reads $DPRESS_DATA, by default `../shared/data`: the 30,162 complete records of the train part, epsilon = 1, add-remove,
one row a person. Eight attributes, in two choices: the document's, and one with a third number and fewer categories.
Every figure is a mean over RUNS releases with its standard error.
"loses" is for `dp_prototypes` with 20 representative records, every row against the record that is cheapest for it by
the weighted distance of k-prototypes: the squared error of numbers as a share of their total, and the share of
categories that differ; without hierarchies, with them, and with numbers that weigh NUMBER times what a category does.
k-prototypes with 20 clusters and no noise stands beside it.
"tables" is the mean total variation distance of the tables of all pairs of attributes, numbers in 16 bins, with the
seconds of the release: `mixture` as planned, `graphical` under the rho that gives epsilon = 1 with delta = 1e-6, and
the product of the exact tables of one attribute, which nobody may publish.
"million" is a process that draws a million rows from those tables and makes as many records of them; its peak memory
counts everything, Python too. Goals that are missed are listed. Progress goes to standard error.
"""

import itertools
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cases import say
from dpress.attributes.listed import hierarchy_file
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.mixed import Column, columns
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW
from dpress.core.basics.losses.convert import zcdp_for
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.methods.people import in_memory
from dpress.mechanisms.microdata import prototypes
from dpress.mechanisms.microdata.cluster_queries import binned
from dpress.mechanisms.microdata.dp_prototypes import dp_prototypes
from dpress.mechanisms.microdata.graphical import graphical
from dpress.mechanisms.microdata.record_sampling import drawn
from machine import facts
from microdata_speed import LISTED, PLACE, centred, lost, timed

RUNS = 5
NUMBER = 8.0
BOUNDS = {"age": (17, 90), "education_num": (1, 16), "hours_per_week": (1, 99)}
SCHEMAS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "document": (("age", "hours_per_week"), LISTED),
    "three numbers": (tuple(BOUNDS), ("workclass", "marital_status", "occupation", "race", "sex")),
}
KINDS = {"flat": (False, 1.0), "hierarchies": (True, 1.0), "hierarchies, numbers heavier": (True, NUMBER)}
CLUSTERS, RESTARTS = 20, 4
BINS = 16
MILLION = 1_000_000
LOSES = {"numeric_share": 0.70, "mismatch": 0.23}
PAIRS = {"mixture": {"distance": 0.050, "seconds": 2.0}, "graphical": {"distance": 0.025}}
LARGE = {"seconds": 20.0, "peak_mib": 2048.0}
Codes = np.ndarray
Kinds = tuple[Column, ...]
Row = dict[str, Any]


def adult(schema: str, *, trees: bool = True, weight: float = 1.0) -> tuple[Codes, Kinds]:
    """Return the records and their columns; bounds are fixed, categories those of the hierarchy files.

    Args:
        schema: the choice of attributes.
        trees: whether categories have hierarchies.
        weight: of a number.
    """
    numbers, listed = SCHEMAS[schema]
    table = pq.read_table(PLACE / "adult.parquet")
    table = table.filter(pc.equal(table["split"], "train")).drop_null()
    attributes: list[Integer | Categorical] = [Integer(name=name, bounds=BOUNDS[name]) for name in numbers]
    codes = [table[name].to_numpy() - BOUNDS[name][0] for name in numbers]
    for name in listed:
        rows = hierarchy_file.read(PLACE / "hierarchies" / f"{name}.csv", name, name, ())
        values = tuple(sorted(row[0] for row in rows))
        attributes.append(Categorical(name=name, values=values, hierarchy=rows if trees else None))
        codes.append(np.searchsorted(np.array(values), table[name].to_numpy().astype(str)))
    return np.stack(codes).astype(np.int32), columns(attributes, [weight] * len(numbers) + [1.0] * len(listed))


def means(found: list[Row]) -> Row:
    """Return the mean of every figure with its standard error."""
    out: Row = {}
    for name in found[0]:
        values = [float(one[name]) for one in found]
        out[name] = statistics.mean(values)
        out[f"{name}_standard_error"] = statistics.stdev(values) / len(values) ** 0.5
    return out


def representative(codes: Codes, kinds: Kinds) -> Row:
    """Return what every row loses against the cheapest of 20 noisy prototypes, by the cost that k-prototypes has."""
    users = codes.shape[1]
    method = dp_prototypes(kinds, PureDP(epsilon=1), ROW, users=users, clusters=CLUSTERS, rows="representative")
    assert method is not None
    seconds, made = timed(lambda: method.release(in_memory(codes), rng=rng.secure()).codes)
    own = np.unique(made, axis=1)
    costs = [
        kind.weight * ((kind.scaled[:, None] - kind.scaled[new]) ** 2 if kind.numeric else kind.distance[:, new])
        for kind, new in zip(kinds, own, strict=True)
    ]
    labels = prototypes.Clusters(columns=kinds, costs=np.concatenate(costs)).labels(codes)
    return lost(codes, kinds, own[:, labels], seconds)


def without_noise(codes: Codes, kinds: Kinds) -> Row:
    """Return the same of k-prototypes."""
    seconds, fitted = timed(
        lambda: prototypes.fit(in_memory(codes), kinds, CLUSTERS, restarts=RESTARTS, rng=rng.secure())
    )
    return lost(codes, kinds, centred(codes, kinds, fitted.clusters.labels(codes).astype(np.int64)), seconds)


def tables(codes: Codes, kinds: Kinds) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return for every pair of attributes its table as shares, and the product of its margins."""
    sizes = [min(kind.size, BINS) if kind.numeric else kind.size for kind in kinds]
    own = [binned(kind.size, size)[row] for kind, size, row in zip(kinds, sizes, codes, strict=True)]
    out = []
    for one, two in itertools.combinations(range(len(kinds)), 2):
        table = np.zeros((sizes[one], sizes[two]))
        np.add.at(table, (own[one], own[two]), 1 / codes.shape[1])
        out.append((table, np.outer(table.sum(axis=1), table.sum(axis=0))))
    return out


def distance(codes: Codes, made: Codes, kinds: Kinds) -> float:
    """Return the mean total variation distance of the tables of pairs."""
    both = zip(tables(codes, kinds), tables(made, kinds), strict=True)
    return statistics.mean(float(np.abs(true - own).sum() / 2) for (true, _), (own, _) in both)


def pairs(codes: Codes, kinds: Kinds) -> Row:
    """Return the distance of every release, and its seconds."""
    people, users = in_memory(codes), codes.shape[1]
    methods = {
        "mixture": dp_prototypes(kinds, PureDP(epsilon=1), ROW, users=users),
        "graphical": graphical(kinds, ZCDP(rho=zcdp_for(1, "1e-6")), ROW),
    }
    out: Row = {}
    for name, method in methods.items():
        found = []
        for number in range(RUNS):
            say(f"tables: {name}, run {number + 1}")
            seconds, made = timed(lambda own=method: own.release(people, rng=rng.secure()).codes)
            found.append({"distance": distance(codes, made, kinds), "seconds": seconds})
        out[name] = means(found)
    independent = [float(np.abs(true - product).sum() / 2) for true, product in tables(codes, kinds)]
    return out | {"independent": {"distance": statistics.mean(independent)}}


def million() -> Row:
    """Make a million records of a million made-up rows, in this process."""
    codes, kinds = adult("document")
    margins = [np.bincount(own, minlength=kind.size).astype(float) for own, kind in zip(codes, kinds, strict=True)]
    rows = np.stack([drawn(own, MILLION, rng=rng.secure()) for own in margins])
    start = time.perf_counter()
    method = dp_prototypes(kinds, PureDP(epsilon=1), ROW, users=MILLION)
    assert method is not None
    made = method.release(in_memory(rows), rng=rng.secure()).codes
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"records": made.shape[1], "clusters": method.clusters, "seconds": seconds, "peak_mib": peak}


def in_a_process() -> Row:
    """Return the same from a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--million"], capture_output=True, text=True, check=True)
    found: Row = json.loads(done.stdout)
    return found


def missed(out: Row) -> Iterator[str]:
    """Yield every goal that was missed."""
    for schema, kinds in out["loses"].items():
        for kind, own in kinds.items():
            yield from _over(f"{schema}, {kind}", own["dp_prototypes"], LOSES)
        for name, goals in PAIRS.items():
            yield from _over(f"{schema}, {name}", out["tables"][schema][name], goals)
    yield from _over("a million records", out["million"], LARGE)


def _over(where: str, figures: Row, goals: dict[str, float]) -> Iterator[str]:
    yield from (f"{where}: {name} {figures[name]:.4g} > {goal}" for name, goal in goals.items() if figures[name] > goal)


def main() -> None:
    """Print one JSON object."""
    if "--million" in sys.argv:
        print(json.dumps(million()))
        return
    if not PLACE.is_dir():
        say(absent := f"no reference data in {PLACE}; set DPRESS_DATA")
        print(json.dumps({"skipped": absent}))
        return
    out: Row = {"machine": facts("numba"), "runs": RUNS, "loses": {}, "tables": {}}
    methods = {"dp_prototypes": representative, "k-prototypes without noise": without_noise}
    for schema in SCHEMAS:
        out["loses"][schema] = {}
        for name, (trees, weight) in KINDS.items():
            say(f"{schema}: loses, {name}")
            codes, kinds = adult(schema, trees=trees, weight=weight)
            own = {what: means([run(codes, kinds) for _ in range(RUNS)]) for what, run in methods.items()}
            out["loses"][schema][name] = own
        out["tables"][schema] = pairs(*adult(schema))
    say("a million records")
    out["million"] = in_a_process()
    out["missed"] = list(missed(out))
    json.dump(out, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
