"""What must hold of every case, whatever its values: each check returns what is wrong, a sentence each."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from scipy.special import log_ndtr, ndtr
from tests.matrix.axes import AXES, Case, kind_of, of_devices
from tests.matrix.cases import EXACTLY_USERS, OF_THE_COLUMN, SHOWN, amounts_of, quoted
from tests.matrix.columns import COLUMNS, MISSING, OTHER
from tests.matrix.pages import bundles_agree, pages_agree, refuse
from tests.matrix.runs import Run
from tests.matrix.tables import DROPPED, has_third

import dpress
from dpress.core.basics.losses.loss import Loss

LARGEST_TEXT = 200_000  # bytes of a release's description; these have at most a few hundred cells
DEVIATIONS = 7.0  # standard errors that an answer may err at a large loss: normal noise does in one of 10^11
STEP = 0.5  # rows by which noise of hardly any variance may still err: seldom, by a step of its lattice


def claim_is_what_was_asked(run: Run) -> Iterator[str]:
    """The loss, the relation, the unit and its rows are those of the specification; the ledger was charged for it."""
    case, wanted = run.case, amounts_of(run.case)
    for release in run.releases:
        claim, unit = release.claim, release.claim.unit
        loss = claim.proven or claim.published
        persons = {"row": (None, 1), "person": ("uid", 1), "person of three": ("uid", 3)}[str(case["unit"])]
        relation = case["relation"]
        if loss is None or not within(loss, wanted):
            yield f"the claim is {loss}, the budget {wanted}"
        if (unit.column, unit.rows) != persons or (not of_devices(case) and unit.relation != relation):
            yield f"the claim is for {unit}, asked was {case['unit']}, {relation}"
        if not release.private:
            yield "secure noise is called a test's"
    yield from _charged(run)


def _charged(run: Run) -> Iterator[str]:
    if run.ledger is None:
        return
    spent, entries = run.ledger.summary().spent, run.ledger.summary().entries
    if run.case["periods"] == "none":
        charged = [run.releases[0].charged]
        if [one.loss for one in entries] != charged or not entries[0].confirmed:
            yield f"the ledger holds {[one.loss for one in entries]}, the release says {charged}"
    limit = amounts_of(run.case)
    if "delta" in limit:  # what a rho is charged there depends on the ledger's limit
        return
    times = {"row": 1, "person": 2, "person of three": 2}[str(run.case["unit"])] if run.case["periods"] != "none" else 1
    times *= 2 if run.case["periods"] != "none" and run.case["relation"] == "replace-one" else 1
    for name, value in spent.items():
        if name in limit and float(value) > times * limit[name] * (1 + 1e-9):
            yield f"{name} = {float(value)} was charged, {limit[name]} asked"


def within(loss: Loss, budget: dict[str, float]) -> bool:
    """Return whether a loss is at most a budget and more than nothing; rho against epsilon and delta by any order.

    That of mu^2 is Phi(mu / 2 - epsilon / mu) - exp(epsilon) Phi(-mu / 2 - epsilon / mu) (Balle, Wang 2018, Theorem 8).
    The conversion of rho is written out here once more: delta = min over alpha of
    exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) (1 - 1/alpha)^alpha (Canonne, Kamath, Steinke 2020,
    Corollary 13).
    """
    own = {name: float(getattr(loss, name)) for name in loss.names}
    if min(own.values()) <= 0:
        return False
    if "mu2" in own and "delta" in budget:
        mu, epsilon = math.sqrt(own["mu2"]), budget["epsilon"]
        delta = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))
        return bool(delta <= budget["delta"] * (1 + 1e-6))
    if "rho" in own and "delta" in budget:
        alpha = 1 + np.geomspace(1e-4, 1e5, 40_001)
        logs = (alpha - 1) * (alpha * own["rho"] - budget["epsilon"]) - np.log(alpha - 1) + alpha * np.log1p(-1 / alpha)
        return bool(logs.min() <= math.log(budget["delta"]) + 1e-6)
    return all(value <= budget.get(name, 0) * (1 + 1e-9) for name, value in own.items())


def description_is_sound(run: Run) -> Iterator[str]:
    """Every JSON file parses, holds finite numbers and is small; what is read back is what was written."""
    for path in run.out.rglob("*.json"):
        text = path.read_text(encoding="utf-8")
        if len(text) > LARGEST_TEXT:
            yield f"{path.name} has {len(text)} bytes"
        json.loads(text, parse_constant=refuse)
    if run.release is not None and isinstance(run.loaded, dpress.Release):
        written, read = run.release.described(), run.loaded.described()
        if json.loads(json.dumps(written, default=str)) != json.loads(json.dumps(read, default=str)):
            yield "the release that is read back describes itself otherwise"
        for text in (text for text, _ in asked_of(run)[:3]):
            if not same(run.release.query(text), run.loaded.query(text)):
                yield f"{text} has another answer where it is read back"


def same(one: dpress.Result, other: dpress.Result) -> bool:
    """Return whether two answers are the same; what is not known is the same as itself."""
    numbers = [[own.value, own.standard_error, *own.interval] for own in (one, other)]
    return repr(one) == repr(other) and one.note == other.note and np.array_equal(*numbers, equal_nan=True)


def asked_of(run: Run) -> list[tuple[str, float | None]]:
    """Return queries of a case, with the truth where it is known."""
    case, known = run.case, not run.table.capped
    truth, column = run.table.truth, COLUMNS[str(case["column"])]
    unused = kind_of(case) == "statistics" and case["grouped"] == "no" and case["asked"] not in OF_THE_COLUMN
    kept = float(len(run.table.rows) if unused else sum(truth.values()))  # nothing drops by a column that is not used
    found: list[tuple[str, float | None]] = [("total", kept if known else None)]
    if kind_of(case) == "spatial":
        inside = sum(count for cell, count in truth.items() if cell == 0)
        return [*found, ("lon in 0..4 and lat in 0..4", float(inside) if known else None)]
    if kind_of(case) == "statistics" and case["periods"] != "none":
        return []  # every period has an answer of its own
    if kind_of(case) == "statistics":
        counted = [] if case["asked"] in ("without intervals", "relations") else found  # some count no rows
        return [*counted, *_statistics(run, known=known)]
    if column.discovered or case["room"] == "queries":
        return found
    for label, cell in zip(labels_of(run), [*range(len(column.inside)), OTHER, MISSING], strict=False):
        if label is not None:
            found.append((f"{case['named']} = {quoted(label)}", float(truth.get(cell, 0)) if known else None))
    return found


def labels_of(run: Run) -> list[str | None]:
    """Return the names of the cells of the first attribute as the design has them, then those for other and missing."""
    case, column = run.case, COLUMNS[str(run.case["column"])]
    labels = list(run.design.schema.attribute(str(case["named"])).labels)
    plain = labels[: len(column.inside)] if column.attribute["kind"] != "location" else []
    return [*plain, *(one if one in labels else None for one in (OTHER, MISSING))]


def _statistics(run: Run, *, known: bool) -> list[tuple[str, float | None]]:
    """Return queries of statistics."""
    case = run.case
    if case["asked"] in ("private bounds", "without intervals", "persons", "share"):
        return []
    if case["asked"] == "distinct":
        return [_different(run, known=known)]
    if case["asked"] == "relations":
        return [("coefficient heavy in cost ~ heavy", 1.0 if known else None)] if case["grouped"] != "no" else []
    costs = [row["cost"] for row, cell in zip(run.table.rows, run.table.cells, strict=True)
             if cell != DROPPED or case["grouped"] == "no"]  # fmt: skip
    if not known or not costs or case["periods"] != "none":
        return []
    mean = math.fsum(costs) / len(costs)
    if case["asked"] == "sampling weight":  # by the cost itself
        mean = math.fsum(cost**2 for cost in costs) / math.fsum(costs)
    if case["asked"] == "quantiles":
        return [("median cost", float(np.quantile(costs, 0.5, method="inverted_cdf")))]
    return [("mean cost", mean)]


def _different(run: Run, *, known: bool) -> tuple[str, float | None]:
    """Return the query of how many values there are, of the first attribute or, in groups, of the third."""
    if has_third(run.case):
        counted = [row["third"] for row, cell in zip(run.table.rows, run.table.cells, strict=True) if cell != DROPPED]
        return "distinct third", float(len({*counted})) if known else None
    listed = [cell for cell in run.table.truth if cell not in (OTHER, MISSING)]
    return f"distinct {run.case['named']}", float(len(listed)) if known else None


def answers_are_near(run: Run) -> Iterator[str]:
    """At a large loss counts, sums and adjusted counts are near the truth."""
    case = run.case
    if case["budget"] != "large" or kind_of(case) in ("microdata", "strings", "names"):
        return
    for text, truth in asked_of(run):
        if truth is None:
            continue
        answer = run.loaded.query(text)
        value, error = answer.value, answer.standard_error
        off = abs(value - truth)
        allowance = (DEVIATIONS * error if math.isfinite(error) else math.inf) + STEP + 1e-6 * abs(truth)
        if answer.within is not None:
            allowance += answer.within[1] - answer.within[0]
        allowance += 16.5 if text.startswith("median") else 1.0 * text.startswith("mean") + 2.0 * of_devices(case)
        if not math.isnan(value) and off > allowance:
            yield f"{text} is {value} +- {error}, the truth {truth}"


def records_are_as_many(run: Run) -> Iterator[str]:
    """At a large loss there are as many records as rows, or as many as were stated to the number."""
    case = run.case
    if kind_of(case) != "microdata" or case["budget"] != "large" or run.table.capped:
        return
    rows = sum(run.table.truth.values())
    records = pq.read_metadata(run.out / "records.parquet").num_rows
    wanted = (
        int(str(run.design.specification["release"]["parameters"]["users"]))
        if case["method"] in EXACTLY_USERS
        else rows
    )
    deviation = math.sqrt(run.releases[0].mechanism.row_variance or 0)
    if abs(records - wanted) > (0 if case["method"] in EXACTLY_USERS else 2 + wanted / 20 + DEVIATIONS * deviation):
        yield f"there are {records} records, of {wanted} rows"


def counted_tables(run: Run) -> Iterator[tuple[dpress.Release, Path, Any]]:
    """Yield every table of counts, as it is written."""
    for release in run.releases:
        for folder in [run.out, *(one for one in run.out.iterdir() if one.is_dir())]:
            for name in release.answers.tables:
                if (folder / name).exists() and (len(run.releases) == 1):
                    table = pq.read_table(folder / name)
                    if "count" in table.column_names:
                        yield release, folder / name, table


def _tiles_agree(release: dpress.Release, path: Path, copy: Any) -> Iterator[str]:
    """The tiles of a map, which its copy as CSV has, are rectangles with the same counts."""
    answers: Any = release.answers
    sides = [column.to_numpy() for column in copy.columns[:4]]
    counts = answers.query_rectangles(np.column_stack(sides[::2]), np.column_stack(sides[1::2]))["count"].to_numpy()
    if not np.allclose(counts, np.array(copy["count"].to_pylist(), dtype=float), rtol=1e-6, atol=1e-4):
        yield f"count is another one in the tiles of {path.name} as CSV"


def tables_agree(run: Run) -> Iterator[str]:
    """A cell of a table, a query for it, sums of the table in SQL and the copy as CSV are the same number."""
    import duckdb

    for release, path, table in counted_tables(run):
        copy = pacsv.read_csv(path.with_suffix(".csv"))
        if path.name in release.answers.sheets:
            yield from _tiles_agree(release, path, copy)
            continue
        for name in ("count", "adjusted"):
            if name in table.column_names and not np.array_equal(
                in_steps(run, _floats(table, name)), _floats(copy, name), equal_nan=True
            ):
                yield f"{name} is another one in the copy of {path.name} as CSV"
        names = release.answers.tables[path.name]
        if kind_of(run.case) not in ("histogram", "marginals", "ranges", "joint") or release.method == "binary_tree":
            continue  # a tree that is not made consistent answers a sum by its own node
        if of_devices(run.case) and len(names) > 1:
            continue  # others reported about the pair than about each alone
        for name in names:
            cells = f"SELECT {_sql(name)} AS cell, sum(count) AS sum FROM '{path}' GROUP BY ALL"
            sums = duckdb.sql(f"{cells} HAVING count(*) = count(count)").fetchall()  # where no number is hidden
            for cell, total in sums[:6]:
                answer = release.query(f"{name} = {quoted(cell)}").value
                if not math.isclose(answer, total, rel_tol=1e-7, abs_tol=1e-5):
                    yield f"{name} = {cell!r} is {answer} by a query and {total} in {path.name}"


def _floats(table: Any, name: str) -> Any:
    """Return a column's numbers, NaN where one is hidden."""
    return np.array([math.nan if one is None else one for one in table[name].to_pylist()], dtype=float)


