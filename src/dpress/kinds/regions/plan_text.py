"""What a plan of regions says: the typical error of every table at every level, before a row is read."""

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from dpress.core.basics import claim_words
from dpress.inference.interval import critical
from dpress.inference.regions.measured import Table
from dpress.kinds.regions.kind import Regions
from dpress.kinds.regions.levels import level_names, places_off_the_tree, table_title
from dpress.kinds.regions.region_errors import TableError, table_errors, wanted_tables
from dpress.mechanisms.linear.region_tables import RegionTables
from dpress.release.plan import plan_text
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.parameter_checks import of_kind
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import Listing, PlanText, PlanWords

MOST = 50  # places off the tree whose error is averaged


def text(planned: Plan) -> PlanText:
    """Return the method, then a table of typical errors: a row a level, a column a table."""
    candidate = planned.chosen
    row = ["*", candidate.method, claim_words.words(candidate.mechanism.claim), f"{candidate.predicted_error:,.6g}"]
    header = ("", "method", "proven", "mean variance")
    what = "The typical error of a count, by level and table, after all levels and tables were made to add up:"
    return PlanText(
        candidates=Listing(header=header, rows=[row], numbers=(3,)),
        remarks=[what, _by_level(planned), *_drowned(planned)],
    )


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data, with the typical error of every table at every level."""
    names, levels = planned.choice.schema.names[1:], level_names(planned.choice.schema.tabular[0])
    errors = [
        {
            "level": levels[error.level],
            "regions": error.variances.size,
            "table": [names[axis] for axis in error.table],
            "typical_error": typical(error),
        }
        for error in _errors(planned, candidate)
    ]
    return plan_text.plain(planned, candidate) | {"errors": errors}


def typical(error: TableError) -> float:
    """Return the root of the mean variance, in counts."""
    return math.sqrt(float(error.variances.mean()))


def _errors(planned: Plan, candidate: Candidate) -> list[TableError]:
    tables = wanted_tables(planned.workload)
    return [*table_errors(cast("RegionTables", candidate.mechanism).queries, tables)]


def _by_level(planned: Plan) -> Listing:
    names, levels = planned.choice.schema.names[1:], level_names(planned.choice.schema.tabular[0])
    errors = _errors(planned, planned.chosen)
    tables = list(dict.fromkeys(error.table for error in errors))
    cells = {(error.level, error.table): error for error in errors}
    rows = []
    for level, name in enumerate(levels):
        shown = [cells.get((level, table)) for table in tables]
        regions = next(error.variances.size for error in shown if error is not None)
        rows.append([name, f"{regions:,}", *("" if each is None else f"+- {typical(each):,.1f}" for each in shown)])
    header = ("level", "regions", *(table_title(names, table) for table in tables))
    rows += [_off_the_tree(planned, name, tables) for name in places_off_the_tree(planned.choice.schema.tabular[0])]
    return Listing(header=header, rows=rows, numbers=tuple(range(2, len(header) + 1)))


def _off_the_tree(planned: Plan, name: str, tables: Sequence[Table]) -> list[str]:
    """Return the typical errors of places off the tree: of MOST of them at most, evenly taken."""
    place, *others = planned.choice.schema.tabular
    codes, queries = place.coarsened(name), cast("RegionTables", planned.chosen.mechanism).queries
    places = np.unique(np.linspace(0, codes.size - 1, MOST).astype(int)).tolist()
    leaves = [np.zeros(place.size) for _ in places]
    for weights, cell in zip(leaves, places, strict=True):
        for first, last in place.widened(name, ((cell, cell),)):
            weights[first : last + 1] = 1.0
    shown = []
    for table in tables:
        cells = [np.eye(1, axis.size)[0] if at in table else np.ones(axis.size) for at, axis in enumerate(others)]
        there = queries.together([leaves[0], *cells])
        mean = math.fsum(queries.variance([weights, *cells]) for weights in leaves) / len(leaves) if there else math.nan
        shown.append(f"+- {math.sqrt(mean):,.1f}" if there else "")
    return [name, f"{codes.size:,}", *shown]


def _drowned(planned: Plan) -> list[str]:
    """Return at which level the counts of every table drown in noise, where the number of rows is public."""
    parameters = of_kind(planned.spec, Regions)
    public = cast("RegionTables", planned.chosen.mechanism).public
    rows = sum(public[0].counts if public else ()) or parameters.users
    if not rows:
        return ["With `users`, about how many rows there will be, this says where counts drown in noise."]
    names, levels = planned.choice.schema.names[1:], level_names(planned.choice.schema.tabular[0])
    drowned = []
    for error in _errors(planned, planned.chosen):
        cells = math.prod(planned.choice.schema.shape[1 + axis] for axis in error.table)
        count, within = rows / error.variances.size / cells, critical(0.95, "gaussian") * typical(error)
        if count < within:
            drowned.append((error.level, table_title(names, error.table), count, within))
    if not drowned:
        return [f"With {rows:,} rows the average count of every table is larger than its 95 % interval reaches."]
    first = {table: (levels[level], count, within) for level, table, count, within in reversed(drowned)}
    return [
        f"{table}: with {rows:,} rows the counts of a typical {level} drown in noise, {count:,.1f} on average against "
        f"+- {within:,.1f} (95 %)."
        for table, (level, count, within) in first.items()
    ]


WORDS = PlanWords(text=text, plain=plain)
