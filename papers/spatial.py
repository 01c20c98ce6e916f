"""The experiments of the document on range queries over positions under local privacy: GT-R and its rivals.

make reproduce PAPER=spatial        (python papers/spatial.py [--quick] [--again] [--out FOLDER] [--docs FOLDER])

Gowalla's check-ins stand in for both data sets (Checkin: the world; Landmark, whose points are not public: the box of
the 48 states). The document lets its rivals answer over the whole domain of positions and GT-R over a coarser grid, and
names the side of neither: GT-R is run at 16 and at 32 a side, every rival at 16 to 128. Reports are real but where bits
or projections are many (`reports`): there, and for `ahead`, which needs rounds, answers are simulated from the exact
variance. Writes errors.csv (a row for every run), against.csv (ours and a rival side by side), theory.csv and
crossover.csv. About 4 minutes on two cores; --quick takes seconds.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import driver
import spatial_claims
import spatial_figures
import spatial_theory
from quantities import Row, mean
from spatial_methods import FLAT, PROJECTED, SOURCES, Kind, collected, made, places, relative_error, uniform

from dpress.core.basics import rng

EPSILONS = ("0.1", "0.3", "0.5", "0.7", "0.9")
SIZES = ((0.05, 0.45), (0.10, 0.50), (0.15, 0.55), (0.20, 0.60), (0.0001, 0.01))  # the document's, and a small one
RIVALS = ("krr", "rappor", "oue", "n_psda", "qt_krr", "qt_rappor", "psda")
COARSE = ("gtr", "n_gtr")  # on a grid of their own; n_gtr is `oue` on GT-R's grid, `oue` over the whole domain a rival
DOMAINS = (16, 32, 64, 128)
GRIDS = (16, 32)  # of GT-R
LONG = {"rappor", "oue", "qt_rappor", *PROJECTED}  # reports too long, or projections too large, beyond a side of 32
SWEPT = (8, 16, 32, 64, 128, 256)
OURS: tuple[tuple[str, int, Kind], ...] = (
    ("gtr_top_down", 256, "real"),
    ("dam", 32, "real"),
    ("ahead", 256, "simulated"),
)
QUICK = (("landmark", "0.5"), ("landmark", "0.7"), ("checkin", "0.9"))
RUNS, OUR_RUNS, THEORY_RUNS = 12, 8, 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One method on one grid with one budget, all its runs; one map answers queries of every size.

    Args:
        experiment: "published", "ours" or "sides"; "theory" has no data set.
        data: which data set.
        method: by its name.
        side: cells along each axis.
        epsilon: of a report.
        runs: how many.
        reports: real or simulated.
    """

    experiment: str
    data: str = ""
    method: str = ""
    side: int = 0
    epsilon: str = ""
    runs: int
    reports: Kind = "real"

    def __str__(self) -> str:
        return f"{self.experiment} {self.data} {self.method} {self.side} {self.epsilon} {self.reports}"


def tasks(*, quick: bool) -> list[Task]:
    """Return every setting, the longest first."""
    domains, grids, swept, finest = ((16, 64), (16,), (16, 128), 32) if quick else (DOMAINS, GRIDS, SWEPT, 256)
    runs, ours = (3, 3) if quick else (RUNS, OUR_RUNS)
    systems = [(method, side) for method in RIVALS for side in domains] + [(m, side) for m in COARSE for side in grids]
    out = []
    for data, epsilon in QUICK if quick else [(data, epsilon) for data in SOURCES for epsilon in EPSILONS]:
        same: dict[str, Any] = {"data": data, "epsilon": epsilon, "runs": ours}
        alike = same | {"runs": runs}
        out += [Task(experiment="published", method=m, side=s, reports=_kind(m, s), **alike) for m, s in systems]
        out += [Task(experiment="ours", method=m, side=min(s, finest), reports=kind, **same) for m, s, kind in OURS]
        both = ("gtr", "gtr_top_down") if epsilon in {"0.5", "0.9"} else ()
        out += [Task(experiment="sides", method=m, side=s, reports="simulated", **same) for m in both for s in swept]
    ordered = sorted(out, key=lambda one: -one.side * (one.reports == "real"))
    return [Task(experiment="theory", runs=60 if quick else THEORY_RUNS), *ordered]


def _kind(method: str, side: int) -> Kind:
    return "simulated" if method in LONG and side > GRIDS[-1] else "real"


