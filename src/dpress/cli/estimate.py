"""`dpress estimate`: reports become a release."""

import time
from pathlib import Path

import click

from dpress.cli.output import counting, hint, json_option, print_json, quiet_option, refitting
from dpress.cli.promise import beside, lifetime_of, promised
from dpress.core.claim import as_floats
from dpress.data.spec import load_spec
from dpress.release.collect import estimate
from dpress.release.local_plan import caution
from dpress.release.records import NAME
from dpress.release.rounds import NEXT, users_before


@click.command("estimate")
@click.argument("spec", type=click.Path())
@click.option("--reports", type=click.Path(), required=True, help="The Parquet file of reports.")
@click.option("--out", type=click.Path(), required=True, help="The new folder of the release.")
@click.option("--records", type=click.IntRange(0), default=0, help="Synthetic records to draw from a fitted joint.")
@click.option("--allow-unproven", is_flag=True, help="Also for a method whose claim has no proof.")
@quiet_option
@json_option
def command(
    spec: str, reports: str, out: str, *, records: int, allow_unproven: bool, quiet: bool, as_json: bool
) -> None:
    """Add up the reports of the collection that SPEC describes and release tables.

    One for every attribute, or with kind = "joint" one for every pair of attributes.
    """
    started = time.perf_counter()
    loaded = load_spec(spec)
    with counting(quiet=quiet) as progress:
        release = estimate(
            loaded,
            reports,
            out=out,
            records=records,
            allow_unproven=allow_unproven,
            progress=progress,
            refitted=refitting(progress),
        )
    if (note := caution(loaded)) is not None:
        hint(note, quiet=quiet)
    lifetime = lifetime_of(release.planned.chosen.mechanism)
    claim = {"published": as_floats(release.claim.published), "proven": as_floats(release.claim.proven)}
    following = str(place) if (place := Path(out) / NEXT).exists() else None
    if as_json:
        seconds = time.perf_counter() - started
        plain = {"release": out, "claim": claim, "lifetime": as_floats(lifetime), "charged": as_floats(release.charged)}
        print_json({**plain, "seconds": seconds, "rejected": dict(release.rejected), "next": following})
        return
    click.echo(f"Release: {out}")
    click.echo(f"Method:  {release.planned.chosen.method}")
    click.echo(f"Promise: {promised(release.claim)} for each report{beside(lifetime)}")
    before = users_before(release)
    beyond = f", and {before:,} in earlier rounds" if before else ""
    click.echo(f"Reports: {release.users - before:,} counted{beyond}")
    for reason, count in sorted(release.rejected.items()):
        click.echo(f"         {count:,} left out: {reason}")
    if records:
        click.echo(f"Records: {Path(out) / NAME} ({records:,}, drawn from the fitted joint distribution)")
    next_step = f"report {out}" if following is None else f"perturb {following} --data FILE --out REPORTS"
    click.echo(f"Next:    dpress {next_step}")
