"""How many rows break each constraint, for whoever holds them, before the budget is spent. Exact, so never private.

rows -> their cells -> rows of which each constraint does not hold.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dpress.attributes.by_edges import ByEdges
from dpress.attributes.domain import Schema
from dpress.attributes.numbers.arrow import nearest
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.maps.linear import Array
from dpress.core.methods.people import Codes, Counts
from dpress.core.methods.possible import Truths
from dpress.data.codec.codec import encode_all
from dpress.data.rows import people
from dpress.data.table import Table
from dpress.kinds.microdata.linear_text import Comparison
from dpress.kinds.microdata.ranged_text import numbers_of
from dpress.kinds.microdata.read_constraints import comparisons, rules_of, single
from dpress.mechanisms.microdata.record_rules import NONE
from dpress.release.truth.finding import CheckedRows, Checking, Finding, share


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintCheck:
    """A constraint, and the rows that it does not hold of.

    Args:
        constraint: what it says.
        rows: that have a cell of every attribute.
        broken: those of them that break it.
    """

    constraint: str
    rows: int
    broken: int


def findings(rows: CheckedRows) -> dict[str, Finding]:
    """Return how many rows break each constraint, by the name of the finding; {} without constraints.

    Raises:
        OSError: the rows cannot be read.
        ValueError: a constraint cannot be read, or together they leave no record possible.
    """
    spec = rows.spec
    if not spec.constraints:
        return {}
    rules_of(spec)
    schema, within = spec.schema, comparisons(spec)
    places = range(1, 1 + len(spec.constraints))
    rules = [NONE if place in within else single(spec, spec.constraints[place - 1], place) for place in places]

    def broken(codes: Codes) -> Counts:
        counts = [rule.broken(codes) for rule in rules]
        return np.array([codes.shape[1], *counts], dtype=np.int64)

    table = Table(rows.source, schema.columns, ROW)
    try:
        number, *counts = people(table, schema, progress=rows.progress).fold(broken)
    except SchemaMismatch:  # which is what the check of attributes is about
        return {"constraints": Finding(figures=(), lines=([UNCOUNTED],))}
    for place, count in _by_numbers(table, schema, within).items():
        counts[place - 1] = count
    figures = tuple(
        ConstraintCheck(constraint=constraint.text, rows=int(number), broken=int(count))
        for constraint, count in zip(spec.constraints, counts, strict=True)
        if not constraint.unique
    )
    return {
        "constraints": Finding(figures=figures, lines=(["constraints", *map(_line, figures)],), faults=_faults(figures))
    }


def _by_numbers(table: Table, schema: Schema, within: Mapping[int, Comparison]) -> dict[int, int]:
    """Return how many rows break comparisons of numbers within cells, by their own numbers; of rows that are kept."""
    columns, counts = numbers_of(schema), dict.fromkeys(within, 0)
    names = sorted({name for form in within.values() for name in form.factors})
    for batch in table.batches() if within else ():
        _, keep = encode_all(schema, batch)
        numbers = {name: _clamped(columns[name], batch) for name in names}
        for place, form in within.items():
            terms = np.stack([float(factor) * numbers[name] for name, factor in form.factors.items()])
            total, near = terms.sum(axis=0) + float(form.number), NEAR * (1 + np.abs(terms).sum(axis=0))
            counts[place] += int((~AGREES[form.word](total, near) & keep).sum())
    return counts


def _clamped(column: ByEdges, batch: pa.RecordBatch) -> Array:
    """Return the numbers of an attribute, those outside its bounds as they are counted where rows are kept."""
    numbers = nearest(column.name, batch.column(column.read_from))
    low, high = column.ends
    return np.asarray(np.clip(numbers, low, high - column.whole))


NEAR = 1e-9
"""Of what is added up: numbers of a file are rounded, and an equation of them is near 0."""
AGREES: Mapping[str, Callable[[Array, Array], Truths]] = {
    "<=": lambda total, near: total <= near,
    "<": lambda total, near: total < -near,
    ">=": lambda total, near: total >= -near,
    ">": lambda total, near: total > near,
    "=": lambda total, near: np.abs(total) <= near,
}
"""Whether a sum stands to 0 as it says, give or take what rounding does."""
UNCOUNTED = "constraints: not counted, as the table would be refused"


def _line(figure: ConstraintCheck) -> str:
    return f"  {figure.broken:>12,}  break `{figure.constraint}` ({share(figure.broken, figure.rows)})"


def _faults(figures: tuple[ConstraintCheck, ...]) -> tuple[str, ...]:
    """Return which constraints rows break: records would not have what these rows have."""
    return tuple(
        f"rows that break the constraint `{figure.constraint}`: {figure.broken:,}; no record will be like them"
        for figure in figures
        if figure.broken
    )


CHECKING = Checking(findings=findings)
