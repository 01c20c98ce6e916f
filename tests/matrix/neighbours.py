"""Neighbouring tables, published with the same noise: what is written differs by no more than the claim rests on.

table, one unit more (or another in the place of the last) -> both published alike -> the loss that their difference has
under the noise that was drawn; and whatever is no number of the noise is the same.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from tests.matrix.axes import Case, of_devices
from tests.matrix.cases import amounts_of
from tests.matrix.columns import COLUMNS, Column
from tests.matrix.runs import Run, run
from tests.matrix.tables import LEFT_OUT, Rows, row_of, rows_of, stray_of

import dpress
from dpress.noise.laplace import DiscreteLaplace

UNIT_ROWS = {"row": 1, "person": 1, "person of three": 3}
BY_DATA = (  # fields of a description that follow from noisy answers, or from the ledger
    *("created", "sha256", "ledger_head", "design_hash", "names", "strings", "tested", "records", "measured", "users"),
    *("rejected", "side", "error", "ledger", "rows"),
)  # fmt: skip
IN_TWO_STEPS = ("private bounds", "quantile_cells")  # what is measured last follows from noisy answers
Tables = Mapping[str, Rows]


def neighbours(case: Case) -> Tables:
    """Return neighbours of a case's table, by the value that the unit has by which they differ."""
    table, column = rows_of(case), COLUMNS[str(case["column"])]
    if case["relation"] == "replace-one":
        table = table.without_last(persons=case["unit"] != "row")
    return {name: with_unit(case, table, column, value) for name, value in units(case, column).items()}


def units(case: Case, column: Column) -> dict[str, Any]:
    """Return values that the unit's rows may have: a plain one, none, and those that only a column of objects holds."""
    found: dict[str, Any] = {"plain": column.inside[0 if case["where"] == "an attribute" else -1]}
    if case["where"] == "an attribute":  # a row more that is none of the release: nothing differs
        found["excluded"] = column.inside[LEFT_OUT]
    if case["missing"] != "reject":
        found["missing"] = (None, None) if column.columns else None
    if case["source"] == "pandas" and column.listed and "reject" not in (case["outside"], case["missing"]):
        found |= {"text": "seven", "long": 2**70}
    return found


def with_unit(case: Case, table: Rows, column: Column, value: Any) -> Rows:
    """Return a table with one unit more, whose rows are the last."""
    place = column.inside.index(value) if value in column.inside else None
    cell = place if place is not None else stray_of(case, column, missing=value in (None, (None, None)))[1]
    for number in range(UNIT_ROWS[str(case["unit"])]):
        row = row_of(case, column, value, len(table.rows) + number)
        table = table.more(row | {"uid": "a person more"}, cell)
    return table


def differences(first: Run, folder: Path) -> Iterator[str]:
    """Yield what neighbours of a run's table show that they must not.

    Args:
        first: a run of a case of a curator.
        folder: a new one.
    """
    case = first.case
    if of_devices(case):
        return
    for name, table in neighbours(case).items():
        try:
            other = run(case, folder / name, table)
        except ValueError as error:
            yield f"a {name} value more refuses the table: {str(error)[:200]}"
            continue
        for one in compared(first, other):
            yield f"a {name} value more: {one}"


def compared(first: Run, other: Run) -> Iterator[str]:
    """Yield how two runs of neighbouring tables differ beyond what is allowed."""
    yield from _loss(first, other)
    yield from _written(first, other)


def _loss(first: Run, other: Run) -> Iterator[str]:
    """The loss of all measurements together is at most the budget, where they are linear."""
    budget, case = amounts_of(first.case), first.case
    pairs = list(zip(first.releases, other.releases, strict=False))
    losses = [realised(one, two) for one, two in pairs]
    if first.table.capped and (case["engine"] == "sql" or case["source"] in ("duckdb", "database")):
        return  # there a key that no test can fix decides which rows of a person stay
    if None in losses or _chosen_by_noise(first):
        return
    total = sum(loss for loss in losses if loss is not None)
    claims = [one.claim.proven for one, _ in pairs]
    stated = sum(_stated(loss) for loss in claims)
    if case["periods"] != "none":  # of several spans those that a unit's rows are in
        times = (1 if case["unit"] == "row" else 2) * (2 if case["relation"] == "replace-one" else 1)
        stated = times * max(budget.get("epsilon", 0), budget.get("rho", 0))
    if total > stated * (1 + 1e-9):
        yield f"with the same noise they differ by a loss of {total}, claimed is {stated}"


