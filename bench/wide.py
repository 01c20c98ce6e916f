"""Records of wide tables: how near any two attributes are, by method and table, as JSON.

python bench/wide.py [TABLE...] > wide.json

Every figure is the mean total variation distance of the tables of all pairs of attributes, numbers in 16 bins, as
`microdata.py` has it, over RUNS releases with its standard error, and the median seconds of one. epsilon = 1 with
delta = 1e-6 by zCDP, one row a person, add-remove; "mixture" under pure epsilon, as planned, and under the same rho.
"graphical" is what `auto` takes, which rests on these figures (decision 73). "mst" and "aim" are ours, as published
(`wide_peers.py`). "independent" is the product of the exact tables of one attribute, which nobody may publish;
"expected" is what `dpress plan` says of `graphical` before a row is read. Names that end in "300 rows" are random
parts of tables. Tables on which numbers of `graphical` were set are marked "tuned"; the others were not looked at
before. Reads $DPRESS_DATA, by default `../shared/data`. Progress goes to standard error.
"""

import json
import statistics
import sys
from collections.abc import Callable

import numpy as np

from cases import say
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW
from dpress.core.basics.losses.convert import zcdp_for
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.methods.people import in_memory
from dpress.mechanisms.microdata.cluster_queries import binned
from dpress.mechanisms.microdata.dp_prototypes import dp_prototypes
from dpress.mechanisms.microdata.expected_pairs import expected_error
from dpress.mechanisms.microdata.graphical import graphical
from machine import facts
from microdata import BINS, Codes, Kinds, Row, distance, tables
from microdata_speed import PLACE, timed
from wide_peers import aim, mst
from wide_tables import FEW, HELD_OUT, TUNED, category

RUNS = 3
LOSS = ZCDP(rho=zcdp_for(1, "1e-6"))
BEST = "graphical"


def methods(codes: Codes, kinds: Kinds) -> dict[str, Callable[[], Codes]]:
    """Return by name what makes records."""
    people, users = in_memory(codes), codes.shape[1]
    made = {
        "mixture": dp_prototypes(kinds, PureDP(epsilon=1), ROW, users=users),
        "mixture under rho": dp_prototypes(kinds, LOSS, ROW, users=users),
        BEST: graphical(kinds, LOSS, ROW),
    }
    own = {name: lambda one=one: one.release(people, rng=rng.secure()).codes for name, one in made.items()}
    coarse, flat = coarsened(codes, kinds)
    sizes = [kind.size for kind in flat]
    return own | {
        "mst": lambda: mst(coarse, sizes, LOSS, rng=rng.secure()),
        "aim": lambda: aim(coarse, sizes, LOSS, rng=rng.secure()),
    }


def coarsened(codes: Codes, kinds: Kinds) -> tuple[Codes, Kinds]:
    """Return records in bins, and columns whose bins are themselves."""
    sizes = [min(kind.size, BINS) if kind.numeric else kind.size for kind in kinds]
    own = [binned(kind.size, size)[row] for kind, size, row in zip(kinds, sizes, codes, strict=True)]
    return np.stack(own), tuple(category(kind.name, size) for kind, size in zip(kinds, sizes, strict=True))


def measured(name: str, codes: Codes, kinds: Kinds) -> Row:
    """Return what every method makes of a table."""
    independent = [float(np.abs(true - product).sum() / 2) for true, product in tables(codes, kinds)]
    out: Row = {"attributes": len(kinds), "rows": codes.shape[1], "independent": statistics.mean(independent)}
    for method, run in methods(codes, kinds).items():
        errors, seconds = [], []
        for number in range(RUNS):
            say(f"{name}: {method}, run {number + 1}")
            took, made = timed(run)
            truth = coarsened(codes, kinds) if method in ("mst", "aim") else (codes, kinds)
            errors.append(distance(truth[0], made, truth[1]))
            seconds.append(took)
        out[method] = {
            "distance": statistics.mean(errors),
            "standard_error": statistics.stdev(errors) / RUNS**0.5,
            "seconds": statistics.median(seconds),
        }
    best = out[BEST]["distance"]
    out["expected"] = expected_error(graphical(kinds, LOSS, ROW), codes.shape[1])
    out["beaten by"] = [one for one, own in out.items() if isinstance(own, dict) and own["distance"] < best]
    return out


def main() -> None:
    """Print one JSON object."""
    if not PLACE.is_dir():
        say(absent := f"no reference data in {PLACE}; set DPRESS_DATA")
        print(json.dumps({"skipped": absent}))
        return
    out: Row = {"machine": facts(), "runs": RUNS, "rho": float(LOSS.rho), "tables": {}}
    for name, make in (TUNED | HELD_OUT | FEW).items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            out["tables"][name] = {"tuned": name in TUNED, **measured(name, *make())}
    json.dump(out, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
