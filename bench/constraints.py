"""Records with constraints beside records without: broken ones, and the error of what is measured in both, as JSON.

python bench/constraints.py > constraints.json

Two tables: Adult (48,842 rows; education determines education_num, husbands are men and wives women) and made-up
households (6,000 rows; two sums and an inequality). Each is what `auto` takes under epsilon = 1 and delta = 1e-6, RUNS
releases. "pairs" is the mean total variation distance of the tables of all pairs of the attributes that no constraint
computes, numbers by integers, with the standard error of the mean; "broken" the mean number of records that break a
constraint. Adult is read from $DPRESS_DATA.
"""

import itertools
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as papq

import dpress
from dpress.core.basics import rng
from machine import facts

RUNS = 3
ADULT = ("age", "sex", "marital_status", "relationship", "education", "education_num", "hours_per_week", "income")
Plain = dict[str, Any]


def adult() -> tuple[pa.Table, list[Plain], list[Plain]]:
    """Return rows, attributes and constraints of Adult."""
    folder = Path(os.environ.get("DPRESS_DATA", "../shared/data")) / "adult"
    rows = papq.read_table(folder / "adult.parquet", columns=list(ADULT))
    listed = [name for name in ADULT if not pa.types.is_integer(rows.schema.field(name).type)]
    attributes = [
        {"name": name, "kind": "categorical", "values": sorted(set(rows[name].to_pylist()))}
        if name in listed
        else {"name": name, "kind": "integer", "bounds": [1, 99]}
        for name in ADULT
    ]
    attributes[ADULT.index("education_num")] = {
        "name": "education_num",
        "kind": "ordinal",
        "values": list(range(1, 17)),
    }
    pairs = {row["education"]: str(row["education_num"]) for row in rows.to_pylist()}
    never = [("Husband", "Female"), ("Wife", "Male")]
    constraints: list[Plain] = [{"determines": ["education", "education_num"], "table": pairs}]
    constraints += [{"impossible": f"relationship = {spouse} and sex = {sex}"} for spouse, sex in never]
    return rows, attributes, constraints


def households() -> tuple[pa.Table, list[Plain], list[Plain]]:
    """Return rows, attributes and constraints of made-up households."""
    even = (rng.seeded(1).words(5 * 6000) >> np.uint64(11)).reshape(5, 6000) * 2.0**-53
    age = (16 + 64 * even[0]).astype(int)
    worked = ((age - 15) * even[1]).astype(int)
    rooms = (1 + 8 * even[2]).astype(int)
    beds = (rooms * even[3]).astype(int)
    schooling = np.minimum(2, (age - worked) // 25)
    columns = {"age": age, "worked": worked, "rooms": rooms, "total": rooms + 2, "beds": beds, "others": rooms - beds}
    bounds = {"age": [16, 79], "worked": [0, 63], "rooms": [1, 8], "total": [3, 10], "beds": [0, 8], "others": [0, 8]}
    attributes: list[Plain] = [{"name": name, "kind": "integer", "bounds": ends} for name, ends in bounds.items()]
    attributes.append({"name": "schooling", "kind": "ordinal", "values": [0, 1, 2]})
    texts = ("worked <= age - 16", "total = rooms + 2", "others = rooms - beds")
    return pa.table({**columns, "schooling": schooling}), attributes, [{"holds": text} for text in texts]


def distance(rows: pa.Table, records: pa.Table, names: list[str]) -> float:
    """Return the mean total variation distance of tables of pairs."""
    distances = []
    for pair in itertools.combinations(names, 2):
        shares = []
        for table in (rows, records):
            counted = table.select(list(pair)).group_by(list(pair)).aggregate([([], "count_all")]).to_pylist()
            shares.append(
                {tuple(str(row[name]) for name in pair): row["count_all"] / table.num_rows for row in counted}
            )
        cells = {*shares[0], *shares[1]}
        distances.append(sum(abs(shares[0].get(cell, 0) - shares[1].get(cell, 0)) for cell in cells) / 2)
    return statistics.mean(distances)


def measured(rows: pa.Table, attributes: list[Plain], constraints: list[Plain]) -> Plain:
    """Return the figures of records with constraints, and without."""
    release = {"kind": "microdata", "parameters": {"users": rows.num_rows}}
    plain = {"attribute": attributes, "privacy": {"epsilon": 1, "delta": 1e-6}, "release": release}
    under = {**plain, "constraint": constraints}
    maker: Any = dpress.plan(under).chosen.mechanism
    names = [attributes[axis]["name"] for axis in maker.measured]
    result: Plain = {"rows": rows.num_rows, "measured": names}
    for name, spec in (("with", under), ("without", plain)):
        errors, broken = [], []
        for run in range(RUNS):
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder) / "release"
                dpress.publish(spec, rows, out=place, rng=rng.seeded(run))
                records = papq.read_table(place / "records.parquet")
            errors.append(distance(rows, records, names))
            checked = dpress.check(under, records).findings["constraints"].figures
            broken.append(sum(figure.broken for figure in checked))
            print(name, run, errors[-1], broken[-1], file=sys.stderr, flush=True)
        error = statistics.stdev(errors) / len(errors) ** 0.5
        result[name] = {"pairs": statistics.mean(errors), "standard_error": error, "broken": statistics.mean(broken)}
    return result


if __name__ == "__main__":
    tables = {"households": households, "adult": adult}
    print(json.dumps({"machine": facts(), **{name: measured(*table()) for name, table in tables.items()}}, indent=1))
