"""Records of households and persons made together, beside two tables made apart, on PrivLava's measures, as JSON.

python bench/households.py > households.json

Two sets: made-up households of Adult's rows (husbands with wives of their age, children of our making, regions by the
population of $DPRESS_DATA's spine), and the example of ActivitySim for Atlanta, rows of the American Community Survey
(24,061 households; the wheel `activitysim` ships households.csv and persons.csv in examples/prototype_arc/data; their
folder in $DPRESS_HOUSEHOLDS, else it is left out). "together" is `kind = "microdata"` of both tables; "apart" spends
half on households with their size, half on persons with at most MOST of a household, who are then put into households
of that size at random; both by `auto`, under LOSS for households, RUNS releases. All figures are total variation
distances, means over pairs and triples (names ending in 3): "households" and "persons" of attributes of one table;
"across" of attributes of a household and of its persons; "members" of one of the head and one of another; "sizes" of
the number of persons. These are the measures of PrivLava (Cai et al. 2023) and PrivPetal (2024); their figures are not
reproduced here, for their programs cannot be installed: only the measures are used.
"""

import itertools
import json
import os
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as papq

import dpress
from dpress.core.basics import rng
from machine import facts

RUNS, MOST = 2, 5
LOSS = ({"epsilon": 1.0, "delta": 1e-6}, {"epsilon": 4.0, "delta": 1e-6})
Plain = dict[str, Any]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Linked:
    """Two tables, and the attributes of each."""

    households: pa.Table
    persons: pa.Table
    above: list[Plain]
    below: list[Plain]


def listed(name: str, values: list[str]) -> Plain:
    return {"name": name, "kind": "categorical", "values": values}


def even(number: int, seed: int) -> npt.NDArray[np.float64]:
    return (rng.seeded(seed).words(number) >> np.uint64(11)) * 2.0**-53


def census() -> Linked:
    """Return made-up households of Adult's rows."""
    folder = Path(os.environ.get("DPRESS_DATA", "../shared/data"))
    adult = papq.read_table(folder / "adult/adult.parquet").to_pandas()
    spine = papq.read_table(folder / "us_spine/us_block_groups_2010.parquet", columns=["state", "population"])
    states = spine.group_by("state").aggregate([("population", "sum")]).sort_by("state").to_pandas()
    heads = adult[adult.relationship.isin(["Husband", "Not-in-family", "Unmarried"])].iloc[:20_000].reset_index()
    wives = adult[adult.relationship == "Wife"].sort_values("age", kind="stable").reset_index()
    number, drawn = len(heads), even(6 * len(heads), 1).reshape(6, -1)
    region = (
        np.searchsorted(np.cumsum(states.population_sum) / states.population_sum.sum(), drawn[0]) * 6 // len(states)
    )
    married = (heads.relationship == "Husband").to_numpy()
    wife = np.clip(np.searchsorted(wives.age, heads.age - 2 + np.floor(5 * drawn[1])), 0, len(wives) - 1)
    children = np.where(heads.age.between(22, 60), np.floor(4 * drawn[2] ** 2 + married), 0).astype(int)
    rows = list[tuple[int, str, int, str, str, str]]()
    for k, head in enumerate(heads.itertuples()):
        rows.append((k, "head", head.age, head.sex, school(head.education_num), str(head.income)))
        if married[k]:
            partner = wives.iloc[wife[k]]
            rows.append((k, "partner", partner.age, "Female", school(partner.education_num), str(partner.income)))
        for child in range(min(children[k], MOST - 1 - married[k])):
            age = max(0, min(head.age - 18 - 3 * child - int(8 * drawn[3, k]), 30))
            rows.append(
                (k, "child", age, ["Female", "Male"][(k + child) % 2], "none" if age < 16 else "school", "none")
            )
    rich = heads.income.astype(str).str.startswith(">").to_numpy()
    tenure = np.where(drawn[4] < 0.35 + 0.3 * rich + 0.2 * married, "owned", "rented")
    rooms = np.clip(1 + children + married + np.floor(3 * drawn[5]) + rich, 1, 8).astype(int)
    households = {"hhid": np.arange(number), "region": region.astype(str), "tenure": tenure, "rooms": rooms}
    names = ["hhid", "role", "age", "sex", "school", "income"]
    persons = pa.table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})
    incomes = sorted({str(value) for value in heads.income} | {"none"})
    return Linked(
        households=pa.table(households),
        persons=persons,
        above=[
            listed("region", [str(k) for k in range(6)]),
            listed("tenure", ["owned", "rented"]),
            {"name": "rooms", "kind": "integer", "bounds": [1, 8]},
        ],
        below=[
            listed("role", ["head", "partner", "child"]),
            {"name": "age", "kind": "integer", "bounds": [0, 90]},
            listed("sex", ["Female", "Male"]),
            listed("school", ["none", "school", "college", "degree"]),
            listed("income", incomes),
        ],
    )


