"""`dpress plan --sql` and `dpress publish --sql`: what statements will cost and say, and their releases."""

from pathlib import Path
from typing import Any

import click

from dpress.cli.output import counting, hint, planning, print_json, print_table
from dpress.cli.sql_text import marked, text_of
from dpress.core.basics.losses.any_loss import as_floats, describe
from dpress.ledger.ledger import Ledger
from dpress.query.sql.statements_folder import is_statements, load_statements
from dpress.release.statements.plan_statements import StatementsPlan, plan_statements
from dpress.release.statements.publish_statements import publish_statements

LONGEST = 60  # characters of a statement that are shown
BOUGHT = "twice the budget"
EXACT = "Errors of counts and sums are exact; those of means, ratios and quantiles are of 10,000 made-up rows."


def weights_of(text: str | None) -> tuple[float, ...]:
    """Return weights, written with commas between them."""
    try:
        return tuple(map(float, text.split(","))) if text else ()
    except ValueError:
        raise click.UsageError(
            f"--weights: expected numbers with commas between them, such as 2,1, got {text!r}"
        ) from None


def plan(spec: str, sql: str, weights: str | None, *, as_json: bool) -> None:
    """Show the plan for statements."""
    with marked(quiet=as_json), planning(None, quiet=as_json):
        planned = plan_statements(Path(spec), text_of(sql), weights=weights_of(weights))
    if as_json:
        print_json(_plain(planned))
        return
    print_table(
        ("", "statement", "number", "typical error", BOUGHT, "release"),
        [row for place in range(len(planned.texts)) for row in _rows(planned, place)],
        numbers=(3, 4),
    )
    click.echo()
    releases = [
        [part.part.name, made.spec.release.kind, made.chosen.method, describe(made.spec.privacy.loss)]
        for part in planned.parts
        for made in (part.planned,)
    ]
    print_table(("release", "kind", "method", "budget"), releases)
    click.echo(EXACT)
    click.echo(f"Together the releases stay within {describe(planned.spec.privacy.loss)}; no row was read.")


def _rows(planned: StatementsPlan, place: int) -> list[list[str]]:
    """Return the lines of a statement: one for each of its numbers."""
    heads = [[str(place + 1), _short(planned.texts[place])], ["", ""]]
    release = planned.part_of(place).part.name
    return [
        [*heads[min(line, 1)], error.name, _shown(error.error), _shown(error.twice), release]
        for line, error in enumerate(planned.errors[place])
    ]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _shown(error: float | None) -> str:
    return "-" if error is None else f"+- {error:,.3g}"


def _plain(planned: StatementsPlan) -> dict[str, Any]:
    """Return the plan for JSON."""
    return {
        "statements": [
            {
                "statement": text,
                "release": planned.part_of(place).part.name,
                "kind": planned.part_of(place).planned.spec.release.kind,
                "numbers": [
                    {"name": error.name, "typical_error": error.error, "twice_the_budget": error.twice}
                    for error in errors
                ],
            }
            for place, (text, errors) in enumerate(zip(planned.texts, planned.errors, strict=True))
        ],
        "releases": [
            {
                "release": part.part.name,
                "kind": part.planned.spec.release.kind,
                "method": part.planned.chosen.method,
                "budget": as_floats(part.planned.spec.privacy.loss),
                "statements": [place + 1 for place in part.part.statements],
            }
            for part in planned.parts
        ],
    }


def publish(  # as the command has them
    spec: str,
    sql: str,
    weights: str | None,
    data: str | None,
    *,
    out: str,
    ledger: str | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish the releases that answer statements, and say how to read the answers."""
    new = ledger is not None and not Ledger.exists(ledger)
    there = is_statements(out) and not load_statements(out, whole=False).missing
    with marked(quiet=as_json), planning(None, quiet=quiet):
        planned = plan_statements(Path(spec), text_of(sql), weights=weights_of(weights))
    with counting(quiet=quiet) as progress:
        made = publish_statements(planned, data, out=out, ledger=ledger, progress=progress, **options)
    if there:
        hint(f"{out} had all of them: nothing was measured or charged", quiet=quiet)
    if ledger is None:
        hint("no --ledger: nothing stops this table from being published again and again", quiet=quiet)
    if new:
        hint(f"new ledger {ledger} with the limit {describe(planned.spec.privacy.loss)}", quiet=quiet)
    charged = {name: as_floats(made.release(name).charged) for name in made.answered}
    if as_json:
        print_json({"release": out, "statements": made.count, "charged": charged})
        return
    for name, places in made.answered.items():
        numbers = ", ".join(str(place + 1) for place in places)
        click.echo(f"Release: {Path(out) / name}, for statement {numbers}: {describe(made.release(name).charged)}")
    click.echo(f"Next:    dpress query {out} --statement 1")
