"""`dpress session`: statements of SQL at a terminal or from a pipe, each with its error before it is paid for."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from dpress.cli.output import DECIMAL, engine_option, hint, json_option, quiet_option
from dpress.core.basics.losses.any_loss import describe
from dpress.ledger.ledger import Ledger

if TYPE_CHECKING:
    from dpress.release.statements.sql_session import Session


@click.command("session")
@click.argument("spec", type=click.Path())
@click.option("--data", type=click.Path(), help="A file, folder, glob or DATABASE#TABLE; overrides the spec's source.")
@click.option(
    "--ledger",
    metavar="LEDGER",
    required=True,
    help="The ledger that pays, a file or postgresql://...; a new one gets the spec's budget as its limit.",
)
@click.option("--analyst", help="Whose share of the ledger's limit pays.")
@click.option("--out", type=click.Path(), help="The session's folder; people-session of people.toml unless stated.")
@click.option("--spend", type=DECIMAL, help="The budget of a statement unless another is stated.")
@click.option("--confidence", type=DECIMAL, default=0.95, show_default=True, help="Of the intervals.")
@engine_option
@quiet_option
@json_option
def command(
    spec: str,
    ledger: str,
    *,
    data: str | None,
    analyst: str | None,
    out: str | None,
    spend: float | None,
    confidence: float,
    engine: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Ask the table of SPEC in SQL: each statement's error is shown before it is paid for."""
    from dpress.cli.session_loop import Loop  # noqa: PLC0415  # keeps the start fast
    from dpress.release.statements.sql_session import Session  # noqa: PLC0415  # the same

    new = not Ledger.exists(ledger)
    session = Session(spec, data, ledger=ledger, analyst=analyst, out=out, confidence=confidence)
    if new:
        hint(f"new ledger {ledger} with the limit {describe(session.limit)}", quiet=quiet)
    loop = Loop(session=session, engine=engine, quiet=quiet or as_json, as_json=as_json, spend=spend)
    loop.begin()
    for line in _lines(session):
        if not loop.hear(line.strip()):
            break
    loop.end()


def _lines(session: "Session") -> Iterator[str]:
    """Yield what is typed at a terminal; else the lines of standard input."""
    if sys.stdin.isatty():
        from dpress.cli.session_prompt import typed_lines  # noqa: PLC0415  # prompt_toolkit, which only terminals need

        yield from typed_lines(session)
        return
    for line in sys.stdin:  # noqa: UP028  # `yield from` would close standard input with the generator
        yield line
