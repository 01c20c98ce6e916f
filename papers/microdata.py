"""The experiments of the document on mixed microdata: DP-k-prototypes, MDAV, noise on every record, and ours.

make reproduce PAPER=microdata        (python papers/microdata.py [--quick] [--again] [--out FOLDER] [--docs FOLDER])

A run of DP-k-prototypes is one clustering, from the document's random starts, with all budgets on it; beside it, fresh
starts for every budget. MDAV has groups of k, and, once more, as many groups as there are clusters. Measures are
`aligned` (all rows, row i against record i), `matched` (500 rows and 500 records at random, matched by assignment: a
lower bound), the error of tables of two attributes, and RL. Two controls know nothing of any record's attributes
together: columns permuted one by one, and one constant record. `per_value` is the document's noise on every record,
epsilon for every value; `per_record` divides it among them. Attributes are taken in the order age, hours_per_week,
workclass, education, marital_status, occupation, race, native_country.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import driver
from microdata_claims import claims
from microdata_figures import draw
from microdata_methods import (
    CONTROLS,
    METHODS,
    Found,
    adult,
    around,
    averaged,
    clustered,
    composed,
    grouped_by_mdav,
    linkage,
    measured,
)
from microdata_quantities import GROUPS_OF_K, PLACE, SAME_NUMBER
from microdata_replaced import replaced
from quantities import Row, chosen

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.methods.people import Codes

EPSILONS = ("0.01", "0.1", "1", "10")
BOTH = (4, 8)  # attributes for which k and epsilon vary together
EVERY_D = (3, 4, 5, 6, 7, 8)
K = (3, 5, 10, 20, 40, 60, 80, 100)
SWEPT = (4, 20, 40)  # k of the sweeps over d
FRESH = (3, 20)  # k of the runs with fresh starts
LARGE = (1000, 3000)  # groups for which insensitive microaggregation is meant
MIDDLE = 20
LINKED = 2_000  # records that are linked, at random, where more of them differ
RUNS, MANY, TRIALS = 3, 10, 40  # MANY at the place of the lines about ours
NO_NOISE = "1000"  # epsilon, the largest there is
SHOWN = "0.5"  # epsilon at which the noise is looked for
ONE, EACH = "one clustering", "fresh starts per epsilon"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One method on one table, with all budgets, in one run; of MDAV, whose groups do not vary, in all runs.

    Args:
        method: by its name.
        d: the number of attributes.
        k: clusters, or the size of a group; 0 for none, or for what the plan chooses.
        epsilons: of the releases.
        runs: their numbers.
        linked: records that are linked, at most, where they differ.
        starts: of k-prototypes; empty for others.
        compared: of MDAV, with what k of clusters; empty for others.
    """

    method: str
    d: int
    k: int
    epsilons: tuple[str, ...]
    runs: tuple[int, ...]
    linked: int
    starts: str = ""
    compared: str = ""

    def __str__(self) -> str:
        """Return what is run, in a line."""
        more = " ".join(filter(None, (self.starts, self.compared)))
        return f"{self.method}, {self.d} attributes, k = {self.k} {more}".rstrip()

    @property
    def work(self) -> float:
        """About how long it takes, for the order."""
        slow = {"graphical": 50.0, "mdav": 100 / max(self.k, 1), "dp_k_prototypes": 1 + self.k / 20}
        return self.d * slow.get(self.method, 1.0) * len(self.runs)

    def row(self, epsilon: str, run: int, records: Codes) -> Row:
        """Return what is found of a release."""
        samples = rng.seeded(driver.seed("rows", run))  # the same rows for all methods of a run
        found: Found = measured(self.d, self.method, records, samples)
        own: Row = {"method": self.method, "d": self.d, "k": self.k, "epsilon": epsilon, "run": run}
        own |= {"starts": self.starts, "compared": self.compared, **asdict(found), "linkage": None}
        if self.method in {"dp_k_prototypes", "mdav", *CONTROLS} and self.d in BOTH:
            own["linkage"] = linkage(self.d, records, samples, self.linked)
        return own


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterExample:
    """A setting in which something is to be seen of the promise.

    Args:
        d: the number of attributes.
        k: clusters.
        runs: of replaced records, a clustering each; or one for the noise of a clustering.
        noise: whether it is about the noise.
    """

    d: int
    k: int
    runs: tuple[int, ...]
    noise: bool

    def __str__(self) -> str:
        """Return what is run, in a line."""
        what = f"noise of run {self.runs[0]}" if self.noise else "replaced records"
        return f"{what}, {self.setting}"

    @property
    def setting(self) -> str:
        """The setting in words."""
        return f"{self.d} attributes, k = {self.k}"


def tasks(*, quick: bool) -> list[Task | CounterExample]:
    """Return every setting, the longest first."""
    sizes, swept_k, every_d = ((10, 20), (20,), BOTH) if quick else (K, SWEPT, EVERY_D)
    numbers, many = ((0, 1), (0, 1)) if quick else (tuple(range(RUNS)), tuple(range(MANY)))
    same: dict[str, Any] = {"epsilons": EPSILONS[2:] if quick else EPSILONS, "linked": 500 if quick else LINKED}
    wide = PLACE[:1] if quick else BOTH
    places = sorted({(d, k) for d in wide for k in sizes} | {(d, k) for d in every_d for k in swept_k})
    ways = [(ONE, places), (EACH, [PLACE] if quick else [(d, k) for d in BOTH for k in FRESH])]
    made = [
        Task(method="dp_k_prototypes", d=d, k=k, runs=(run,), starts=starts, **same)
        for starts, own in ways
        for d, k in own
        for run in (many if (d, k) == PLACE or starts == EACH else numbers)
    ]
    made += [
        Task(method="mdav", d=d, k=k, runs=many if (d, k) == PLACE else numbers, compared=compared, **same)
        for d, k in places
        for compared in (GROUPS_OF_K, SAME_NUMBER)
        if (d in BOTH or compared == GROUPS_OF_K) and (k == MIDDLE or not quick)
    ]
    same["epsilons"] = EPSILONS  # cheap ones
    for one in _ours(quick=quick, every_d=every_d, sizes=sizes):
        made.append(
            Task(**{**same, "runs": many if one["d"] == PLACE[0] and one["k"] in {0, *LARGE} else numbers, **one})
        )
    shown = [CounterExample(d=PLACE[0], k=PLACE[1], runs=(run,), noise=True) for run in numbers]
    settings = [(4, 20)] if quick else [(d, k) for d in BOTH for k in (20, 100)]
    runs = tuple(range(4 if quick else TRIALS))
    shown += [CounterExample(d=d, k=k, runs=runs, noise=False) for d, k in settings]
    return [*shown, *sorted(made, key=lambda task: -task.work)]


