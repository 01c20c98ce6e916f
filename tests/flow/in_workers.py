"""A program for a process of its own: releases in the workers of a pool, as notebooks and schedulers start them.

Workers that are spawned import dpress anew; those of a fork server, Python's choice on Linux from 3.14 on, copy a
process that did. Prints, by the way that the workers start, how each release ended.
"""

import json
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor

import pyarrow as pa

import dpress

AGE = {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 10}
SPEC = {"attribute": [AGE], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
AFFORDED, TRIED = 2, 4


def released(planned: dpress.Plan, out: str) -> str:
    """Publish a table by one ledger, and return how that ended."""
    try:
        dpress.publish(planned, pa.table({"age": [20, 30, 40]}), ledger="budget.db", out=out)
    except dpress.BudgetExceeded:
        return "refused"
    return "published"


def main(way: str) -> None:
    """Ask for more releases than the budget affords, from several workers at a time."""
    dpress.Ledger.create("budget.db", limit=dpress.PureDP(epsilon=AFFORDED), unit=dpress.Unit())
    planned = dpress.plan(SPEC)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(way)) as pool:
        ends = list(pool.map(released, [planned] * TRIED, [f"{way}-{place}" for place in range(TRIED)]))
    sys.stdout.write(json.dumps(sorted(ends)))


if __name__ == "__main__":
    os.chdir(sys.argv[2])
    main(sys.argv[1])
