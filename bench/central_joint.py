"""The joint of a table against its marginals alone: mean error of pairs and triples, total variation between shares.

    python bench/central_joint.py FILE...      Parquet files of categories; JSON lines

Marginals alone are cut off at 0. Of a file the first eight columns with at most 16 different values are taken: the
data sets are public, so that their values may be listed.
"""

import itertools
import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import dpress
from dpress.inference.postprocess import norm_sub

BUDGET = {"epsilon": 1, "delta": 1e-6}


def main(path: str) -> None:
    """Print a line for every method."""
    table = pq.read_table(path)
    codes = {name: pc.dictionary_encode(table[name].combine_chunks()).indices.to_numpy() for name in table.column_names}
    kept = {name: own for name, own in codes.items() if own.max() < 16}
    kept = dict(list(kept.items())[:8])
    shape = [int(own.max()) + 1 for own in kept.values()]
    asked = [{"name": name, "kind": "integer", "bounds": [0, size - 1]} for name, size in zip(kept, shape, strict=True)]
    for kind, parameters in (("joint", {"order": 2}), ("joint", {"order": 3}), ("marginals", {"ways": 2})):
        spec = {
            "attribute": asked,
            "privacy": BUDGET,
            "release": {"kind": kind, "method": "marginals", "parameters": parameters},
        }
        answers = dpress.publish(dpress.load_spec(spec), pa.table(kept)).answers
        own = list(kept.values())
        found = {}
        for ways in (2, 3) if kind == "joint" else (2,):
            tables = dict(zip(answers.decoder.tables, answers.decoder.estimate(answers.measurement), strict=True))
            errors = []
            for axes in itertools.combinations(range(len(shape)), ways):
                sizes = [shape[axis] for axis in axes]
                cells = np.ravel_multi_index([own[axis] for axis in axes], sizes)
                truth = np.bincount(cells, minlength=int(np.prod(sizes))) / cells.size
                shares = (
                    answers.fitted.marginal(axes).ravel()
                    if kind == "joint"
                    else norm_sub(tables[axes] / tables[axes].sum(), users=1)
                )
                errors.append(float(np.abs(shares - truth).sum() / 2))
            found[ways] = float(np.mean(errors))
        print(json.dumps({"data": path, "shape": shape, "kind": kind, **parameters, "error": found}), flush=True)


if __name__ == "__main__":
    for one in sys.argv[1:]:
        main(one)
