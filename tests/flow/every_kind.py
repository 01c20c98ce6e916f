"""A release of every kind by every engine: what is tested in `test_every_kind.py`, and stated in a table of a page.

`python -m tests.flow.every_kind` writes that table. The rows are those of `same_rows`, the noise has a seed: two
engines that count the same make the same release, and any other count makes another one.
"""

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.flow.same_rows import ROWS

from dpress.core.basics import rng
from dpress.core.reports.pieces import Run, on_threads
from dpress.data import fold
from dpress.data.table import Table
from dpress.release.curator.publish import publish
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb
from dpress.release.plan.plan import Plan, plan

Spec = dict[str, Any]
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "engines.md"
MOST = 9  # rows of a person: all that anybody has

AGE = {"name": "age", "kind": "integer", "bounds": [0, 69], "bins": 14, "null": "drop"}
PAY = {"name": "pay", "kind": "numeric", "bounds": [0.0, 1000.0], "bins": 20, "outside": "clamp"}
SEX = {"name": "sex", "kind": "categorical", "values": ["M", "F"], "other": "else"}
NAME = {"name": "name", "kind": "categorical", "column": "sex", "values": "discover", "other": "else"}
WORD = {"name": "sex", "kind": "categorical", "values": "discover", "other": "else"}
HELD = {"name": "sex", "kind": "categorical", "values": ["M", "F", "x"], "other": "else"}
YEAR = {"name": "year", "kind": "categorical", "values": ["2020", "2021"]}
YEARS = {"name": "years", "kind": "hierarchy", "column": "year", "levels": ["decade", "year"], "prefix": [3, 4],
         "values": ["2020", "2021"]}  # fmt: skip
HEAVY = {"name": "heavy", "kind": "integer", "column": "age", "bounds": [0, 69], "null": "drop"}
PLACE = {"name": "place", "kind": "location", "columns": ["lon", "lat"], "bounds": [[-74.01, -73.7], [40.59, 40.8]],
         "outside": "clamp"}  # fmt: skip
LOSS: Spec = {"epsilon": 20.0}
PERSONS: Spec = LOSS | {"unit": "uid", "rows_per_unit": MOST}
FEW: Spec = {"delta": 1e-6}
DEVICES: Spec = {"model": "local", "epsilon": 8.0}


def spec(kind: str, *attributes: Spec, method: str = "auto", privacy: Spec = LOSS, **parameters: Any) -> Spec:
    """Return a specification as plain objects."""
    names = [one["name"] for one in attributes]
    release = {"kind": kind, "attributes": names, "method": method, "parameters": parameters}
    return {"attribute": list(attributes), "privacy": privacy, "release": release}


CURATED: Mapping[str, Spec] = {
    "histogram": spec("histogram", AGE),
    "marginals, all pairs": spec("marginals", AGE, SEX, YEAR, ways=2),
    "marginals, of persons": spec("marginals", AGE, SEX, privacy=PERSONS),
    "marginals by residuals": spec("marginals", AGE, SEX, YEAR, privacy={"rho": 10.0}, ways=2),
    "ranges": spec("ranges", PAY),
    "queries": spec("queries", AGE, SEX, queries=["age in 10..29 and sex = M", "age in 20..69"]),
    "statistics: means, variances": spec("statistics", SEX, PAY, by=["sex"], mean=["pay"], variance=["pay"]),
    "statistics: quantiles": spec("statistics", SEX, PAY, by=["sex"], quantiles={"pay": [0.25, 0.5]}),
    "statistics: bounds looked for": spec("statistics", SEX, PAY, by=["sex"], mean=["pay"], private_bounds=["pay"]),
    "statistics: weights, replicates": spec(
        "statistics",
        SEX,
        PAY,
        HEAVY,
        by=["sex"],
        mean=["pay"],
        median=["pay"],
        weight="heavy",
        replicates=["lat", "age"],
        replicate_method="brr",
    ),
    "statistics: sums over persons": spec(
        "statistics", SEX, PAY, privacy=PERSONS, by=["sex"], persons=True, totals={"pay": [0, 3000]}
    ),
    "statistics of discovered groups": spec("statistics", NAME, PAY, privacy=LOSS | FEW, by=["name"], mean=["pay"]),
    "the same, of persons": spec("statistics", NAME, PAY, privacy=PERSONS | FEW, by=["name"], mean=["pay"]),
    "names": spec("names", NAME, privacy=LOSS | FEW),
    "names, of persons": spec("names", NAME, privacy=PERSONS | FEW),
    "joint": spec("joint", AGE, SEX, YEAR),
    "spatial": spec("spatial", PLACE, method="quadtree", height=4),
    "spatial, cut where people are": spec("spatial", PLACE, method="adaptive_grid", users=170),
    "microdata": spec("microdata", AGE, SEX),
    "microdata by prototypes": spec("microdata", AGE, SEX, method="dp_prototypes"),
    "microdata of the whole table": spec("microdata", AGE, SEX, method="mdav"),
    "regions": spec("regions", YEARS, SEX, tables=[["sex"]]),
}
COLLECTED: Mapping[str, Spec] = {
    "reports: histogram, marginals": spec("marginals", SEX, YEAR, privacy=DEVICES),
    "reports: ranges": spec("ranges", PAY, privacy=DEVICES),
    "reports: statistics": spec("statistics", PAY, privacy=DEVICES, mean=["pay"]),
    "reports: joint": spec("joint", HELD, YEAR, method="em", privacy=DEVICES),
    "reports: spatial": spec("spatial", PLACE, privacy=DEVICES, method="gtr_top_down", height=2, users=170),
    "reports: strings": spec("strings", WORD, privacy=DEVICES, longest=2, users=170),
    "reports: sets": spec("sets", HELD, privacy=DEVICES, cap=1, users=170),
}
ENGINES = {
    "threads": "threads",
    "duckdb": "SQL on DuckDB",
    "postgres": "SQL on PostgreSQL",
    "spark": "Spark, a DataFrame",
    "files": "Spark, files",
    "connect": "Spark Connect, a DataFrame",
}
BEGIN = "<!-- written by python -m tests.flow.every_kind -->\n"
READ = "threads read the rows: here, or those of a file"
PERSONS_OF_FILES = "which rows of a person stay is drawn once for all readings, by whoever reads the file"
TOGETHER = "all rows of a person are needed at once"
PASSES = "records take several passes over the rows; these are held here as codes, or read again"
SECOND_ROUND = "the second round is about names that the first one left open, and these stand in no statement"
WHOLE_TABLE = "the method compares every row with every other one"
CELLS = "all cells are more than four million, so that threads add up what the codes of rows give"
IN_FILES = "reports are files, or rows of a service's store, and no table of anybody's"
RECORDS = ("microdata", "microdata by prototypes")
OF_PERSONS = ("statistics: sums over persons", "the same, of persons", "names, of persons")
REASONS: Mapping[tuple[str, str], str] = {
    **{(kind, "threads"): READ for kind in CURATED},
    **{(kind, engine): PERSONS_OF_FILES for kind in OF_PERSONS for engine in ("duckdb", "files")},
    **{(kind, engine): PASSES for kind in RECORDS for engine in ("duckdb", "postgres")},
    **{("microdata of the whole table", engine): WHOLE_TABLE for engine in ENGINES if engine != "threads"},
    **{("statistics: weights, replicates", engine): CELLS for engine in ("duckdb", "postgres")},
    ("statistics: sums over persons", "postgres"): TOGETHER,
    ("the same, of persons", "postgres"): SECOND_ROUND,
    **{(kind, engine): IN_FILES for kind in COLLECTED for engine in ("duckdb", "postgres", "spark")},
}


