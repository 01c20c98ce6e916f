"""What a plan for statements says to people: the error of every number, and the releases that share the budget."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpress.core.basics.claim_words import chosen_rows
from dpress.core.basics.losses.any_loss import describe
from dpress.query.sql.query_in_sql import shortened
from dpress.release.plan.plan_text import Listing

if TYPE_CHECKING:
    from dpress.release.statements.plan_statements import StatementsPlan

LONGEST = 60  # characters of a statement that are shown
EXACT = "Errors of counts and sums are exact; those of means, ratios and quantiles are of 10,000 made-up rows."


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementsText:
    """A plan for statements in words.

    Args:
        statements: a line for every number of every statement, with its typical error.
        releases: their kinds, methods and parts of the budget.
        remarks: what else is to be known, a sentence each.
    """

    statements: Listing
    releases: Listing
    remarks: tuple[str, ...]


def statements_text(planned: "StatementsPlan") -> StatementsText:
    """Return a plan for statements in words."""
    rows = [row for place in range(len(planned.texts)) for row in _rows(planned, place)]
    header = ("", "statement", "number", "typical error", "twice the budget", "release")
    releases = [
        [part.part.name, made.spec.release.kind, made.chosen.method, describe(made.spec.privacy.loss)]
        for part in planned.parts
        for made in (part.planned,)
    ]
    return StatementsText(
        statements=Listing(header=header, rows=rows, numbers=(3, 4)),
        releases=Listing(header=("release", "kind", "method", "budget"), rows=releases),
        remarks=(
            EXACT,
            *chosen_rows(planned.spec.where),
            *unlisted(planned),
            f"Together the releases stay within {describe(planned.spec.privacy.loss)}; no row was read.",
        ),
    )


def unlisted(planned: "StatementsPlan") -> Iterator[str]:
    """Yield what `count(*)` counts by each column whose values nobody lists, a sentence each."""
    unit = planned.spec.privacy.protected
    for part in planned.parts:
        for name in sorted({need.discovered for need in part.part.needs if need.discovered}):
            counted = f" counts each {unit.name} once for a value, not its rows, and" if unit.columns else ""
            yield f"count(*) by {name}, whose values nobody lists,{counted} leaves out values that few have."


def _rows(planned: "StatementsPlan", place: int) -> list[list[str]]:
    """Return the lines of a statement: one for each of its numbers."""
    heads = [[str(place + 1), shortened(planned.texts[place], LONGEST)], ["", ""]]
    release = planned.part_of(place).part.name
    return [
        [*heads[min(line, 1)], error.name, _shown(error.error), _shown(error.twice), release]
        for line, error in enumerate(planned.errors[place])
    ]


def _shown(error: float | None) -> str:
    return "-" if error is None else f"+- {error:,.3g}"
