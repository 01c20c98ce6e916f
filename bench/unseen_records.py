"""Records of tables that no number of `graphical` was set on, beside AIM and MST as their authors have them, as JSON.

python bench/unseen_records.py [--peers peer/bin/python --pgm CHECKOUT] > unseen-records.json

Tables are the CSV files of codes, from 0, in the folder `records` of $DPRESS_UNSEEN: BR2000 and the survey with 23
binary attributes are among the data of https://github.com/caicre/PrivMRF. Each is what `auto` takes under epsilon and
delta = 1e-6, of all rows and of random parts. Figures are mean total variation distances of the tables of all pairs
and all triples of attributes over RUNS releases, with their standard errors; "expected" is what `dpress plan` says of
pairs, "independent" the product of the exact tables of one attribute, and "sample" another table of as many rows,
drawn from all of them with replacement. "auc": a logistic regression of each binary attribute by all others, fitted
to records that were made of 7 in 10 rows, tested on the other rows; "rows" is one that is fitted to these rows
themselves. The peers (`peer_pgm.py`) run once for every epsilon, of all rows, on pairs as workload. Progress goes to
standard error.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.csv as pacsv

import dpress
from cases import say
from dpress.core.basics import rng
from dpress.core.methods.people import in_memory
from dpress.mechanisms.microdata.expected_pairs import expected_error
from machine import facts

RUNS, DELTA, PEER_SECONDS = 3, 1e-6, 3600
EPSILONS, PARTS = (0.5, 1.0), (100, 300, 1_000, 10_000)
Codes = npt.NDArray[np.int32]
Row = dict[str, Any]


def tables() -> dict[str, Codes]:
    """Return codes by name, shape (attributes, rows)."""
    folder = Path(os.environ.get("DPRESS_UNSEEN", "nowhere")) / "records"
    read = {path.stem: pacsv.read_csv(path) for path in sorted(folder.glob("*.csv"))}
    return {name: np.stack([np.asarray(column) for column in table.columns]).astype(np.int32)
            for name, table in read.items()}  # fmt: skip


def method(sizes: Sequence[int], epsilon: float) -> Any:
    """Return what makes the records that `auto` takes."""
    attributes = [
        {"name": f"a{place}", "kind": "categorical", "values": [str(code) for code in range(size)]}
        for place, size in enumerate(sizes)
    ]
    plain = {"attribute": attributes, "privacy": {"epsilon": epsilon, "delta": DELTA}, "release": {"kind": "microdata"}}
    mechanism: Any = dpress.plan(dpress.load_spec(plain)).chosen.mechanism
    return mechanism.synthesizer


def made(maker: Any, codes: Codes) -> Codes:
    """Return the records of one release."""
    records: Codes = maker.release(in_memory(codes), rng=rng.secure()).codes
    return records


def distance(codes: Codes, others: Codes, sizes: Sequence[int], ways: int) -> float:
    """Return the mean total variation distance of the tables of so many attributes."""
    off = []
    for axes in itertools.combinations(range(len(sizes)), ways):
        shape = [sizes[axis] for axis in axes]
        shares = [
            np.bincount(np.ravel_multi_index(tuple(each[list(axes)]), shape), minlength=int(np.prod(shape)))
            / max(each.shape[1], 1)
            for each in (codes, others)
        ]
        off.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(off))


def near(codes: Codes, releases: Sequence[Codes], sizes: Sequence[int]) -> Row:
    """Return how far releases are from the rows, with the standard error of the mean."""
    out: Row = {}
    for name, ways in (("pairs", 2), ("triples", 3)):
        off = [distance(codes, records, sizes, ways) for records in releases]
        out[name] = statistics.mean(off)
        if len(off) > 1:
            out[f"{name}_standard_error"] = statistics.stdev(off) / len(off) ** 0.5
    return out


def shuffled(codes: Codes) -> Codes:
    """Return the rows with every attribute in an order of its own: independent attributes."""
    return np.stack([row[np.argsort(rng.secure().words(row.size))] for row in codes])


def compared(codes: Codes, epsilon: float) -> Row:
    """Return the errors of what `auto` takes, of a sample and of independent attributes."""
    sizes, rows = [int(row.max()) + 1 for row in codes], codes.shape[1]
    maker = method(sizes, epsilon)
    drawn = [codes[:, (rng.secure().words(rows) % np.uint64(rows)).astype(np.int64)] for _ in range(RUNS)]
    return {
        "rows": rows,
        "epsilon": epsilon,
        "auto": near(codes, [made(maker, codes) for _ in range(RUNS)], sizes),
        "expected": expected_error(maker, rows),
        "sample": near(codes, drawn, sizes),
        "independent": near(codes, [shuffled(codes)], sizes),
    }


def areas(train: Codes, test: Codes) -> float | None:
    """Return the mean area under the curve of all binary attributes; None where there is none."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    found = []
    for target, row in enumerate(test):
        if row.max() == 1 and len(set(train[target])) == 2:
            fitted = LogisticRegression(max_iter=300).fit(_hot(train, test, target)[0], train[target])
            found.append(roc_auc_score(row, fitted.decision_function(_hot(train, test, target)[1])))
    return float(np.mean(found)) if found else None


