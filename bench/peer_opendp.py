"""The peer of `publish.py`: OpenDP's Polars context counts the same three columns. Runs in an environment of its own.

python -m venv peer && peer/bin/pip install 'opendp[polars]' && peer/bin/python bench/peer_opendp.py rows.parquet
"""

import itertools
import json
import sys
import time

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")
COLUMNS = {"age": list(range(100)), "work": [f"w{i}" for i in range(8)], "sex": ["F", "M"]}
RUNS = 5


def release(path: str) -> int:
    """Publish the three two-way tables with epsilon = 1 in all, keys public; return the number of cells."""
    pairs = list(itertools.combinations(COLUMNS, 2))
    context = dp.Context.compositor(
        data=pl.scan_parquet(path).select(list(COLUMNS)),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=len(pairs),
        margins=[dp.polars.Margin(max_length=2_000_000)],
    )
    cells = 0
    for pair in pairs:
        keys = pl.DataFrame(list(itertools.product(*(COLUMNS[name] for name in pair))), schema=list(pair), orient="row")
        keys = keys.with_columns([pl.col(name).cast(pl.Int64) for name in pair if name == "age"])
        query = context.query().group_by(*pair).agg(dp.len()).with_keys(keys)
        cells += query.release().collect().height
    return cells


def main() -> None:
    """Print the seconds of every run after a warm-up."""
    cells = release(sys.argv[1])
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        release(sys.argv[1])
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"cells": cells, "seconds": seconds, "opendp": dp.__dict__.get("__version__")}))


if __name__ == "__main__":
    main()
