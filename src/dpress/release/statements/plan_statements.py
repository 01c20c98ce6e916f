"""A plan for statements: which releases answer them, how the budget is divided, and the error of every number.

specification, SQL -> parts -> their plans under the whole budget -> shares by their errors -> plans under the shares
-> the same pipeline over made-up rows, about nobody -> the typical error of every number. No row is read.
"""

import math
import statistics as middles
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np

from dpress.core.basics import rng as generators
from dpress.core.basics.errors import NotSupported
from dpress.data.specification.spec import Asked, Spec, load_spec
from dpress.query.published_tables import CONFIDENCE
from dpress.query.release import Release
from dpress.query.sql.answer import answers
from dpress.query.sql.reader import statements
from dpress.query.sql.sql_table import SUFFIXES
from dpress.query.sql.statement import Statement
from dpress.release.curator.publish import publish
from dpress.release.plan.made_up import made_up
from dpress.release.plan.plan import Plan, plan
from dpress.release.statements.joined_rows import over_joined
from dpress.release.statements.parts import SUMS, Part, parts_of
from dpress.release.statements.specifications import columns_of, specification

USERS = 10_000  # made-up rows that errors are told of
STEPS = 1000  # shares of the budget are thousandths
ANY = {"kind": ""}  # stands for `[release]`, whose place the statements take
MEASURES = ("count", "sum", "difference")  # whose typical error is a root mean square; of others it is the median


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberError:
    """How wrong a number of a statement will be.

    Args:
        name: of its column.
        error: the root of the mean squared standard error over its groups; None where rows decide it.
        twice: the same under twice the budget.
    """

    name: str
    error: float | None
    twice: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPart:
    """A release that answers some of the statements.

    Args:
        part: with the statements.
        share: of the budget.
        planned: its plan.
    """

    part: Part
    share: Fraction
    planned: Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementsPlan:
    """What would be published for some statements.

    Args:
        spec: whose table and budget it is.
        sql: the statements.
        texts: of every statement.
        parts: the releases.
        errors: of every statement's numbers.
    """

    spec: Spec
    sql: str
    texts: tuple[str, ...]
    parts: tuple[PlannedPart, ...]
    errors: tuple[tuple[NumberError, ...], ...]

    def part_of(self, place: int) -> PlannedPart:
        """Return the release that answers a statement."""
        return next(part for part in self.parts if place in part.part.statements)


def plan_statements(source: Asked, sql: str, *, weights: Sequence[float] = ()) -> StatementsPlan:
    """Plan releases that answer statements, together within the budget of a specification; no row is read.

    Error: of a count or a sum the root of the mean over its groups of its squared standard error, exact; of a mean, a
    ratio or a quantile the middle one over its groups in 10,000 made-up rows. The budget is divided so that the counts
    of all releases err alike, or in the inverse proportion of their weights.

    Args:
        source: the specification, or its file, text or plain objects; of its `[release]` the texts for people stay.
        sql: statements, divided by `;`.
        weights: of the statements; equal unless stated.

    Raises:
        SqlRefusal: a statement cannot be read, or is of a form that has no answer.
        NotSupported: no method serves a statement.
        SchemaMismatch: the specification's source is other rows than those that the statements are over.
        ValueError: there is not one weight above 0 for each statement.
    """
    stated = source if isinstance(source, Spec) else load_spec(source, release=ANY)
    spec = over_joined(_for_statements(stated), sql)
    read = statements(sql, columns_of(spec, sql))
    weighed = _weights(weights, len(read))
    parts = parts_of(read, spec.attribute)
    wholes = [plan(specification(part, spec, sql)) for part in parts]
    typical = [_count_error(spec, part, whole) for part, whole in zip(parts, wholes, strict=True)]
    shares = _shares(spec, parts, typical, weighed)
    planned = tuple(
        PlannedPart(
            part=part, share=share, planned=whole if share == 1 else plan(specification(part, spec, sql, share))
        )
        for part, share, whole in zip(parts, shares, wholes, strict=True)
    )
    errors = dict(pair for part in planned for pair in _errors(spec, sql, part, read))
    return StatementsPlan(
        spec=spec,
        sql=sql,
        texts=tuple(statement.text for statement in read),
        parts=planned,
        errors=tuple(errors[place] for place in range(len(read))),
    )