def run(task: Task) -> dict[str, list[Row]]:
    """Return a row for every run and every size of queries."""
    source = rng.seeded(driver.seed(task))
    if task.experiment == "theory":
        return {"theory": spatial_theory.measured(task.runs, source), "crossover": spatial_theory.crossovers()}
    own = made(task.method, task.side, task.epsilon)
    place = {"experiment": task.experiment, "data": task.data, "method": task.method, "side": task.side}
    place |= {"epsilon": task.epsilon, "reports": task.reports, "users": places(task.data).shape[1]}
    rows: list[Row] = []
    for number in range(task.runs):
        found = collected(own, task.data, task.reports, source=source)
        rows += [
            place | _size(low, high) | {"run": number, "relative_error": relative_error(found, task.data, low, high)}
            for low, high in SIZES
        ]
    return {"errors": rows}


def _family(method: str) -> str:
    return "none" if method == "uniform" else "flat" if method in {*FLAT, "n_psda", "n_gtr"} else "tree"


def _size(low: float, high: float) -> Row:
    return {"low": low, "size": f"{100 * low:g} to {100 * high:g} %"}


def tables(quick: bool) -> dict[str, list[Row]]:  # noqa: FBT001  # the driver's
    """Return the tables of all experiments."""
    found = driver.parallel(run, tasks(quick=quick))
    raw = found["errors"]
    even = [
        {"data": name, "method": "uniform", "side": 1, "epsilon": epsilon, "reports": "none", **_size(low, high)}
        | {"relative_error": relative_error(uniform(name), name, low, high)}
        for name, epsilon in dict.fromkeys((row["data"], row["epsilon"]) for row in raw)
        for low, high in SIZES
    ]
    placed = [*_domains(raw, even), *(row for row in raw if row["experiment"] in {"ours", "sides"})]
    placed += [row | {"experiment": "ours"} for row in even]
    return found | {"errors": placed, "against": list(_against(placed)), "example": spatial_claims.printed_example()}


def _domains(raw: Sequence[Row], even: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows of the document's experiment: every rival at a domain beside GT-R at each of its grids.

    Its `grid` is GT-R's side; on the "common" grid that is the rivals' own.
    """
    own = [row for row in raw if row["experiment"] == "published"]
    grids = sorted({row["side"] for row in own if row["method"] in COARSE})
    domains = sorted({row["side"] for row in own if row["method"] not in COARSE})
    for grid in grids:
        for domain in (one for one in domains if one >= grid):
            kept = [row for row in own if row["side"] == (grid if row["method"] in COARSE else domain)]
            for row in [*kept, *even]:
                own_place = {"experiment": "domain", "grid": grid, "domain": domain}
                yield row | own_place | {"family": _family(row["method"])}


def _against(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the errors of ours, and of GT-R, beside those of every rival: at its best domain, at its finest and alike.

    The best domain is the one of the smallest mean error, setting by setting.
    """
    domain = [row for row in rows if row["experiment"] == "domain" and row["grid"] == GRIDS[0]]
    finest = max(row["domain"] for row in domain)
    each: dict[tuple[str, ...], dict[int, list[Row]]] = {}
    for row in domain:
        place = (row["method"], *_setting(row))
        each.setdefault(place, {}).setdefault(row["domain"], []).append(row)
    ours = [row for row in rows if row["experiment"] == "ours" and row["method"] != "uniform"]
    alone = [row for row in domain if row["method"] == "gtr" and row["domain"] == finest]
    choices: dict[str, Callable[[dict[int, list[Row]]], int]] = {
        "best domain": lambda found: min(found, key=lambda one: mean(found[one], "relative_error")),
        "finest domain": lambda found: finest,  # noqa: ARG005
        "common grid": lambda found: GRIDS[0],  # noqa: ARG005
    }
    for row in [*ours, *alone]:
        for rival in (*RIVALS, *COARSE, "uniform"):
            found = each[rival, *_setting(row)]
            for at, choose in choices.items():
                if rival == row["method"] or (at == "common grid") != (row["method"] == "gtr" and rival != "uniform"):
                    continue
                same = [one for one in found[choose(found)] if one.get("run", row["run"]) == row["run"]]
                place = {name: row[name] for name in ("data", "epsilon", "low", "size", "run")}
                place |= {"own": row["method"], "rival": rival, "at": at, "own_error": row["relative_error"]}
                yield place | {"rival_error": mean(same, "relative_error")}


def _setting(row: Row) -> tuple[str, ...]:
    return row["data"], row["epsilon"], row["size"]


PAPER = driver.Paper(
    name="spatial", data=("gowalla",), tables=tables, claims=spatial_claims.claims, draw=spatial_figures.draw
)

if __name__ == "__main__":
    sys.exit(driver.main(PAPER, __doc__ or ""))
