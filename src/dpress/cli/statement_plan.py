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
from dpress.release.statements.statements_text import statements_text


def weights_of(text: str | None) -> tuple[float, ...]:
    """Return weights, written with commas between them."""
    try:
        return tuple(map(float, text.split(","))) if text else ()
    except ValueError:
        raise click.UsageError(
            f"--weights: expected numbers with commas between them, such as 2,1, got {text!r}"
        ) from None


def plan(spec: str, sql: str, weights: str | None, *, quiet: bool, as_json: bool) -> None:
    """Show the plan for statements."""
    with marked(quiet=as_json), planning(None, quiet=quiet or as_json):
        planned = plan_statements(Path(spec), text_of(sql), weights=weights_of(weights))
    if as_json:
        print_json(_plain(planned))
        return
    words = statements_text(planned)
    print_table(words.statements.header, words.statements.rows, numbers=words.statements.numbers)
    click.echo()
    print_table(words.releases.header, words.releases.rows)
    for remark in words.remarks:
        click.echo(remark)


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
    charged = {name: made.release(name).charged for name in made.answered}
    if as_json:
        plain = {name: as_floats(loss) for name, loss in charged.items()}
        print_json({"release": out, "statements": made.count, "charged": plain})
        return
    for name, places in made.answered.items():
        numbers = ", ".join(str(place + 1) for place in places)
        click.echo(f"Release: {Path(out) / name}, for statement {numbers}: {describe(charged[name])}")
    click.echo(f"Next:    dpress query {out} --statement 1")