def _chosen_by_noise(run: Run) -> bool:
    """Return whether noisy answers decide what is published."""
    steps = {run.case["asked"], *(release.method for release in run.releases)}
    return COLUMNS[str(run.case["column"])].discovered or not steps.isdisjoint(IN_TWO_STEPS)


def _stated(loss: Any) -> float:
    """Return the epsilon or the rho of a claim; mu^2 is that of a variance that is smaller than the noise's."""
    mu2 = getattr(loss, "mu2", None)
    return float(mu2) / 2 if mu2 else max(float(getattr(loss, name, None) or 0) for name in ("epsilon", "rho"))


def realised(one: dpress.Release, other: dpress.Release) -> float | None:
    """Return the loss between two measurements under the noise that was drawn; None where noise is no sum of parts.

    Of Laplace noise of scale b, |difference| / b; of Gaussian noise of variance s, difference^2 / (2 s): rho.
    """
    mechanism: Any = one.mechanism
    parts = getattr(mechanism, "parts", None)
    if not isinstance(parts, tuple) or not all(hasattr(part, "rows") for part in parts):
        return None
    start, total = 0, 0.0
    for noise, part in zip(mechanism.noises, parts, strict=True):
        change = (np.asarray(other.kept) - np.asarray(one.kept))[start : start + part.rows].astype(float)
        laplace = isinstance(noise, DiscreteLaplace)
        total += float(
            np.abs(change).sum() / float(noise.scale) if laplace else (change**2).sum() / 2 / float(noise.sigma2)
        )
        start += part.rows
    return total


def _written(first: Run, other: Run) -> Iterator[str]:
    """Names, types, schemas and everything else that is no number of the noise is the same."""
    chosen = _chosen_by_noise(first)
    for path in sorted(first.out.rglob("release.json")):
        place = path.relative_to(first.out)
        one, two = (json.loads((own.out / place).read_text()) for own in (first, other))
        for field in BY_DATA:
            one.pop(field, None), two.pop(field, None)
        if chosen:
            one, two = skeleton(one), skeleton(two)
        if one != two:
            yield f"{place} differs in {', '.join(paths(one, two))[:300]}"
    for path in sorted(first.out.rglob("*.parquet")):
        place = path.relative_to(first.out)
        if (other.out / place).exists():
            schemas = [pq.read_schema(own.out / place) for own in (first, other)]
            if not schemas[0].equals(schemas[1], check_metadata=True):
                yield f"{place} has another schema"
        elif not chosen:
            yield f"{place} is not there"
    if chosen:
        yield from _order(first, other)


def _order(first: Run, other: Run) -> Iterator[str]:
    """Names that both release are in the same order, and written alike."""
    name = str(first.case["named"])
    tables = [sorted(own.out.glob("*.parquet")) for own in (first, other)]
    for path, twin in zip(*tables, strict=False):
        one, two = (_names(own, name) for own in (path, twin))
        if [own for own in one if own in two] != [own for own in two if own in one]:
            yield f"{path.name}: the order of the names is another one"
        if len(set(map(str, one)) ^ set(map(str, two))) > 2 * UNIT_ROWS[str(first.case["unit"])]:
            yield f"{path.name}: more names changed than one unit's rows can change"


def _names(path: Path, column: str) -> list[Any]:
    table = pq.read_table(path)
    return list(dict.fromkeys(table[column].to_pylist())) if column in table.column_names else []


def skeleton(value: Any) -> Any:
    """Return the keys and the types of a document; of a list the types that it holds.

    Left out are the values of attributes: names that noise chose, or that none was found.
    """
    if isinstance(value, dict):
        return {key: skeleton(own) for key, own in value.items() if key != "values"}
    if isinstance(value, list):
        return sorted({json.dumps(skeleton(own), sort_keys=True) for own in value})
    return type(value).__name__


def paths(one: Any, two: Any, place: str = "$") -> list[str]:
    """Return where two documents differ."""
    if isinstance(one, dict) and isinstance(two, dict):
        keys = sorted({*one, *two})
        return [path for key in keys for path in paths(one.get(key), two.get(key), f"{place}.{key}")]
    return [] if one == two else [place]
