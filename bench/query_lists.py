"""Exact error of lists of overlapping queries by every strategy over their atoms, as JSON. No data is read.

python bench/query_lists.py > query-lists.json

Workloads: boxes of age and sex as in Adult, random predicates over five attributes, and a nested list of ages; each
under epsilon = 1 with add-remove and with replace-one. "mean_variance" is the exact mean squared error of an answer;
"to_best" and "to_bound" are its ratios to the best strategy and to the lower bound; "within" is the bound on all
answers at once with probability 95 %. Progress goes to standard error.
"""

import json
import sys
import time
from typing import Any

from cases import say
from dpress import plan
from dpress.core.basics import rng
from dpress.data.specification.spec import from_dict
from dpress.release.plan.largest_answer import largest_answer
from machine import facts

AGE = {"kind": "integer", "name": "age", "bounds": [17, 90]}
SEX = {"kind": "categorical", "name": "sex", "values": ["Female", "Male"]}
FIVE = [{"kind": "integer", "name": name, "bounds": [0, 19]} for name in "abcde"]
Row = dict[str, Any]


def numbers(source: rng.Generator, amount: int, below: int) -> list[int]:
    """Return a few numbers below a bound; that they are not exactly uniform does not matter here."""
    return [int(word) % below for word in source.words(amount)]


def boxes_of_adult(source: rng.Generator) -> list[str]:
    """Return overlapping ranges of ages, half of them of one sex."""
    found = []
    for place in range(60):
        one, other = sorted(number + 17 for number in numbers(source, 2, 74))
        sex = ("", " and sex = Female", " and sex = Male", "")[place % 4]
        found.append(f"age in {one}..{other}{sex}")
    return list(dict.fromkeys(found))


def random_predicates(source: rng.Generator) -> list[str]:
    """Return alternatives of two conditions on two of five attributes each."""
    found = []
    for _ in range(12):
        parts = []
        for _ in range(2):
            first, second, low, high = numbers(source, 4, 20)
            names = "abcde"[first % 5], "abcde"[(first + 1 + second % 4) % 5]
            parts.append(f"({names[0]} >= {low} and {names[1]} <= {high})")
        found.append(" or ".join(parts))
    return list(dict.fromkeys(found))


def nested() -> list[str]:
    """Return ages from a bound on, each query within the one before it."""
    return ["total", *(f"age >= {bound}" for bound in range(20, 90, 5))]


def workloads() -> dict[str, tuple[list[Row], list[str]]]:
    """Return the attributes and the queries of every workload."""
    source = rng.seeded(40)
    return {
        "ranges of age x sex": ([AGE, SEX], boxes_of_adult(source)),
        "random predicates over five attributes": (FIVE, random_predicates(source)),
        "nested ages": ([AGE], nested()),
        "three disjoint and their total": ([AGE], ["age < 30", "age in 30..59", "age >= 60", "total"]),
    }


def measured(name: str, attributes: list[Row], texts: list[str], relation: str) -> list[Row]:
    """Return a row for every strategy that serves a workload."""
    asked = {"kind": "queries", "parameters": {"queries": texts}}
    spec = {"attribute": attributes, "privacy": {"epsilon": 1.0, "relation": relation}, "release": asked}
    start = time.perf_counter()
    planned: Any = plan(from_dict(spec))
    seconds, best = time.perf_counter() - start, planned.candidates[0].predicted_error
    say(f"{name}, {relation}: {len(texts)} queries, {planned.workload.cells} cells, {seconds:.1f} s")
    shared = {"workload": name, "relation": relation, "queries": len(texts), "cells": planned.workload.cells}
    return [
        shared
        | {
            "method": one.method,
            "mean_variance": one.predicted_error,
            "to_best": one.predicted_error / best,
            "to_bound": one.predicted_error / planned.lower_bound if planned.lower_bound else None,
            "within": largest_answer(one.mechanism, planned.workload).within,
            "planning_seconds": seconds,
        }
        for one in planned.candidates
    ]


def main() -> int:
    """Print one JSON object."""
    rows = [
        row
        for name, (attributes, texts) in workloads().items()
        for relation in ("add-remove", "replace-one")
        for row in measured(name, attributes, texts, relation)
    ]
    json.dump({"machine": facts(), "rows": rows}, sys.stdout, indent=2)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
