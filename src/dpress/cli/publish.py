"""`dpress publish`: a table becomes a release."""

import time
from functools import partial
from pathlib import Path

import click

from dpress.cli.output import counting, hint, json_option, print_json, quiet_option, searching
from dpress.cli.promise import promised
from dpress.core.claim import as_floats, describe
from dpress.data.spec import load_spec
from dpress.release.microdata import MicrodataRelease
from dpress.release.records import NAME
from dpress.release.run import publish
from dpress.release.table_plan import SEARCH


@click.command("publish")
@click.argument("spec", type=click.Path())
@click.option("--data", type=click.Path(), help="A CSV or Parquet file; overrides the spec's source.")
@click.option("--out", type=click.Path(), required=True, help="The new folder of the release.")
@click.option(
    "--ledger", type=click.Path(), help="The ledger that pays; a new one gets the spec's budget as its limit."
)
@click.option("--allow-unproven", is_flag=True, help="Also run a method whose claim has no proof.")
@quiet_option
@json_option
def command(
    spec: str, data: str | None, out: str, ledger: str | None, *, allow_unproven: bool, quiet: bool, as_json: bool
) -> None:
    """Publish the table that SPEC describes: count, charge the budget, add noise, write the release."""
    started = time.perf_counter()
    loaded = load_spec(spec)
    new = ledger is not None and not Path(ledger).exists()
    search = searching(loaded.release.parameters.get(SEARCH), quiet=quiet)
    with search, counting(quiet=quiet) as progress:
        writing = progress and partial(progress, text="wrote {:,} cells")
        release = publish(
            loaded, data, ledger=ledger, out=out, allow_unproven=allow_unproven, progress=progress, writing=writing
        )
    if ledger is None:
        hint("no --ledger: nothing stops this table from being published again and again", quiet=quiet)
    if new:
        limit = describe(loaded.privacy.loss)
        hint(f"new ledger {ledger} with the limit {limit}; `dpress ledger create` sets another", quiet=quiet)
    claim = {"published": as_floats(release.claim.published), "proven": as_floats(release.claim.proven)}
    if as_json:
        seconds = time.perf_counter() - started
        print_json({"release": out, "claim": claim, "charged": as_floats(release.charged), "seconds": seconds})
        return
    unit = release.claim.unit
    click.echo(f"Release: {out}")
    click.echo(f"Method:  {release.planned.chosen.method}")
    click.echo(f"Promise: {promised(release.claim)}, per {unit.column or 'row'}, {unit.relation}")
    if unit.column is not None:
        click.echo(f"Counts:  of at most {unit.rows} rows for each {unit.column}; further rows were left out")
    for name, attributes in release.manifest()["tables"].items():
        click.echo(f"Table:   {name}: {' x '.join(attributes)}")
    if isinstance(release, MicrodataRelease):
        order = "in the order of the rows" if release.aligned else "shuffled"
        click.echo(f"Records: {NAME}: {release.table.num_rows:,}, {order}")
    click.echo(f"Next:    dpress report {out}")
