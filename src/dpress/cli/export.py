"""`dpress export`: what a service collected becomes a file of reports."""

import click

from dpress.cli.output import counting, json_option, print_json, quiet_option
from dpress.cli.planned import planned
from dpress.core.basics.new_path import new_file
from dpress.release.devices.export import export
from dpress.release.plan.plan import design_of
from dpress.release.plan.spec_or_design import load_spec_or_design


@click.command("export")
@click.argument("design", metavar="DESIGN", type=click.Path())
@click.option("--reports", required=True, metavar="URL", help="The store: sqlite:///FILE or postgresql://...")
@click.option("--out", type=click.Path(), required=True, help="The new Parquet file of reports.")
@quiet_option
@json_option
def command(design: str, reports: str, out: str, *, quiet: bool, as_json: bool) -> None:
    """Write the reports of the collection that DESIGN describes from a service's store to a Parquet file.

    Each is written once, in an order that tells nothing of its arrival.
    """
    new_file(out, "reports are")
    loaded = design_of(planned(load_spec_or_design(design), design))
    with counting(quiet=quiet) as progress:
        count, rejected = export(loaded, reports, out=out, progress=progress)
    if as_json:
        print_json({"reports": out, "count": count, "rejected": rejected})
        return
    click.echo(f"Reports: {out} ({count:,})")
    for reason, left_out in sorted(rejected.items()):
        click.echo(f"         {left_out:,} left out: {reason}")
    click.echo(f"Next:    dpress estimate {design} --reports {out} --out DIR")
