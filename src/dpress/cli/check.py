"""`dpress check`: what would be counted where, for whoever holds the rows, before the budget is spent."""

import sys

import click

from dpress.cli.output import DECIMAL, counting, json_option, print_json, quiet_option
from dpress.cli.planned import located_in, of_periods
from dpress.core.basics.errors import NoRows
from dpress.core.basics.losses.any_loss import as_floats, describe
from dpress.data.specification.spec import Spec
from dpress.document.design import Design
from dpress.release.curator.private_cap import PrivateCap
from dpress.release.curator.private_cap import private_cap as choose_cap
from dpress.release.periods.calendar import Calendar
from dpress.release.plan.spec_or_design import load_spec_or_design
from dpress.release.truth.check_text import lines
from dpress.release.truth.data_check import SHARE, check

NOT_PRIVATE = "not private | "  # before every line
NONE_OF = "no row is of {}: its release would be noise alone, and cost what any other does; exact, so not private"
PAID = "may be published | "  # before the only one that noise protects


@click.command("check")
@click.argument("design", metavar="SPEC", type=click.Path())
@click.option("--data", type=click.Path(), help="A file, folder, glob or DATABASE#TABLE; overrides the spec's source.")
@click.option("--period", help="Of a specification with [periods]: only rows of this period, such as 2024-03.")
@click.option(
    "--most",
    type=click.FloatRange(0, 1),
    default=SHARE,
    show_default=True,
    help="The share of an attribute's values that may have no cell of their own.",
)
@click.option("--private-cap", type=DECIMAL, metavar="EPSILON", help="Also choose rows_per_unit, for so much epsilon.")
@click.option("--ledger", type=click.Path(), help="The ledger that pays for the private cap.")
@quiet_option
@json_option
def command(
    design: str,
    data: str | None,
    period: str | None,
    *,
    most: float,
    private_cap: float | None,
    ledger: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Tell whoever holds the rows where every value would be counted. Exact: not private, and no part of a release.

    Nothing is written, and nothing charged but a private cap, the only figure that may be published. SPEC is a
    specification or a design. Exits with 1 where something looks like a mistake.
    """
    if ledger is not None and private_cap is None:
        raise click.UsageError("--ledger pays for --private-cap EPSILON; nothing else here is charged")
    if period is not None and private_cap is not None:
        raise click.UsageError("--private-cap is of all rows: leave --period out")
    with counting(quiet=quiet) as progress:
        specification = _loaded(design, period)
        try:
            with located_in(design):
                report = check(specification, data, most=most, progress=progress)
        except NoRows as none:
            raise none if period is None else NoRows(NONE_OF.format(period)) from None
    cap = None if private_cap is None else choose_cap(specification, data, epsilon=private_cap, ledger=ledger)
    if as_json:
        chosen = {} if cap is None else {"private_cap": _plain(cap)}
        print_json({"private": False, "passed": report.passed, "check": report.plain, **chosen})
    else:
        if cap is not None:
            click.echo(f"{PAID}{_chosen(cap)}")
        for line in lines(report):
            click.echo(f"{NOT_PRIVATE}{line}".rstrip())
    if not report.passed:
        sys.exit(1)


def _loaded(path: str, period: str | None) -> Spec | Design:
    """Return what the rows are checked for; of a period that of its rows alone."""
    loaded = load_spec_or_design(path)
    if period is None:
        return loaded
    return Calendar(of_periods(loaded)).rows_of(period)


def _plain(cap: PrivateCap) -> dict[str, object]:
    loss = as_floats(cap.claim.proven)
    return {"private": True, "cap": cap.cap, "quantile": float(cap.quantile), "largest": cap.largest, "charged": loss}


def _chosen(cap: PrivateCap) -> str:
    person, loss = cap.claim.unit.name, describe(cap.claim.proven)
    return f"rows_per_unit = {cap.cap} for {float(cap.quantile):.0%} of all, by {loss} for a {person} with any rows"
