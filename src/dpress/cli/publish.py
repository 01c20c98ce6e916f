"""`dpress publish`: a table becomes a release."""

import importlib
import itertools
import time
from functools import partial
from typing import Any

import click

from dpress.cli.output import (
    counting,
    csv_options,
    engine_option,
    hint,
    json_option,
    planning,
    print_json,
    quiet_option,
)
from dpress.cli.planned import of_periods, planned
from dpress.core.basics import claim_words
from dpress.core.basics.losses.any_loss import as_floats, describe
from dpress.core.basics.losses.read import from_parameters
from dpress.core.basics.new_path import new_path
from dpress.data.specification.spec import Spec
from dpress.document.design import Design
from dpress.ledger.ledger import Ledger
from dpress.query.release import Release
from dpress.query.table_files import held
from dpress.release.curator.publish import check_whole, publish
from dpress.release.periods.calendar import Calendar
from dpress.release.periods.publish_period import publish_period
from dpress.release.periods.series import load_series
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import doubts, promised
from dpress.release.plan.spec_or_design import load_spec_or_design
from dpress.release.source_rows import stated_rows
from dpress.reporting.bundle import check_bundle, write_bundle

MOST_NAMED = 40  # tables, by a line each
CHECK = "`dpress check` tells beforehand where every value will be counted"
ROWS_OF = "`dpress check --period` tells beforehand how many rows a period has, to whoever holds them"


