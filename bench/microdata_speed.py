"""k-prototypes and the microdata baselines on Adult: seconds, cost, and what the releases lose; `kmodes` alongside.

python bench/microdata_speed.py [--peers PYTHON] [--peer-rows 5000] > microdata.json

Reads $DPRESS_DATA, by default `../shared/data`. PYTHON (or $DPRESS_PEERS) is the interpreter of an environment that
holds the peer, see `peer_kmodes.py`; without it no peer is run. The peer takes minutes for all 30,000 rows, so that by
default it gets a part of them, and ours the same part once more; --peer-rows 30000 compares in full. Costs are without
hierarchies, weights 1: the peer knows no other.

Of a release: the squared distance of numbers as a share of their total, the share of categories that differ, and
their mean squared distance in the hierarchies; each record against the one that was made of it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dpress.attributes.listed import hierarchy_file
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.mixed import Column, columns
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.methods.people import in_memory
from dpress.mechanisms.microdata import prototypes
from dpress.mechanisms.microdata.documents.dp_k_prototypes import DpKPrototypes
from dpress.mechanisms.microdata.documents.insensitive_microaggregation import InsensitiveMicroaggregation
from dpress.mechanisms.microdata.documents.mdav import Mdav, grouped
from dpress.mechanisms.microdata.documents.per_record import PerRecord
from machine import facts

PLACE = Path(os.environ.get("DPRESS_DATA", Path(__file__).parents[2] / "shared" / "data")) / "adult"
BOUNDS = {"age": (17, 90), "hours_per_week": (1, 99)}
LISTED = ("workclass", "education", "marital_status", "occupation", "race", "native_country")
ROWS, CLUSTERS, RESTARTS, REPEATS = 30_000, 100, 4, 5
EPSILON = PureDP(epsilon=1)
Codes = np.ndarray
Row = dict[str, Any]


def adult(*, trees: bool) -> tuple[Codes, tuple[Column, ...]]:
    """Return the 30,162 complete records of the train part and their eight columns."""
    table = pq.read_table(PLACE / "adult.parquet")
    table = table.filter(pc.equal(table["split"], "train")).drop_null()
    attributes: list[Integer | Categorical] = []
    codes = []
    for name, bounds in BOUNDS.items():
        attributes.append(Integer(name=name, bounds=bounds))
        codes.append(table[name].to_numpy() - bounds[0])
    for name in LISTED:
        values = tuple(sorted(table[name].unique().to_pylist()))
        rows = hierarchy_file.read(PLACE / "hierarchies" / f"{name}.csv", name, name, values) if trees else None
        attributes.append(Categorical(name=name, values=values, hierarchy=rows))
        codes.append(np.searchsorted(np.array(values), table[name].to_numpy().astype(str)))
    return np.stack(codes).astype(np.int32), columns(attributes)


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of one call, and what it returns."""
    start = time.perf_counter()
    found = run()
    return time.perf_counter() - start, found


def clustering(codes: Codes, kinds: tuple[Column, ...]) -> Row:
    """Time k-prototypes to convergence, with so many restarts, several times."""
    people = in_memory(codes)
    prototypes.fit(in_memory(codes[:, :CLUSTERS]), kinds, 2, restarts=1, rng=rng.secure())  # compiles
    runs = [
        timed(lambda: prototypes.fit(people, kinds, CLUSTERS, restarts=RESTARTS, rng=rng.secure()))
        for _ in range(REPEATS)
    ]
    return {
        "rows": codes.shape[1],
        "clusters": CLUSTERS,
        "restarts": RESTARTS,
        "seconds": sorted(seconds for seconds, _ in runs),
        "cost": sorted(found.loss for _, found in runs),
    }


