"""What a wish would cost and give, as plain data for the page: planned, and drawn over made-up people; no row is read.

specification -> plan -> method and its error, what the promise means, less or more budget; a made-up release -> bars.
"""

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from dpress import catalog
from dpress.attributes.domain import Schema
from dpress.core.basics.check import float_up
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.data.specification.spec import Spec
from dpress.query.measured_columns import measured
from dpress.query.release import Release
from dpress.release.periods.calendar import Calendar
from dpress.release.plan.plan import Plan, plan
from dpress.release.plan.plan_text import Listing, promised
from dpress.reporting.posterior import at_most, posterior
from dpress.reporting.rounding import error as rounded
from dpress.reporting.rounding import listed
from dpress.reporting.statistic_titles import titled
from dpress.studio.page_words import in_words

CHANCES = (1, 10, 50)  # in 100, of what somebody concludes about a person who is not in the data
BUDGETS = (("half", Fraction(1, 2)), ("twice", Fraction(2)))
BARS = 14  # cells, or statistics, that are drawn
MANY = 100  # cells, of which the largest are drawn
RECORDS = 6  # made-up records that are shown
STATISTICS = 4  # whose error is told beside the button
COUNTED = ("count", "persons")


def forecast(spec: Spec) -> dict[str, Any]:
    """Return what the plan of a specification says.

    Raises:
        NotSupported, ValueError: see `plan`.
    """
    calendar = calendar_of(spec)
    planned = plan(first_period(spec))
    text = catalog.room(planned.design.kind).words.text(planned)
    claim = planned.chosen.mechanism.claim
    return {
        "method": planned.chosen.method,
        "why": _why(planned),
        "promise": promised(claim),
        "chances": [] if claim.proven is None else chances(claim.proven),
        "periods": [] if calendar is None else calendar.text,
        "running": None if calendar is None or calendar.comparison is None else asdict(calendar.comparison),
        "tables": [asdict(text.candidates)],
        "more": [asdict(part) for part in text.remarks if not isinstance(part, str)],
        "remarks": [in_words(part) for part in (*text.remarks, *text.hints) if isinstance(part, str)],
        "budgets": list(_budgets(planned)),
        "off": _off(planned, text.candidates),
    }


def calendar_of(spec: Spec) -> Calendar | None:
    """Return the calendar of a specification; None where it is published once."""
    return None if spec.periods is msgspec.UNSET else Calendar(spec)


def first_period(spec: Spec) -> Spec:
    """Return the specification of the first release: of a series that of its first period."""
    calendar = calendar_of(spec)
    return spec if calendar is None else calendar.of(calendar.spans[0])


def bars(release: Release) -> dict[str, Any]:
    """Return cells of a release's first table with their intervals; records as they are."""
    table = next(iter(release.tables.values())).to_arrow()
    if (columns := measured(table.schema)) is None:
        return {"bars": [], "records": [list(map(str, row.values())) for row in table.slice(0, RECORDS).to_pylist()]}
    if "statistic" in columns.named:  # of several one, for a chart has one measure
        table = table.filter(pc.equal(table["statistic"], _statistic(table["statistic"].to_pylist())))
    titles = [name for name in columns.named if f"{name}_label" not in columns.named]  # a label stands for its value
    varied = [name for name in titles if table.num_rows == 1 or len(pc.unique(table[name])) > 1]  # and a period for all
    drawn = [
        {
            "label": ", ".join(str(row[name]) for name in varied if row[name] is not None) or "all",
            "value": row[columns.value],
            "low": row["low"],
            "high": row["high"],
        }
        for row in _drawn(table, columns.value).to_pylist()
    ]
    return {"bars": drawn, "cells": table.num_rows, "largest": table.num_rows > MANY, "records": []}


def _statistic(names: Sequence[str]) -> str:
    """Return the statistic that is drawn: a mean or a median, where there is one."""
    return next((name for name in names if name.startswith(("mean ", "median "))), names[0])