def planned(kind: str) -> Plan:
    """Return the plan of a release."""
    return plan(CURATED[kind] if kind in CURATED else COLLECTED[kind])


def published(kind: str, data: Any, engine: str | None) -> tuple[str, bool]:
    """Return what a release is known by, and whether rows were read in this process for it."""
    with tempfile.TemporaryDirectory() as folder, rows_read() as read:
        release = publish(planned(kind), data, engine=engine, rng=rng.seeded(7), allow_unproven=True, out=f"{folder}/r")
        return known_by(release, Path(folder)), bool(read)


def reported(kind: str, folder: Path) -> Path:
    """Return a folder with two files of the reports of all people."""
    (place := folder / "reports").mkdir()
    for number, part in enumerate((ROWS.slice(0, 100), ROWS.slice(100))):
        perturb(planned(kind), part, out=place / f"{number}.parquet", rng=rng.seeded(number))
    return place


def estimated(kind: str, reports: Path, run: Run = on_threads) -> str:
    """Return what the release of a collection is known by."""
    with tempfile.TemporaryDirectory() as folder:
        return known_by(estimate(planned(kind), reports, run=run, out=f"{folder}/r"), Path(folder))


def known_by(release: Any, folder: Path) -> str:
    """Return a hash of what was counted with noise, and of all tables of a release."""
    seen = hashlib.sha256(release.kept.tobytes())
    for path in sorted(folder.rglob("*.parquet")):
        seen.update(path.name.encode() + path.read_bytes())
    return seen.hexdigest()


@contextlib.contextmanager
def rows_read() -> Iterator[list[str]]:
    """Note whatever reads rows in this process, and does not leave them to an engine."""
    read: list[str] = []
    places = [(Table, "batches"), (fold, "add_up"), (fold, "_by_parts")]
    whole = [getattr(*place) for place in places]

    def noting(number: int) -> Any:
        return lambda *of, **how: read.append(places[number][1]) or whole[number](*of, **how)

    try:
        for number, place in enumerate(places):
            setattr(*place, noting(number))
        yield read
    finally:
        for place, own in zip(places, whole, strict=True):
            setattr(*place, own)


def rows_leave(kind: str, engine: str) -> bool:
    """Return whether rows of a table, or codes of them, come from the engine to the process that publishes."""
    return (kind, engine) in REASONS


def table() -> str:
    """Return the table of the page."""
    notes = {reason: number for number, reason in enumerate(dict.fromkeys(REASONS.values()), 1)}
    lines = [f"| kind | {' | '.join(ENGINES.values())} |", "|---" * (len(ENGINES) + 1) + "|"]
    for kind in (*CURATED, *COLLECTED):
        word = "rows" if kind in CURATED else "none"
        cells = [
            f"{word} ({notes[REASONS[kind, engine]]})" if (kind, engine) in REASONS else "sums" for engine in ENGINES
        ]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join([BEGIN, *lines, "", *(f"{number}. {reason}." for reason, number in notes.items()), ""])


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text(encoding="utf-8").split(BEGIN)[0] + table(), encoding="utf-8")