@click.command("publish")
@click.argument("design", metavar="DESIGN", type=click.Path())
@click.option("--data", type=click.Path(), help="A file, folder, glob or DATABASE#TABLE; overrides the spec's source.")
@click.option("--out", type=click.Path(), required=True, help="The new folder of the release.")
@click.option("--period", help="Of a specification with [periods]: the one to add to the folder, such as 2024-03.")
@click.option(
    "--ledger",
    metavar="LEDGER",
    help="The ledger that pays, a file or postgresql://...; a new one gets the spec's budget as its limit.",
)
@click.option("--sql", help="Statements in place of [release], or a file of them that ends in .sql; see `dpress plan`.")
@click.option("--weights", help="Of the statements, as 2,1.")
@csv_options
@click.option("--bundle", type=click.Path(), help="A new zip of page, tables, design and licence, too.")
@click.option("--who", default="", help="Who publishes, for the ledger; nothing else names them.")
@click.option("--analyst", default="", help="Whose share of the ledger's limit pays.")
@click.option("--allow-unproven", is_flag=True, help="Also run a method whose claim has no proof.")
@engine_option
@quiet_option
@json_option
def command(
    design: str,
    data: str | None,
    out: str,
    ledger: str | None,
    who: str,
    *,
    analyst: str,
    sql: str | None,
    weights: str | None,
    bundle: str | None,
    period: str | None,
    engine: str | None,
    allow_unproven: bool,
    csv: bool,
    titles: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Publish the table that DESIGN describes: count, charge the budget, add noise, write the release.

    DESIGN is what `dpress plan --out` wrote, or a specification, which is planned on the spot.
    """
    options: dict[str, Any] = {"ledger": ledger, "who": who, "analyst": analyst, "engine": engine}
    options |= {"csv": csv, "titles": titles, "quiet": quiet, "as_json": as_json}
    if sql is not None:
        if bundle is not None or period is not None:
            raise click.UsageError("--sql makes several releases: --bundle and --period are of one")
        statements = importlib.import_module("dpress.cli.statement_plan")  # sqlglot takes a while to import
        statements.publish(design, sql, weights, data, out=out, **options)
    elif period is not None:
        loaded = load_spec_or_design(design)
        if bundle is not None:
            check_bundle(bundle, period=period)
        _publish_period(loaded, period, data, out=out, **options)
    else:
        _publish_whole(design, data, out=out, bundle=bundle, allow_unproven=allow_unproven, **options)


def _publish_whole(
    path: str,
    data: str | None,
    *,
    out: str,
    bundle: str | None,
    ledger: str | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish a table as one release, and say what was released."""
    started = time.perf_counter()
    target = _target(path, out, bundle, quiet=quiet)
    new = ledger is not None and not Ledger.exists(ledger)
    with counting(quiet=quiet, total=partial(stated_rows, target.design, data)) as progress:
        beside = {"fitting": "fitted {:,}", "writing": "wrote {:,} rows"}
        shown: dict[str, Any] = {name: progress and partial(progress, text=text) for name, text in beside.items()}
        release = publish(target, data, out=out, ledger=ledger, progress=progress, **shown, **options)
    if bundle is not None:
        write_bundle(release, out, bundle)
    hint(CHECK, quiet=quiet or as_json)
    _remark(release, ledger, new=new, quiet=quiet)
    if as_json:
        print_json(_plain(release, out, bundle, time.perf_counter() - started))
    else:
        _say(release, out)
        if bundle is not None:
            click.echo(f"Bundle:  {bundle}")


def _target(path: str, out: str, bundle: str | None, *, quiet: bool) -> Plan | Design:
    """Return what is published; refuse first what would be refused after the plan."""
    loaded = load_spec_or_design(path)
    check_whole(loaded)
    new_path(out, "a release is")
    if bundle is not None:
        check_bundle(bundle, period=None)
    seconds = loaded.release.parameters.get("seconds") if isinstance(loaded, Spec) else None
    with planning(seconds, quiet=quiet):
        return planned(loaded, path)


def _plain(release: Release, out: str, bundle: str | None, seconds: float) -> dict[str, Any]:
    """Return what was released as plain data."""
    claim, charged = claim_words.figures(release.claim), as_floats(release.charged)
    fields = {"release": out, "claim": claim, "charged": charged, "seconds": seconds}
    return fields if bundle is None else {**fields, "bundle": bundle}


def _publish_period(
    spec: Spec | Design,
    period: str,
    data: str | None,
    *,
    out: str,
    analyst: str,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Add a period to a release that grows, and say what was measured with it."""
    if analyst:
        raise click.UsageError("--analyst: the spans of a series are paid from what no analyst has a share of")
    spec = of_periods(spec)
    with counting(quiet=quiet) as progress:
        made = publish_period(spec, period, data, out=out, progress=progress, **options)
    hint(ROWS_OF, quiet=quiet or as_json)
    unguarded = len(load_series(out).unguarded)
    if as_json:
        charged = [as_floats(release.charged) for release in made]
        measured = {"release": out, "period": period, "measured": len(made), "charged": charged}
        print_json({**measured, "unguarded": unguarded})
        return
    _say_period(Calendar(spec), period, made, out)
    if unguarded:
        spans = "1 span" if unguarded == 1 else f"{unguarded:,} spans"
        click.echo(f"Ledger:  none paid for {spans}: nothing keeps that noise from being drawn again")
    click.echo(f"Next:    dpress query {out} ...")


def _say_period(calendar: Calendar, period: str, made: tuple[Release, ...], out: str) -> None:
    """Say what was measured with a period."""
    click.echo(f"Release: {out}")
    click.echo(f"Period:  {period}")
    for release in made:
        first, last = calendar.dated_of(release.schema).limits or ("", "")
        click.echo(f"Counted: {first} to {last}, {promised(release.claim)}")
    if not made:
        click.echo("Nothing closes with this period.")


def _remark(release: Release, ledger: str | None, *, new: bool, quiet: bool) -> None:
    """Say on standard error what else could have been done, and what was."""
    budget = from_parameters(release.design.budget)
    for words in doubts(budget, release.design.specification["release"].get("parameters", {})):
        hint(words, quiet=quiet)
    if ledger is None:
        hint("no --ledger: nothing stops this table from being published again and again", quiet=quiet)
    if new:
        limit = describe(budget)
        hint(f"new ledger {ledger} with the limit {limit}; `dpress ledger create` sets another", quiet=quiet)


def _say(release: Release, out: str) -> None:
    """Say what was released."""
    unit = release.claim.unit
    click.echo(f"Release: {out}")
    click.echo(f"Method:  {release.method}")
    click.echo(f"Promise: {promised(release.claim)}, per {unit.name}, {unit.relation}")
    if release.design.where:
        click.echo(f"Rows:    those of which `{release.design.where}` holds")
    if unit.counted and not release.design.whom:
        click.echo(f"Counts:  of {unit.counted}; further rows were left out")
    tables = release.answers.tables
    for name, attributes in itertools.islice(tables.items(), MOST_NAMED):
        about = held(name, attributes)
        click.echo(f"Table:   {name}: {about}" if about else f"Table:   {name}")
    if len(tables) > MOST_NAMED:
        click.echo(f"Tables:  {len(tables) - MOST_NAMED:,} more; release.json names them all")
    for name, attributes in release.answers.asked.items():
        click.echo(f"Asked:   {name}: {' x '.join(attributes)}, added up")
    for line in release.answers.announced:
        click.echo(line)
    click.echo(f"Next:    dpress report {out}")
