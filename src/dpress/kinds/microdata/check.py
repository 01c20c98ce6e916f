"""How many rows break each constraint, for whoever holds them, before the budget is spent. Exact, so never private.

rows -> their cells -> rows of which each constraint does not hold.
"""

from dataclasses import dataclass

import numpy as np

from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.methods.people import Codes, Counts
from dpress.data.rows import people
from dpress.data.table import Table
from dpress.kinds.microdata.read_constraints import rules_of, single
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
    schema = spec.schema
    rules = [single(spec, constraint, place) for place, constraint in enumerate(spec.constraints, 1)]

    def broken(codes: Codes) -> Counts:
        return np.array([codes.shape[1], *(count for rule in rules for count in rule.broken(codes))], dtype=np.int64)

    try:
        number, *counts = people(Table(rows.source, schema.columns, ROW), schema, progress=rows.progress).fold(broken)
    except SchemaMismatch:  # which is what the check of attributes is about
        return {"constraints": Finding(figures=(), lines=([UNCOUNTED],))}
    figures = tuple(
        ConstraintCheck(constraint=constraint.text, rows=int(number), broken=int(count))
        for constraint, count in zip(spec.constraints, counts, strict=True)
    )
    return {
        "constraints": Finding(figures=figures, lines=(["constraints", *map(_line, figures)],), faults=_faults(figures))
    }


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
