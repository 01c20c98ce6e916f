"""`dpress evaluate`: a release against the truth."""

import click

from dpress.cli.output import counting, hint, json_option, number, print_json, print_table, quiet_option
from dpress.cli.swapped import remarking
from dpress.kinds.microdata.answers import MicrodataRelease
from dpress.kinds.microdata.evaluate import no_classifier
from dpress.release.evaluate import evaluate
from dpress.release.load import load_release


@click.command("evaluate")
@click.argument("release", type=click.Path())
@click.option("--data", type=click.Path(), required=True, help="The CSV or Parquet file that was published.")
@click.option("--held-out", type=click.Path(), help="Of records: rows not published, to test a classifier on.")
@quiet_option
@json_option
def command(release: str, data: str, held_out: str | None, *, quiet: bool, as_json: bool) -> None:
    """Compare RELEASE with the true counts. The output is NOT private: keep it where the data is kept."""
    with counting(quiet=quiet) as progress:
        loaded = load_release(release)
        with remarking(loaded.spec, data, quiet=quiet):
            metrics = evaluate(loaded, data, held_out=held_out, progress=progress)
    if isinstance(loaded, MicrodataRelease) and held_out is None:
        hint(no_classifier(loaded) or "no classifier: --held-out FILE would name rows to test it on", quiet=quiet)
    if as_json:
        print_json({"private": False, "metrics": metrics})
        return
    click.echo("NOT PRIVATE: this compares with the true data; do not publish it.")
    chosen = loaded.planned.chosen
    if chosen.assumes:
        click.echo(f"{chosen.method} supposes {chosen.assumes}: its tables of pairs are products.")
    print_table(
        ("metric", "value"), [[name.replace("_", " "), number(value)] for name, value in metrics.items()], numbers=(1,)
    )
