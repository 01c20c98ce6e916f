"""`dpress evaluate`: a release against the truth."""

import click

from dpress import catalog
from dpress.cli.output import counting, engine_option, hint, json_option, number, print_json, print_table, quiet_option
from dpress.cli.swapped import remarking
from dpress.query.load import load_release
from dpress.release.truth.evaluate import compared_with, evaluate


@click.command("evaluate")
@click.argument("release", type=click.Path())
@click.option(
    "--data",
    type=click.Path(),
    required=True,
    help="The rows that were published: a file, folder, glob or DATABASE#TABLE.",
)
@click.option("--held-out", type=click.Path(), help="Of records: rows not published, to test a classifier on.")
@engine_option
@quiet_option
@json_option
def command(release: str, data: str, held_out: str | None, *, engine: str | None, quiet: bool, as_json: bool) -> None:
    """Compare RELEASE with the true counts. The output is NOT private: keep it where the data is kept."""
    with counting(quiet=quiet) as progress:
        loaded = load_release(release)
        with remarking(loaded.design.attributes, data, quiet=quiet):
            metrics = evaluate(loaded, data, held_out=held_out, engine=engine, progress=progress)
    remarks = catalog.room(loaded.design.kind).comparison.remarks(loaded)
    if remarks.hint and held_out is None:
        hint(remarks.hint, quiet=quiet)
    if as_json:
        about = {"compared_with": compared} if (compared := compared_with(loaded)) else {}
        print_json({"private": False, **about, "metrics": metrics})
        return
    click.echo("NOT PRIVATE: this compares with the true data; do not publish it.")
    for line in (*filter(None, [compared_with(loaded)]), *remarks.lines):
        click.echo(line)
    print_table(
        ("metric", "value"), [[name.replace("_", " "), number(value)] for name, value in metrics.items()], numbers=(1,)
    )