def _ours(*, quick: bool, every_d: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """Yield the settings of noise on every record, of the methods with a proof, and of the controls."""
    rows, both = adult(PLACE[0])[0].shape[1], PLACE[:1] if quick else BOTH
    groups = [size for size in LARGE if 2 * size <= rows] or [max(2, rows // 10)]
    few = {"epsilons": ("1",)} if quick else {}  # it takes long
    for method in ("per_value", "per_record", "representative", "mixture", *CONTROLS):
        yield from ({"method": method, "d": d, "k": 0} for d in (both if quick else every_d))
    yield from ({"method": "graphical", "d": d, "k": 0, **few} for d in both)
    yield from ({"method": "representative", "d": PLACE[0], "k": k} for k in (() if quick else sizes))
    groups = groups[-1:] if quick else groups
    yield from ({"method": "insensitive_microaggregation", "d": d, "k": k} for d in both for k in groups)


def run(task: Task | CounterExample) -> dict[str, list[Row]]:
    """Return the rows of a task by table."""
    if isinstance(task, CounterExample):
        return _counter_example(task)
    return {"errors": [row for number in task.runs for row in _rows(task, number)]}


def _rows(task: Task, number: int) -> Iterator[Row]:
    """Yield a row for every budget that dpress does not refuse."""
    source = rng.seeded(driver.seed(task, number))
    if task.method == "dp_k_prototypes":
        groups = clustered(task.d, task.k, source)
        for epsilon in task.epsilons:
            own = clustered(task.d, task.k, source) if task.starts == EACH else groups
            yield task.row(epsilon, number, around(task.d, own, epsilon, source))
        return
    if task.method == "mdav":
        rows = adult(task.d)[0].shape[1]
        groups = grouped_by_mdav(task.d, rows // task.k if task.compared == SAME_NUMBER else task.k)
        for epsilon in task.epsilons:
            yield task.row(epsilon, number, around(task.d, groups, epsilon, source))
        return
    if task.method in CONTROLS:  # which no budget changes
        found = task.row("", number, METHODS[task.method](task.d, 0, "", source))
        yield from (found | {"epsilon": epsilon} for epsilon in task.epsilons)
        return
    for epsilon in task.epsilons:
        try:
            records = METHODS[task.method](task.d, task.k, epsilon, source)
        except NotSupported:
            continue
        yield task.row(epsilon, number, records)


def _counter_example(task: CounterExample) -> dict[str, list[Row]]:
    """Return what replaced records do; or of one clustering its SSE with noise and without, and what averages out."""
    if not task.noise:
        rows = [{"clusters": task.setting, "run": one, **replaced(task.d, task.k, one)} for one in task.runs]
        return {"replaced": rows, "largest": [_largest(task.setting, rows)]}
    source, run = rng.seeded(driver.seed(task)), task.runs[0]
    groups = clustered(task.d, task.k, source)
    noise = []
    for epsilon, words in ((SHOWN, "noise"), (NO_NOISE, "no noise")):
        found = measured(task.d, "dp_k_prototypes", around(task.d, groups, epsilon, source), source)
        noise.append({"method": words, "run": run, "aligned": found.aligned})
    left = averaged(task.d, groups, around(task.d, groups, "0.01", source), "0.01")
    return {"noise": noise, "averaged": [{"run": run, "left": left}]}


def _largest(setting: str, rows: Sequence[Row]) -> Row:
    """Return the worst replaced record of a setting: one is enough to refute what is claimed of all."""
    return {"clusters": setting, **{name: max(row[name] for row in rows) for name in ("others", "times")}}


def tables(quick: bool) -> dict[str, list[Row]]:  # noqa: FBT001  # as the driver calls it
    """Return the tables of all experiments."""
    found = driver.parallel(run, tasks(quick=quick))
    found["rivals"] = rivals(found["errors"])
    found["composed"] = [{"what": "8 values", "value": composed(PLACE[0])}]
    return found


def rivals(errors: Sequence[Row]) -> list[Row]:
    """Return the rows of DP-k-prototypes beside both kinds of MDAV's, for each k."""
    own = chosen(errors, {"method": "dp_k_prototypes", "starts": ONE, "d": BOTH})
    both = [row | {"compared": compared} for row in own for compared in (GROUPS_OF_K, SAME_NUMBER)]
    keep = ("compared", "method", "d", "k", "epsilon", "run", "aligned")
    mdav = chosen(errors, {"method": "mdav", "d": BOTH})
    return [{name: row[name] for name in keep} for row in [*both, *mdav]]


PAPER = driver.Paper(name="microdata", data=("adult",), tables=tables, claims=claims, draw=draw)

if __name__ == "__main__":
    sys.exit(driver.main(PAPER, __doc__))