def in_steps(run: Run, counts: Any) -> Any:
    """Return counts as CSV has them."""
    step = SHOWN[str(run.case["shown"])].get("round", 1)
    return counts if step == 1 else step * np.rint(counts / step)


def hidden_as_stated(run: Run) -> Iterator[str]:
    """What is hidden is null and marked, and a number that is shown has the error, or the size, that lets it be."""
    rules = SHOWN[str(run.case["shown"])].get("hide")
    for path in run.out.glob("*.parquet") if rules else ():
        table = pq.read_table(path)
        value = "value" if "statistic" in table.column_names else "count"
        if not {value, "standard_error", "low", "high"} <= {*table.column_names}:
            continue
        shown, error, low, high = (_floats(table, name) for name in (value, "standard_error", "low", "high"))
        hidden = np.array(table["hidden"].to_pylist(), dtype=bool)
        if not np.isnan([shown[hidden], error[hidden], low[hidden], high[hidden]]).all():
            yield f"{path.name}: a hidden row has a number"
        wide = error > 0.3 * abs(shown) if rules == "cv > 0.3" else high - low > 0.5 * abs(shown)
        if value == "count" and rules != "cv > 0.3":
            wide |= shown < 10
        if (wide & ~hidden & ~_of_signs(table)).any():
            yield f"{path.name}: a number is shown that is to be hidden"