def peer(python: str, codes: Codes, kinds: tuple[Column, ...], init: str) -> Row:
    """Run the peer once on the same records."""
    table = np.stack(
        [kind.scaled[own] if kind.numeric else own for kind, own in zip(kinds, codes, strict=True)], axis=1
    )
    with tempfile.TemporaryDirectory() as folder:
        np.save(file := Path(folder) / "table.npy", table)
        listed = [place for place, kind in enumerate(kinds) if not kind.numeric]
        asked = {"file": str(file), "clusters": CLUSTERS, "init": init, "categorical": listed}
        script = str(Path(__file__).with_name("peer_kmodes.py"))
        done = subprocess.run([python, script], input=json.dumps(asked), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the peer failed: {done.stderr.strip().splitlines()[-1]}")
    found: Row = json.loads(done.stdout)
    return {"rows": codes.shape[1], "clusters": CLUSTERS, "init": init} | found


def centred(codes: Codes, kinds: tuple[Column, ...], labels: np.ndarray) -> Codes:
    """Return every record as its group's mean and mode, without noise."""
    made = []
    for kind, own in zip(kinds, codes, strict=True):
        counts = np.bincount(labels * kind.size + own, minlength=(labels.max() + 1) * kind.size).reshape(-1, kind.size)
        means = counts @ kind.units / counts.sum(axis=1) if kind.numeric else None
        made.append((kind.nearest(means) if means is not None else counts.argmax(axis=1))[labels])
    return np.stack(made)


def lost(codes: Codes, kinds: tuple[Column, ...], made: Codes, seconds: float) -> Row:
    """Return what a release loses, record by record."""
    total, squares, differ, apart = 0.0, 0.0, [], []
    for kind, own, new in zip(kinds, codes, made, strict=True):
        if kind.numeric:
            total += ((kind.scaled[own] - kind.scaled[own].mean()) ** 2).sum()
            squares += ((kind.scaled[own] - kind.scaled[new]) ** 2).sum()
        else:
            differ.append((own != new).mean())
            apart.append((kind.distance[own, new] ** 2).mean())
    shares = {"numeric_share": squares / total, "mismatch": np.mean(differ), "squared_distance": np.mean(apart)}
    return {name: float(value) for name, value in shares.items()} | {"seconds": seconds}


def releases(codes: Codes, kinds: tuple[Column, ...]) -> Row:
    """Return what every method loses at epsilon = 1, with the seconds of the release."""
    people, users, found = in_memory(codes), codes.shape[1], {}

    def note(name: str, run: Callable[[], Codes]) -> None:
        seconds, made = timed(run)
        found[name] = lost(codes, kinds, made, seconds)

    def insensitive(group: int) -> Codes:
        method = InsensitiveMicroaggregation(columns=kinds, loss=EPSILON, users=users, group=group)
        return method.aggregated(codes, rng=rng.secure())

    fitted = prototypes.fit(people, kinds, 20, restarts=RESTARTS, rng=rng.secure())
    note("not private, k = 20", lambda: centred(codes, kinds, fitted.clusters.labels(codes).astype(np.int64)))
    twenty = DpKPrototypes(columns=kinds, loss=EPSILON, clusters=20)
    note("dp_k_prototypes, k = 20 (not proven)", lambda: twenty.release(people, rng=rng.secure()).codes)
    for group in (3, 20):
        note(
            f"mdav, k = {group}, no noise", lambda k=group: centred(codes, kinds, grouped(kinds, codes, k).astype(int))
        )
        method = Mdav(columns=kinds, loss=EPSILON, group=group)
        note(f"mdav, k = {group} (not proven)", lambda own=method: own.release(people, rng=rng.secure()).codes)
    honest = PerRecord(columns=kinds, loss=EPSILON, users=users)
    note("per_record", lambda: honest.perturbed(codes, rng=rng.secure()))
    for group in (1000, 3000, 5000):
        note(f"insensitive_microaggregation, k = {group}", lambda k=group: insensitive(k))
    return found


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(description="Speed and loss of microdata baselines.")
    parser.add_argument("--peers", default=os.environ.get("DPRESS_PEERS"), metavar="PYTHON")
    parser.add_argument("--peer-rows", type=int, default=5000, metavar="N")
    options = parser.parse_args()
    if not PLACE.is_dir():
        sys.exit(f"no reference data in {PLACE}; set DPRESS_DATA")
    codes, kinds = adult(trees=False)
    found: Row = {"machine": facts("numba"), "clustering": clustering(codes[:, :ROWS], kinds)}
    if options.peers:
        part = codes[:, : min(options.peer_rows, ROWS)]
        found["peer"] = [peer(options.peers, part, kinds, init) for init in ("Huang", "Cao")]
        found["on the peer's rows"] = clustering(part, kinds)
    found["releases"] = {"flat": releases(codes, kinds), "hierarchies": releases(*adult(trees=True))}
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
