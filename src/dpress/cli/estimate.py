"""`dpress estimate`: reports become a release."""

import time
from datetime import UTC, datetime
from pathlib import Path

import click

from dpress.cli.output import (
    counting,
    csv_options,
    hint,
    json_option,
    print_json,
    quiet_option,
    refitting,
    spark_option,
)
from dpress.cli.planned import planned
from dpress.core.basics import claim_words
from dpress.core.basics.losses.any_loss import as_floats
from dpress.core.basics.losses.read import from_parameters
from dpress.core.basics.new_path import new_path
from dpress.core.reports.pieces import on_threads
from dpress.data.spark.spark_run import on_spark
from dpress.data.stored.store_url import SCHEMES, open_store
from dpress.query.record_files import NAME
from dpress.query.release import Release
from dpress.release.devices.estimate import estimate
from dpress.release.devices.next_round import NEXT, users_before
from dpress.release.devices.retention import is_open
from dpress.release.plan.plan import design_of
from dpress.release.plan.plan_text import beside, caution, lifetime_of, promised
from dpress.release.plan.spec_or_design import load_spec_or_design

STILL_OPEN = (
    "the round is open: this release is of the {:,} reports so far; close the round on its live page, or run this "
    "again once it is closed, for the release of all its reports"
)


@click.command("estimate")
@click.argument("design", metavar="DESIGN", type=click.Path())
@click.option(
    "--reports",
    type=click.Path(),
    required=True,
    help="A Parquet file of reports, a folder of them, a pattern in quotes, or the URL of a store.",
)
@click.option("--out", type=click.Path(), required=True, help="The new folder of the release.")
@click.option("--records", type=click.IntRange(0), default=0, help="Synthetic records to draw from a fitted joint.")
@csv_options
@click.option(
    "--engine",
    type=click.Choice(["threads", "spark"]),
    default="threads",
    is_eager=True,
    help="What adds up the reports.",
)
@spark_option
@click.option("--allow-unproven", is_flag=True, help="Also for a method whose claim has no proof.")
@quiet_option
@json_option
def command(
    design: str,
    reports: str,
    out: str,
    *,
    records: int,
    engine: str,
    allow_unproven: bool,
    csv: bool,
    titles: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Add up the reports of the collection that DESIGN describes and write the release.

    DESIGN is what `dpress plan --out` wrote, or a specification, which is planned on the spot.
    """
    started = time.perf_counter()
    new_path(out, "a release is")
    loaded = design_of(planned(load_spec_or_design(design), design))
    with counting(quiet=quiet) as progress:
        release = estimate(
            loaded,
            reports if engine == "threads" or reports.startswith(SCHEMES) else str(Path(reports).absolute()),
            out=out,
            records=records,
            allow_unproven=allow_unproven,
            csv=csv,
            titles=titles,
            progress=progress,
            refitted=refitting(progress),
            run=on_threads if engine == "threads" else on_spark,
        )
    if note := caution(from_parameters(loaded.budget)):
        hint(note, quiet=quiet)
    if reports.startswith(SCHEMES) and is_open(open_store(reports), loaded, now=datetime.now(UTC)):
        hint(STILL_OPEN.format(release.reports - users_before(release)), quiet=quiet)
    lifetime = lifetime_of(release.mechanism)
    claim = claim_words.figures(release.claim)
    following = str(place) if (place := Path(out) / NEXT).exists() else None
    if as_json:
        seconds = time.perf_counter() - started
        plain = {"release": out, "claim": claim, "lifetime": as_floats(lifetime), "charged": as_floats(release.charged)}
        print_json({**plain, "seconds": seconds, "rejected": dict(release.rejected), "next": following})
        return
    _say(release, out, records, following)


def _say(release: Release, out: str, records: int, following: str | None) -> None:
    """Say what was released."""
    click.echo(f"Release: {out}")
    click.echo(f"Method:  {release.method}")
    click.echo(f"Promise: {promised(release.claim)} for each report{beside(lifetime_of(release.mechanism))}")
    before = users_before(release)
    beyond = f", and {before:,} in earlier rounds" if before else ""
    click.echo(f"Reports: {release.reports - before:,} counted{beyond}")
    for reason, count in sorted(release.rejected.items()):
        click.echo(f"         {count:,} left out: {reason}")
    if records:
        click.echo(f"Records: {Path(out) / NAME} ({records:,}, drawn from the fitted joint distribution)")
    for line in release.answers.announced:
        click.echo(line)
    next_step = f"report {out}" if following is None else f"perturb {following} --data FILE --out REPORTS"
    click.echo(f"Next:    dpress {next_step}")