def _of_signs(table: Any) -> Any:
    """Return which rows hold what may be zero: of relations all but counts, means and variances."""
    names = table["statistic"].to_pylist() if "statistic" in table.column_names else [""] * table.num_rows
    return np.array([name.split(" ")[0] in ("intercept", "coefficient") for name in names])


def _sql(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def adjusted_counts_are_sound(run: Run) -> Iterator[str]:
    """Adjusted counts are whole, not negative and near the counts where they have to be."""
    adjusted = str(run.case["adjusted"])
    for release, path, table in counted_tables(run):
        if adjusted == "none" or "adjusted" not in table.column_names or table["count"].null_count:
            continue  # hidden ones add up to nothing
        counts, own = table["count"].to_numpy(), table["adjusted"].to_numpy()
        total = max(float(counts.sum()), 0.0)
        if adjusted in ("integer", "both") and np.any(own != np.rint(own)):
            yield f"{path.name}: adjusted counts are not whole"
        if adjusted in ("nonnegative", "both", "top down", "norm sub", "simplex", "base cut") and own.min() < 0:
            yield f"{path.name}: an adjusted count is {own.min()}"
        total_kept = adjusted in ("nonnegative", "both", "top down") and total > 0
        of_reporters = of_devices(run.case) and adjusted == "top down"  # whose number is known, and is the total
        if total_kept and not of_reporters and abs(own.sum() - total) > 1 + 1e-6 * total:
            yield f"{path.name}: adjusted counts add up to {own.sum()}, counts to {counts.sum()}"
        errors = np.nan_to_num(table["standard_error"].to_numpy(), posinf=1e9)
        room = DEVIATIONS * float(np.sqrt(np.sum(errors**2))) + 1.5
        if run.case["budget"] == "large" and np.abs(own - counts).max() > room:
            yield f"{path.name}: adjusted counts are up to {np.abs(own - counts).max()} from the counts"
        del release


def held(run: Run) -> tuple[int, int]:
    """Return how many of a case's intervals hold the truth, and how many there are."""
    if kind_of(run.case) in ("microdata", "strings", "names"):
        return 0, 0
    known = [(text, truth) for text, truth in asked_of(run) if truth is not None]
    chosen = known if len(known) < 4 else [known[0], known[1], known[-1]]
    answers = [(run.loaded.query(text).interval, truth) for text, truth in chosen]
    certain = [(low, high, truth) for (low, high), truth in answers if not math.isnan(low)]
    return sum(low - 1e-6 <= truth <= high + 1e-6 for low, high, truth in certain), len(certain)


Check = Callable[[Run], Iterator[str]]
CHECKS: Sequence[Check] = (
    claim_is_what_was_asked,
    description_is_sound,
    answers_are_near,
    records_are_as_many,
    tables_agree,
    adjusted_counts_are_sound,
    hidden_as_stated,
    pages_agree,
    bundles_agree,
)


def problems(run: Run, checks: Sequence[Check] = CHECKS) -> list[str]:
    """Return what is wrong with a case; what a check dies of is wrong, too."""
    return [problem for check in checks for problem in safely(lambda check=check: check(run))]


def safely(look: Callable[[], Iterator[str]]) -> Iterator[str]:
    """Yield what a look finds, and what it dies of."""
    try:
        yield from look()
    except Exception as error:  # noqa: BLE001  # whatever it dies of is what is looked for
        yield f"{type(error).__name__}: {str(error)[:300]}"


def told(case: Case) -> str:
    """Return what a message says of a case: what is not the first value of its axis."""
    return ", ".join(f"{axis}={value}" for axis, value in case.items() if value != AXES[axis][0] or axis == "room")