def _hot(train: Codes, test: Codes, target: int) -> list[npt.NDArray[np.float64]]:
    others = [axis for axis in range(len(test)) if axis != target]
    cells = {axis: np.arange(1, max(train[axis].max(), test[axis].max()) + 1) for axis in others}
    return [
        np.concatenate([each[axis][:, None] == cells[axis] for axis in others], axis=1).astype(float)
        for each in (train, test)
    ]


def usefulness(codes: Codes, epsilon: float) -> Row:
    """Return the areas of models that are fitted to records and to rows."""
    order = np.argsort(rng.secure().words(codes.shape[1]))
    train, test = np.split(codes[:, order], [7 * codes.shape[1] // 10], axis=1)
    maker = method([int(row.max()) + 1 for row in codes], epsilon)
    return {"auto": areas(made(maker, train), test), "rows": areas(train, test)}


def peer(name: str, codes: Codes, epsilon: float, told: argparse.Namespace) -> Row:
    """Return the errors of a peer, or its last words."""
    sizes = [int(row.max()) + 1 for row in codes]
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder) / "given.npy", Path(folder) / "made.npy"
        np.save(given, codes)
        words = [told.pgm / "mechanisms", name, epsilon, DELTA, given, ",".join(map(str, sizes)), out]
        program = [told.peers, Path(__file__).with_name("peer_pgm.py"), *words]
        try:
            done = subprocess.run(
                [*map(str, program)], capture_output=True, text=True, timeout=PEER_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"not done in {PEER_SECONDS} seconds"}
        if done.returncode:
            return {"failed": (done.stderr.strip().splitlines() or ["nothing was said"])[-1]}
        return near(codes, [np.load(out)], sizes)


def main() -> None:
    """Print the JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--pgm", type=Path)
    told, rows = parser.parse_args(), []
    for name, codes in tables().items():
        order = np.argsort(rng.seeded(3).words(codes.shape[1]))
        for size in [*(size for size in PARTS if size < codes.shape[1]), codes.shape[1]]:
            for epsilon in EPSILONS:
                say(f"records: {name}, {size:,} rows, epsilon {epsilon:g}")
                row = {"table": name} | compared(codes[:, order[:size]], epsilon)
                if size == codes.shape[1]:
                    row["auc"] = usefulness(codes, epsilon)
                    if told.peers:
                        row |= {each: peer(each, codes, epsilon, told) for each in ("aim", "mst")}
                rows.append(row)
    print(json.dumps({"machine": facts(), "runs": RUNS, "delta": DELTA, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