def school(number: int) -> str:
    return "school" if number < 10 else "college" if number < 13 else "degree"


def atlanta() -> Linked | None:
    """Return ActivitySim's example for Atlanta; None where it is not at hand."""
    if not (place := os.environ.get("DPRESS_HOUSEHOLDS")):
        return None
    upper = pacsv.read_csv(Path(place) / "households.csv").to_pandas()
    lower = pacsv.read_csv(Path(place) / "persons.csv").to_pandas().sort_values(["household_id", "sporder"])
    household = {"hhid": upper.household_id, "type": upper.hht.clip(0, 7), "building": upper.bld.clip(0, 9)}
    household |= {"cars": upper.veh.clip(0, 4), "income": np.clip(upper.hincp // 25_000, 0, 9)}
    person = {"hhid": lower.household_id, "place": lower.sporder, "age": lower.agep.clip(0, 95), "sex": lower.sex}
    person |= {"work": lower.esr.clip(0, 6), "school": np.clip(lower.schl, 0, 24) // 4}
    texts = ("sex", "work", "school", "type", "building")
    tables = [{name: column.astype(str) if name in texts else column for name, column in each.items()}
              for each in (household, person)]  # fmt: skip
    values = {name: sorted(set(column)) for each in tables for name, column in each.items() if name in texts}
    return Linked(
        households=pa.table(tables[0]),
        persons=pa.table(tables[1]),
        above=[
            *(listed(name, values[name]) for name in ("type", "building")),
            {"name": "cars", "kind": "integer", "bounds": [0, 4]},
            {"name": "income", "kind": "integer", "bounds": [0, 9]},
        ],
        below=[
            {"name": "age", "kind": "integer", "bounds": [0, 95]},
            *(listed(name, values[name]) for name in ("sex", "work", "school")),
        ],
    )


def asked(data: Linked, rows: str, loss: Plain, order: list[str]) -> Plain:
    """Return the specification of records of both tables, or of one."""
    names = [attribute["name"] for attribute in data.below]
    above: Plain = {"name": "households", "key": "hhid"}
    below: Plain = {"name": "persons", "of": "households", "key": "hhid", "most": MOST, "order": order}
    size = {"name": "size", "kind": "integer", "bounds": [0, MOST]}
    attributes = {"": [*data.above, *data.below], "households": [*data.above, size], "persons": data.below}[rows]
    below |= {} if rows else {"attributes": names}
    above |= {"derived": {"size": "count"}} if rows == "households" else {}
    return {
        "data": {"rows": rows} if rows else {},
        "table": [above, below],
        "attribute": attributes,
        "privacy": {"unit": "hhid", **loss},
        "release": {"kind": "microdata"},
    }


def coded(table: pa.Table, attributes: list[Plain]) -> Codes:
    """Return cells of attributes, numbers in at most 16 bins, shape (attributes, rows)."""
    out = []
    for attribute in attributes:
        column = table[attribute["name"]].to_pylist()
        if attribute["kind"] == "categorical":
            places = {value: place for place, value in enumerate(attribute["values"])}
            out.append([places[value] for value in column])
        else:
            low, high = attribute["bounds"]
            cells = np.clip(np.array(column, dtype=np.int64), low, high) - low
            out.append((cells * min(16, high - low + 1) // (high - low + 1)).tolist())
    return np.array(out, dtype=np.int64).reshape(len(attributes), -1)


def apart(first: Codes, second: Codes) -> float:
    """Return the total variation distance of two sets of records of some attributes."""
    keys = [np.ravel_multi_index(tuple(codes), (32,) * len(codes)) for codes in (first, second)]
    shares = [np.bincount(each, minlength=32 ** len(first)) / max(each.size, 1) for each in keys]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Two linked tables by their cells: of households, persons, and the household of each person, in order."""

    above: Codes
    below: Codes
    of: Codes

    @property
    def sizes(self) -> Codes:
        return np.bincount(self.of, minlength=self.above.shape[1])

    @property
    def heads(self) -> Codes:
        """The first person of everybody's household."""
        starts = np.searchsorted(self.of, np.arange(self.above.shape[1]))
        return starts[self.of]


def measures(truth: Cells, made: Cells) -> dict[str, float]:
    """Return the distances of what was made."""

    def inside(of: Any, number: int) -> float:
        sides = [of(cells) for cells in (truth, made)]
        every = itertools.combinations(range(len(sides[0])), number)
        return statistics.fmean(apart(*(side[list(places)] for side in sides)) for places in every)

    def between(of: Any, numbers: tuple[int, int] = (1, 1)) -> float:
        sides = [of(cells) for cells in (truth, made)]
        choices = (
            itertools.combinations(range(len(part)), number) for part, number in zip(sides[0], numbers, strict=True)
        )
        every = itertools.product(*choices)
        return statistics.fmean(
            apart(*(np.concatenate([side[0][list(a)], side[1][list(b)]]) for side in sides)) for a, b in every
        )

    def across(cells: Cells) -> tuple[Codes, Codes]:
        return cells.above[:, cells.of], cells.below

    def members(cells: Cells) -> tuple[Codes, Codes]:
        others = cells.heads != np.arange(cells.of.size)
        return cells.below[:, cells.heads[others]], cells.below[:, others]

    return {
        "households": inside(lambda cells: cells.above, 2),
        "persons": inside(lambda cells: cells.below, 2),
        "across": between(across),
        "members": between(members),
        "households3": inside(lambda cells: cells.above, 3),
        "persons3": inside(lambda cells: cells.below, 3),
        "across3": statistics.fmean(between(across, numbers) for numbers in ((1, 2), (2, 1))),
        "sizes": apart(truth.sizes[None], made.sizes[None]),
    }


def in_order(data: Linked, households: pa.Table, persons: pa.Table) -> Cells:
    """Return the cells of two tables, persons by their household."""
    place = {key: row for row, key in enumerate(households["hhid"].to_pylist())}
    of = np.array([place[key] for key in persons["hhid"].to_pylist()], dtype=np.int64)
    order = np.argsort(of, kind="stable")
    return Cells(above=coded(households, data.above), below=coded(persons, data.below)[:, order], of=of[order])


def together(data: Linked, tables: Plain, loss: Plain, order: list[str], seed: int) -> Cells:
    release = dpress.publish(asked(data, "", loss, order), tables, rng=rng.seeded(seed))
    parts = {part.name: pa.Table.from_batches(part.batches()) for part in release.answers.parts(progress=None)}
    return in_order(data, parts["households.parquet"], parts["persons.parquet"])


def separately(data: Linked, tables: Plain, loss: Plain, order: list[str], seed: int) -> Cells:
    half = {name: value / 2 for name, value in loss.items()}
    made = [
        dpress.publish(asked(data, rows, half, order), tables, rng=rng.seeded(seed + k)).detail.table
        for k, rows in enumerate(("households", "persons"))
    ]
    sizes = np.array(made[0]["size"].to_pylist())
    of = np.repeat(np.arange(sizes.size), sizes)
    persons = coded(made[1], data.below)
    heads = [attribute["name"] for attribute in data.below].index("role") if order[0].startswith("role") else None
    filled = np.argsort(rng.seeded(seed).words(persons.shape[1]))[np.arange(of.size) % max(persons.shape[1], 1)]
    cells = persons[:, filled]
    if heads is not None:  # the head comes first where there is one
        rank = np.lexsort((cells[heads], of))
        cells = cells[:, rank]
    return Cells(above=coded(made[0], data.above), below=cells, of=of)


def kept(data: Linked, order: list[str]) -> Cells:
    """Return the rows that count, in their order."""
    persons = data.persons.to_pandas()
    if order[0].startswith("role"):
        persons = persons.assign(rank=(persons.role != "head") * 1000 - persons.age).sort_values(["hhid", "rank"])
    persons = persons.groupby("hhid", sort=False).head(MOST)
    return in_order(data, data.households, pa.Table.from_pandas(persons, preserve_index=False))


def main() -> None:
    """Print the figures."""
    sets = {"census": (census(), ["role = head", "-age"]), "atlanta": (atlanta(), ["place"])}
    wanted, figures = sys.argv[1:] or [*sets], dict[str, Any]()
    for name, (data, order) in sets.items():
        if data is None or name not in wanted:
            continue
        truth, tables = kept(data, order), {"households": data.households, "persons": data.persons}
        figures[name] = {"households": data.households.num_rows, "persons": data.persons.num_rows}
        for loss, (way, make) in itertools.product(LOSS, {"together": together, "apart": separately}.items()):
            started = time.process_time()
            runs = [measures(truth, make(data, tables, loss, order, 10 * run)) for run in range(RUNS)]
            mean = {key: round(statistics.fmean(run[key] for run in runs), 4) for key in runs[0]}
            seconds = (time.process_time() - started) / RUNS
            figures[name][f"{way}, epsilon = {loss['epsilon']:g}"] = {**mean, "cpu_seconds": round(seconds, 1)}
            print(name, way, loss, mean, f"{seconds:.0f} s", file=sys.stderr)
    json.dump({"machine": facts(), **figures}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
