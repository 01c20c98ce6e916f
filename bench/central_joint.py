"""The joint of a table against marginals, records of `graphical`, and the joint from devices, as JSON lines.

python bench/central_joint.py [TABLE...] > central_joint.json

Errors are mean total variation distances of the tables of all pairs, and of TRIPLES triples, over RUNS releases.
"planned" is what `plan` takes, "order = 2" and "order = 3" are named; "tables" are the measured pairs alone, cut off
at 0; "devices" is the joint from as many devices under epsilon = LOCAL. "independent" is the product of the exact
tables of one attribute, which nobody may publish. Choices were made on NLTCS alone. Reads $DPRESS_DATA, by default
`../shared/data`. Progress goes to standard error.
"""

import itertools
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pyarrow as pa

from cases import say
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW
from dpress.core.basics.losses.convert import zcdp_for
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.methods.people import in_memory
from dpress.data.specification.spec import from_dict
from dpress.inference.postprocess import norm_sub
from dpress.kinds.joint.central import MOST_TRIPLES
from dpress.mechanisms.microdata.graphical import graphical
from dpress.release.curator.publish import publish
from dpress.release.plan.plan import plan
from joint_plan import Codes, collected
from machine import facts
from microdata_speed import PLACE
from pairs import Array, shares
from wide_tables import adult_14, category, check_ins, crashes, nltcs

RUNS, TRIPLES, LOCAL = 3, 40, 4.0
BUDGET = {"epsilon": 1, "delta": 1e-6}
LOSS = ZCDP(rho=zcdp_for(1, "1e-6"))
SMALL = 16  # values of an attribute: those of Adult with at most so many are eight
Axes = tuple[int, ...]
Answer = Callable[[Axes], Array]


def adult_8() -> Codes:
    """Return the eight first attributes of Adult's complete rows with few values."""
    codes = adult_14()[0]
    return codes[[own.max() < SMALL for own in codes]][:8]


TABLES: Mapping[str, Callable[[], Codes]] = {
    "nltcs, 8": lambda: nltcs()[0][:8],
    "adult, 8": adult_8,
    "crashes": lambda: crashes()[0],
    "check-ins": lambda: check_ins()[0],
    "nltcs": lambda: nltcs()[0],
}


def spec(shape: Axes, kind: str, method: str = "auto", privacy: object = None, **parameters: object) -> object:
    """Return the specification of attributes that are numbered."""
    names = [{"name": f"a{axis}", "kind": "integer", "bounds": [0, size - 1]} for axis, size in enumerate(shape)]
    release = {"kind": kind, "method": method, "parameters": parameters}
    return from_dict({"attribute": names, "privacy": privacy or BUDGET, "release": release})


def methods(codes: Codes, shape: Axes) -> Iterator[tuple[str, Callable[[], Answer]]]:
    """Yield by name what answers with shares of any pair or triple."""
    rows = pa.table({f"a{axis}": own for axis, own in enumerate(codes)})
    orders = (2, 3) if math.comb(len(shape), 3) <= MOST_TRIPLES else (2,)
    for name, own in ({"planned": {}} | {f"order = {order}": {"order": order} for order in orders}).items():
        yield name, lambda own=own: publish(spec(shape, "joint", **own), rows).answers.fitted.marginal
    yield "tables", lambda: _cut(publish(spec(shape, "joint", order=2), rows))
    columns = tuple(category(name, size) for name, size in zip(rows.column_names, shape, strict=True))
    records = graphical(columns, LOSS, ROW)
    people = in_memory(codes)
    yield "graphical", lambda: _counted(records.release(people, rng=rng.secure()).codes, shape)
    yield "devices", lambda: _local(codes, shape)
    yield "independent", lambda: _product(codes, shape)


def _cut(release: object) -> Answer:
    answers = release.answers
    tables = dict(zip(answers.decoder.tables, answers.decoder.estimate(answers.measurement), strict=True))
    return lambda axes: norm_sub(tables[axes] / tables[axes].sum(), users=1)


def _counted(codes: Codes, shape: Axes) -> Answer:
    return lambda axes: shares(codes, shape, axes)


def _local(codes: Codes, shape: Axes) -> Answer:
    privacy = {"model": "local", "epsilon": LOCAL}
    collection = plan(spec(shape, "joint", "pairs", privacy, users=codes.shape[1])).chosen.mechanism
    tallies, payloads = collected(collection, codes, rng.secure())
    return collection.estimator.fit(tallies, lambda kernel: map(kernel, [payloads[0][0]])).marginal


def _product(codes: Codes, shape: Axes) -> Answer:
    single = [shares(codes, shape, (axis,)) for axis in range(len(shape))]
    return lambda axes: math.prod(np.ix_(*(single[axis] for axis in axes)))


def main() -> None:
    """Print a line for every method and table."""
    if not PLACE.is_dir():
        say(absent := f"no reference data in {PLACE}; set DPRESS_DATA")
        print(json.dumps({"skipped": absent}))
        return
    print(json.dumps({"machine": facts(), "runs": RUNS, "rho": float(LOSS.rho)}))
    for name, make in TABLES.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            for row in compared(make()):
                print(json.dumps({"data": name, **row}), flush=True)


def compared(codes: Codes) -> Iterator[dict[str, object]]:
    """Yield the errors of every method on a table."""
    shape = tuple(int(own.max()) + 1 for own in codes)
    triples = list(itertools.combinations(range(len(shape)), 3))
    asked = [*itertools.combinations(range(len(shape)), 2), *triples[:: -(-len(triples) // TRIPLES)]]
    truth = {axes: shares(codes, shape, axes).ravel() for axes in asked}
    for method, run in methods(codes, shape):
        errors, started = [], time.perf_counter()
        for number in range(1 if method == "independent" else RUNS):
            say(f"{method}, run {number + 1}")
            answer = run()
            ways = (2,) if method == "tables" else (2, 3)
            errors.append([_distance(answer, truth, size) for size in ways])
        mean, spread = np.mean(errors, axis=0), np.std(errors, axis=0)
        yield {
            "shape": shape,
            "method": method,
            "error": dict(zip(("pairs", "triples"), mean.round(5), strict=False)),
            "deviation": dict(zip(("pairs", "triples"), spread.round(5), strict=False)),
            "seconds": round((time.perf_counter() - started) / len(errors), 1),
        }


def _distance(answer: Answer, truth: Mapping[Axes, Array], ways: int) -> float:
    asked = {axes: own for axes, own in truth.items() if len(axes) == ways}
    return float(np.mean([np.abs(answer(axes).ravel() - own).sum() / 2 for axes, own in asked.items()]))


if __name__ == "__main__":
    main()