def _for_statements(spec: Spec) -> Spec:
    """Return a specification of all attributes, without what its release is; statements say that.

    Raises:
        NotSupported: devices are asked, or the table is published by periods.
    """
    if spec.privacy.model == "local" or spec.periods is not msgspec.UNSET:
        raise NotSupported(
            "statements are over a table that a curator holds, as a whole: leave out `model` and [periods]"
        )
    named: dict[str, Any] = {"kind": "", "attributes": None, "method": "auto", "parameters": {}, "postprocess": ()}
    return msgspec.structs.replace(spec, release=msgspec.structs.replace(spec.release, **named))


def _weights(weights: Sequence[float], count: int) -> tuple[float, ...]:
    if weights and (len(weights) != count or not all(0 < weight < math.inf for weight in weights)):
        wanted = "1 weight" if count == 1 else f"{count} weights"
        raise ValueError(f"expected {wanted} above 0, one for each statement, got {len(weights)}")
    return tuple(weights) or (1.0,) * count


def _shares(spec: Spec, parts: Sequence[Part], typical: Sequence[float], weights: Sequence[float]) -> list[Fraction]:
    """Return shares of the budget under which all parts' counts err alike, or inversely to their weights.

    The error of noise falls as 1 / epsilon, and as 1 / sqrt(rho).
    """
    if len(parts) == 1:
        return [Fraction(1)]
    power = 2 if "rho" in spec.privacy.loss.names else 1
    weighed = [max(weights[place] for place in part.statements) for part in parts]
    needed = [(error * weight) ** power for error, weight in zip(typical, weighed, strict=True)]
    return [Fraction(max(1, math.floor((STEPS - len(parts)) * each / math.fsum(needed))), STEPS) for each in needed]


def _count_error(spec: Spec, part: Part, planned: Plan) -> float:
    """Return the typical error of the counts of a release under the whole budget."""
    if part.answers != SUMS:
        return math.sqrt(planned.chosen.predicted_error)
    by = ", ".join(sorted(part.groups))
    counts = simulated(planned, spec).results(f"count by {by}" if by else "total")
    return _root([result.standard_error for result in counts])


def simulated(planned: Plan, spec: Spec) -> Release:
    """Return a release of made-up rows of a table: its errors are those that a release of the table will have."""
    rows = made_up(spec.attribute, spec.privacy.protected, USERS)
    return publish(replace(planned, spec=planned.spec.of_all_rows), rows, rng=generators.seeded(7))


def _errors(
    spec: Spec, sql: str, part: PlannedPart, read: Sequence[Statement]
) -> Iterator[tuple[int, tuple[NumberError, ...]]]:
    """Yield the place of every statement that a part answers, with the errors of its numbers."""
    budget = {name: min(2 * getattr(spec.privacy, name), 1000.0) for name in spec.privacy.loss.names if name != "delta"}
    richer = msgspec.structs.replace(spec, privacy=msgspec.structs.replace(spec.privacy, **budget))
    doubled = plan(specification(part.part, richer, sql, part.share))
    chosen = [read[place] for place in part.part.statements]
    ways = [_by_column(spec, sql, part.part, chosen, made) for made in (part.planned, doubled)]
    for place, plain, twice in zip(part.part.statements, *ways, strict=True):
        yield place, tuple(NumberError(name=name, error=plain[name], twice=twice[name]) for name in plain)


def _by_column(
    spec: Spec, sql: str, part: Part, chosen: Sequence[Statement], planned: Plan
) -> list[Mapping[str, float | None]]:
    """Return the typical error of the numbers of every statement of a part, which are the chosen ones."""
    tables = answers(simulated(planned, spec), sql, CONFIDENCE, only=part.statements, joined=True)
    of = [{number.name: number.query.of for number in statement.numbers} for statement in chosen]
    return [
        {name: _typical(of_each[name], table.table[name + SUFFIXES[0]].to_pylist(), planned) for name in table.numbers}
        for of_each, table in zip(of, tables, strict=True)
    ]


def _typical(of: str, errors: Sequence[float | None], planned: Plan) -> float | None:
    """Return the typical error of a number over its groups; of no group what its plan predicts."""
    if not errors:
        predicted = planned.chosen.predicted_error
        return math.sqrt(predicted) if math.isfinite(predicted) else None
    if of in MEASURES:
        return _root([error for error in errors if error is not None])
    middle = middles.median(math.inf if error is None else error for error in errors)
    return middle if math.isfinite(middle) else None


def _root(errors: Sequence[float]) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))