def _drawn(table: pa.Table, value: str) -> pa.Table:
    """Return the rows that are drawn: the first, and of many the largest, for most cells of a map are empty."""
    if table.num_rows > MANY:
        table = table.sort_by([(value, "descending")])
    return table.slice(0, BARS)


def _why(planned: Plan) -> str:
    """Return why this method, in a sentence."""
    others = [way for way in planned.candidates if way is not planned.chosen and not way.assumes]
    if not others:
        return f"{planned.chosen.method} is the only method that serves this."
    if not math.isfinite(planned.chosen.predicted_error):
        return (
            f"{planned.chosen.method} is the first choice of {len(others) + 1} methods that serve this; how much it "
            "errs is not known before the rows are read."
        )
    second = min(others, key=lambda candidate: candidate.predicted_error)
    much = _times(second.predicted_error, planned.chosen.predicted_error)
    words = "nearly as little" if f"{much:.3g}" == "1" else f"{much:.3g} times as much"
    beside = f": {second.method}, the next, errs {words}" if math.isfinite(much) else ""
    return f"{planned.chosen.method} errs least of {len(others) + 1} methods that serve this{beside}."


def _off(planned: Plan, candidates: Listing) -> str:
    """Return how far off the numbers will be, typically, in a sentence; empty where no plan can tell.

    Error: what the plan predicts: of each statistic in a group of the expected size, else of a count.
    """
    plain = catalog.room(planned.design.kind).words.plain(planned, planned.chosen)
    if (errors := plain.get("standard_errors")) is not None:
        return _off_by_statistic(errors, planned.choice.schema)
    error = plain["predicted_error"]
    if error is None or "typical error" not in candidates.header:
        return ""
    return f"Its numbers will be off by {_amount(math.sqrt(error))}, typically."


def _off_by_statistic(errors: Mapping[str, float | None], schema: Schema) -> str:
    """Return the sentence on statistics: what was wished for before sums, and those before counts."""
    finite = {name: error for name, error in errors.items() if error}
    names = sorted(finite, key=lambda name: (name in COUNTED, name.startswith("sum ")))
    words = [f"{(of := titled(name, schema)).name} {_amount(finite[name], of.unit)}" for name in names[:STATISTICS]]
    return f"How far off, typically, in a group of average size: {listed(words)}." if words else ""


def _amount(error: float, unit: str = "") -> str:
    return f"\N{PLUS-MINUS SIGN} {rounded(error)}{f' {unit}' if unit else ''}"


def chances(loss: Loss) -> list[dict[str, int]]:
    """Return how often something can be concluded about a person with and without that person's data, in 100."""
    bound = posterior(loss)
    epsilon, delta = float_up(bound.epsilon), float(bound.delta)
    return [{"without": rate, "with": math.ceil(100 * at_most(rate / 100, epsilon, delta) - 1e-9)} for rate in CHANCES]


def _budgets(planned: Plan) -> Iterator[dict[str, Any]]:
    """Yield the error under less and more budget, as a multiple of the plan's own."""
    privacy, error = planned.spec.privacy, planned.chosen.predicted_error
    name = privacy.loss.names[0]
    for words, factor in BUDGETS:
        changed = {name: float(Fraction(str(getattr(privacy, name))) * factor)}
        with contextlib.suppress(NotSupported, ValueError):  # of a budget that no method takes
            other = plan(msgspec.structs.replace(planned.spec, privacy=msgspec.structs.replace(privacy, **changed)))
            much = _times(other.chosen.predicted_error, error)
            if math.isfinite(much):
                yield {"words": words, "times": f"{much:.3g}", "method": other.chosen.method, **changed}


def _times(error: float, other: float) -> float:
    """Return a typical error as a multiple of another, from what plans predict: their squares."""
    return math.sqrt(error / other) if other and math.isfinite(other) else math.nan
