"""What `plan` says of every way to ask for a joint distribution, against real data, as JSON.

python bench/joint_plan.py > joint_plan.json

Reads $DPRESS_DATA, by default `../shared/data`: NLTCS and Adult. "ratio" is the mean squared error of the unbiased
tables, over RUNS runs of real devices, over the predicted one; for `independent`, which publishes no table of a pair,
that of the product of its tables against the product of the true ones. "avd" is the distance of the fitted joint from
the truth, the mean of FITS runs: is what `plan` takes within NEAR of the best? Progress goes to standard error.
"""

import itertools
import json
import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cases import data, say
from dpress.core.basics import rng
from dpress.data.specification.spec import Spec, from_dict
from dpress.inference.least_squares import flat
from dpress.mechanisms.protocol.collection import Collection
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.plan import plan
from machine import facts
from pairs import ADULT, FIVE, NLTCS, Array, apart, coded, shares

RUNS, FITS = 40, 3
EPSILONS = (1.0, 2.15, 4.92)
LOW, HIGH = 0.8, 1.25
NEAR = 1.15
ONE = "subset_selection"
Codes = npt.NDArray[np.int32]


def spec(shape: Sequence[int], epsilon: float, users: int, method: str) -> Spec:
    attributes = [{"name": f"a{i}", "kind": "integer", "bounds": [0, size - 1]} for i, size in enumerate(shape)]
    release = {"kind": "joint", "method": method, "parameters": {"users": users}}
    return from_dict({"attribute": attributes, "privacy": {"model": "local", "epsilon": epsilon}, "release": release})


def candidates(shape: Sequence[int], epsilon: float, users: int) -> tuple[list[Candidate], Candidate]:
    """Return every way to ask, and the one that `plan` takes."""
    planned = plan(spec(shape, epsilon, users, "auto"))
    found = list(planned.candidates)
    if all(one.method != ONE for one in found):
        found.append(plan(spec(shape, epsilon, users, ONE)).chosen)
    return found, planned.chosen


def collected(collection: Collection, codes: Codes, source: rng.Generator) -> tuple[list[Any], list[list[Any]]]:
    """Return the tallies and the payloads of one collection."""
    drawn = collection.drawn(codes.shape[1], rng=source)
    payloads = [[own.perturb(codes[:, drawn == i], rng=source)] for i, own in enumerate(collection.types)]
    tallies = [collection.tally(i, parts[0]) for i, parts in enumerate(payloads)]
    return tallies, payloads


def squared(collection: Collection, tallies: list[Any], truth: dict[tuple[int, ...], Array], users: int) -> float:
    """Return the mean squared error of a cell of a pair's table, in counts squared."""
    decoder = collection.counted(tallies).decoder
    counts = decoder.estimate(collection.measurement(tallies))
    tables = dict(zip(decoder.tables, counts, strict=True))
    errors = []
    for axes in itertools.combinations(range(len(collection.shape)), 2):
        if axes in tables:
            errors.append(tables[axes] - truth[axes].ravel() * users)
        else:
            product = flat([tables[axis,] / users for axis in axes]) * users
            errors.append(product - flat([truth[axis,] for axis in axes]) * users)
    return float((np.concatenate(errors) ** 2).mean())


def measured(one: Candidate, codes: Codes, truth: dict[tuple[int, ...], Array], chosen: Candidate) -> dict[str, Any]:
    collection, users, source = one.mechanism, codes.shape[1], rng.seeded(7)
    assert isinstance(collection, Collection)
    errors, distances, everything = [], [], tuple(range(len(collection.shape)))
    for run in range(RUNS):
        tallies, payloads = collected(collection, codes, source)
        errors.append(squared(collection, tallies, truth, users))
        if run < FITS:
            fit = collection.estimator.fit(tallies, lambda kernel, own=payloads: map(kernel, [own[0]]))  # type: ignore[misc]
            distances.append(apart(fit.marginal(everything), truth[everything]))
    ratios = np.array(errors) / one.predicted_error
    return {
        "method": one.method,
        "ways": max(len(one.axes) for one in collection.types),
        "chosen": one.method == chosen.method and one.predicted_error == chosen.predicted_error,
        "predicted": one.predicted_error,
        "measured": float(np.mean(errors)),
        "ratio": float(ratios.mean()),
        "ratio_standard_error": float(ratios.std(ddof=1) / math.sqrt(RUNS)),
        "avd": float(np.mean(distances)),
        "avd_runs": distances,
    }


def cases() -> Iterator[tuple[str, Codes, tuple[int, ...]]]:
    if path := data(NLTCS):
        for size in (4, 8):
            codes, shape = coded(path, [f"x{place:02d}" for place in range(size)])
            yield f"nltcs{size}", codes.astype(np.int32), shape
    if path := data(ADULT):
        codes, shape = coded(path, FIVE)
        yield "adult5", codes.astype(np.int32), shape


def compared(name: str, codes: Codes, shape: tuple[int, ...], epsilon: float) -> dict[str, Any]:
    """Return the rows of one case, and whether the choice was a good one."""
    found, chosen = candidates(shape, epsilon, codes.shape[1])
    sets = [*((axis,) for axis in range(len(shape))), *itertools.combinations(range(len(shape)), 2)]
    truth = {axes: shares(codes, shape, axes) for axes in [*sets, tuple(range(len(shape)))]}
    rows = []
    for one in found:
        say(f"{name}, epsilon {epsilon}, {one.method}")
        rows.append(measured(one, codes, truth, chosen))
        say(f"  ratio {rows[-1]['ratio']:.3f} +- {rows[-1]['ratio_standard_error']:.3f}, avd {rows[-1]['avd']:.4f}")
    best = min(row["avd"] for row in rows)
    own = next(row["avd"] for row in rows if row["chosen"])
    case = {"data": name, "shape": list(shape), "users": codes.shape[1], "epsilon": epsilon}
    return case | {"rows": rows, "best_avd": best, "chosen_avd": own, "choice_is_near_the_best": own <= NEAR * best}


def main() -> int:
    """Print one JSON object; return 1 if a prediction is off by more than it may be."""
    found = [compared(*case, epsilon) for case in cases() for epsilon in EPSILONS]
    if not found:
        say(missing := f"no data: set DPRESS_DATA to the folder that holds {ADULT}")
        print(json.dumps({"skipped": missing}))
        return 0
    missed = sum(not LOW <= row["ratio"] <= HIGH for case in found for row in case["rows"])
    out = {"machine": facts(), "runs": RUNS, "fits": FITS, "missed": missed, "cases": found}
    json.dump(out, sys.stdout, indent=2)
    print()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
