"""`dpress perturb`: the device side over a file of people, for simulation."""

import time

import click

from dpress import catalog
from dpress.cli.output import counting, hint, json_option, print_json, quiet_option
from dpress.cli.planned import planned
from dpress.cli.swapped import remarking
from dpress.core.basics import claim_words
from dpress.core.basics.losses.any_loss import as_floats
from dpress.core.basics.new_path import new_file
from dpress.query.designs import mechanism_of
from dpress.release.devices.perturb import perturb
from dpress.release.plan.plan import design_of
from dpress.release.plan.plan_text import lifetime_of
from dpress.release.plan.spec_or_design import load_spec_or_design


@click.command("perturb")
@click.argument("design", metavar="DESIGN", type=click.Path())
@click.option(
    "--data",
    type=click.Path(),
    help="A file, folder, glob or DATABASE#TABLE, a person a row; overrides the spec's source.",
)
@click.option("--out", type=click.Path(), required=True, help="The new Parquet file of reports.")
@click.option(
    "--stated",
    multiple=True,
    metavar="CHOICE=COLUMN",
    help="A column that holds what people state of their own: region_level or epsilon of psda.",
)
@click.option("--allow-unproven", is_flag=True, help="Also run a method whose claim has no proof.")
@quiet_option
@json_option
def command(
    design: str,
    data: str | None,
    out: str,
    stated: tuple[str, ...],
    *,
    allow_unproven: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Simulate the devices of the collection that DESIGN describes: one report for every row of a file of people.

    DESIGN is what `dpress plan --out` wrote, or a specification, which is planned on the spot.
    """
    started = time.perf_counter()
    new_file(out, "reports are")
    loaded = planned(load_spec_or_design(design), design)
    source, designed = data or loaded.source, design_of(loaded)
    with remarking(designed.attributes, source, quiet=quiet), counting(quiet=quiet) as progress:
        columns, unproven = _columns(stated), allow_unproven
        reports = perturb(designed, source, out=out, stated=columns, allow_unproven=unproven, progress=progress)
    mechanism = mechanism_of(designed)
    claim, lifetime = mechanism.claim, lifetime_of(mechanism)
    if as_json:
        plain = claim_words.figures(claim)
        seconds = time.perf_counter() - started
        fields = {"reports": out, "count": reports, "claim": plain, "lifetime": as_floats(lifetime), "seconds": seconds}
        print_json(fields)
        return
    click.echo(f"Reports: {out} ({reports:,})")
    click.echo(f"Method:  {designed.method}")
    click.echo(f"Promise: {catalog.room(designed.kind).words.promise(mechanism)}")
    hint("a simulation: on real devices the values never leave them", quiet=quiet)
    click.echo(f"Next:    dpress estimate {design} --reports {out} --out DIR")


def _columns(stated: tuple[str, ...]) -> dict[str, str]:
    """Return the column of every choice; refuse what is not written as CHOICE=COLUMN."""
    pairs = [text.partition("=") for text in stated]
    if wrong := [name for name, sign, column in pairs if not (name and sign and column)]:
        raise ValueError(f"--stated must be CHOICE=COLUMN, e.g. epsilon=my_epsilon, got {wrong[0]!r}")
    return {name: column for name, _, column in pairs}
