"""All tables of two attributes of one table of people: published as tables, as clipped tables, or as records; as JSON.

python bench/kinds.py [--runs N] > kinds.json

Reads $DPRESS_DATA, by default ../shared/data: codes of Adult, of NLTCS, and people that are made up. For each, for few
attributes and for all, and for two budgets: the mean over all pairs of attributes of half the L1 distance between the
true table of shares and what was published, with its standard error over the runs. *tables* are noisy counts, by the
method that `plan` chooses, divided by their own sum; *clipped* are the same with `nonnegative`; *records* are counted
from the file that `plan` chooses. *independent* is the product of the true one-way tables, which nobody may publish:
who is not nearer says nothing of what goes together. `nearest` is the kind to recommend.
"""

import itertools
import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpress
from cases import say
from dpress.core.basics import rng
from dpress.data.example_people import people
from machine import facts
from microdata_speed import PLACE

RUNS = 3
BUDGETS = (0.1, 1.0)
MADE_UP = {"age": 20, "sex": 2, "education": 5, "region": 4, "income": 20}
ADULT = (
    "age", "workclass", "education_num", "marital_status", "occupation", "relationship", "race", "sex",
    "hours_per_week", "native_country", "income", "capital_gain", "capital_loss", "fnlwgt",
)  # fmt: skip
Codes = dict[str, np.ndarray]
Figures = dict[str, dict[str, float]]


def sources() -> dict[str, tuple[pa.Table, tuple[str, ...]]]:
    """Return tables of codes with their attributes, in the order in which they are taken."""
    made_up = people(30_000).drop_columns(["person"])
    codes = {name: _coded(made_up[name], bins) for name, bins in MADE_UP.items()}
    nltcs = pq.read_table(PLACE.parent / "nltcs" / "nltcs.parquet").drop_columns(["split"])
    adult = pq.read_table(PLACE / "adult_privbayes_45222.parquet")
    return {
        "made up": (pa.table(codes), tuple(MADE_UP)),
        "nltcs": (nltcs, tuple(nltcs.column_names)),
        "adult": (adult, ADULT),
    }


def _coded(column: pa.ChunkedArray, bins: int) -> np.ndarray:
    if pa.types.is_string(column.type) or pa.types.is_dictionary(column.type):
        values = column.cast(pa.string()).to_numpy(zero_copy_only=False)
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    numbers = column.to_numpy().astype(np.float64)
    return np.minimum(numbers / (numbers.max() + 1) * bins, bins - 1).astype(np.int64)


def spec(
    sizes: dict[str, int], kind: str, epsilon: float, users: int, postprocess: tuple[str, ...] = ()
) -> dpress.Spec:
    """Return what is asked for."""
    own = [
        {"kind": "categorical", "name": name, "values": [str(one) for one in range(size)]}
        for name, size in sizes.items()
    ]
    release = {"kind": kind, "postprocess": list(postprocess)}
    release["parameters"] = {"ways": 2} if kind == "marginals" else {"users": users}
    return dpress.load_spec({"attribute": own, "privacy": {"epsilon": epsilon}, "release": release})


def pairs(codes: Codes, sizes: dict[str, int]) -> dict[tuple[str, str], np.ndarray]:
    """Return the shares of every pair's table."""
    out = {}
    for one, two in itertools.combinations(sizes, 2):
        table = np.zeros((sizes[one], sizes[two]))
        np.add.at(table, (codes[one], codes[two]), 1 / len(codes[one]))
        out[one, two] = table
    return out


def apart(true: dict[tuple[str, str], np.ndarray], found: dict[tuple[str, str], np.ndarray]) -> float:
    """Return the mean over pairs of half the L1 distance."""
    return float(np.mean([np.abs(own - found[pair]).sum() / 2 for pair, own in true.items()]))


def published(release: dpress.Release, sizes: dict[str, int]) -> dict[tuple[str, str], np.ndarray]:
    """Return every pair's table of a release as shares: adjusted where counts are; a wide table is summed up."""
    out = {}
    for table in release.answers.published():
        axes = [axis.name for axis in table.axes]
        counts = (table.count if table.adjusted is None else table.adjusted).reshape([sizes[name] for name in axes])
        for one, two in itertools.combinations(axes, 2):
            own = counts.sum(axis=tuple(place for place, name in enumerate(axes) if name not in {one, two}))
            out[one, two] = own / max(own.sum(), 1)
    return out


def compared(codes: Codes, sizes: dict[str, int], epsilon: float, runs: int, source: rng.Generator) -> Figures:
    """Return the distance of every kind, its standard error, and that of independence."""
    users = len(next(iter(codes.values())))
    rows, true = pa.table({name: codes[name].astype(str) for name in sizes}), pairs(codes, sizes)
    asked = {
        "tables": spec(sizes, "marginals", epsilon, users),
        "clipped": spec(sizes, "marginals", epsilon, users, ("nonnegative",)),
        "records": spec(sizes, "microdata", epsilon, users),
    }
    out: Figures = {}
    for name, own in asked.items():
        plan, found = dpress.plan(own), []
        for _ in range(runs):
            release = dpress.publish(plan, rows, rng=source.spawn())
            if name == "records":
                made = release.answers.made.table
                texts = {one: made[one].cast(pa.string()).to_numpy(zero_copy_only=False) for one in sizes}
                found.append(apart(true, pairs({one: own.astype(int) for one, own in texts.items()}, sizes)))
            else:
                found.append(apart(true, published(release, sizes)))
        error = float(np.std(found, ddof=1) / np.sqrt(runs))
        out[name] = {"distance": float(np.mean(found)), "standard_error": error}
    product = {pair: np.outer(own.sum(axis=1), own.sum(axis=0)) for pair, own in true.items()}
    return out | {"independent": {"distance": apart(true, product), "standard_error": 0.0}}


def main() -> None:
    """Print one JSON object."""
    runs, source, out = (
        int(sys.argv[sys.argv.index("--runs") + 1]) if "--runs" in sys.argv else RUNS,
        rng.seeded(11),
        [],
    )
    for data, (table, names) in sources().items():
        for number in sorted({min(5, len(names)), len(names)}):
            codes = {name: table[name].to_numpy().astype(np.int64) for name in names[:number]}
            sizes = {name: int(own.max()) + 1 for name, own in codes.items()}
            for epsilon in BUDGETS:
                say(f"{data}, {number} attributes, epsilon {epsilon}")
                found = compared(codes, sizes, epsilon, runs, source)
                kinds = ("tables", "clipped", "records")
                nearest = min(kinds, key=lambda kind: found[kind]["distance"])
                out.append({"data": data, "attributes": number, "epsilon": epsilon, "nearest": nearest, **found})
    print(json.dumps({"machine": facts(), "runs": runs, "settings": out}, indent=2))


if __name__ == "__main__":
    main()
