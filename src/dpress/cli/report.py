"""`dpress report`: the HTML page of a release."""

from pathlib import Path

import click

from dpress.cli.output import json_option, print_json, working
from dpress.release.load import load_release
from dpress.release.periods.series import is_series, load_series
from dpress.reporting.page import write_report
from dpress.reporting.series_page import write_series_page


@click.command("report")
@click.argument("release", type=click.Path())
@click.option("--out", type=click.Path(), help="The HTML file [default: report.html beside the tables].")
@click.option("--query", "queries", multiple=True, help="Drawn on a map with its answer; may be repeated.")
@json_option
def command(release: str, out: str | None, queries: tuple[str, ...], *, as_json: bool) -> None:
    """Make the HTML report of RELEASE: one file that opens offline."""
    place = Path(release) / "report.html" if out is None else Path(out)
    with working("drawing the page", quiet=as_json):
        if is_series(release):
            path = write_series_page(load_series(release), place)
        else:
            path = write_report(load_release(release), place, queries=queries)
    if as_json:
        print_json({"report": str(path)})
    else:
        click.echo(f"Report: {path}")
