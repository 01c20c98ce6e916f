"""`dpress report`: the HTML page of a release."""

from collections.abc import Sequence
from pathlib import Path

import click

from dpress.cli.output import json_option, print_json, working
from dpress.core.basics.errors import NotSupported
from dpress.query.folder import is_series
from dpress.query.load import load_release
from dpress.release.periods.series import load_series
from dpress.reporting.page import write_report
from dpress.reporting.registry import write_registry
from dpress.reporting.series_page import write_series_page

OTHER_FILES = (".pdf", ".docx", ".png", ".md")


@click.command("report")
@click.argument("release", type=click.Path())
@click.option("--out", type=click.Path(), help="The file [default: report.html or registry.yaml beside the tables].")
@click.option("--query", "queries", multiple=True, help="Drawn on a map with its answer; may be repeated.")
@click.option("--boundaries", type=click.Path(), help="GeoJSON: named areas drawn on a map, each with its count.")
@click.option("--registry", is_flag=True, help="Write the record for the public registry of deployments instead.")
@json_option
def command(
    release: str,
    out: str | None,
    queries: tuple[str, ...],
    boundaries: str | None,
    *,
    registry: bool,
    as_json: bool,
) -> None:
    """Make the HTML report of RELEASE: one file that opens offline."""
    if registry:
        _register(release, out, [*queries, *([] if boundaries is None else [boundaries])], as_json=as_json)
        return
    place = Path(release) / "report.html" if out is None else Path(out)
    if place.suffix.lower() in OTHER_FILES:
        raise click.UsageError(f"the report is a page of HTML, which a browser prints: name it {place.stem}.html")
    with working("drawing the page", quiet=as_json):
        if is_series(release) and boundaries is not None:
            raise NotSupported(
                f"{release} grows by periods; boundaries are drawn on one release, name one of those in it"
            )
        if is_series(release):
            path = write_series_page(load_series(release), place)
        else:
            path = write_report(load_release(release), place, queries=queries, boundaries=boundaries)
    if as_json:
        print_json({"report": str(path)})
    else:
        click.echo(f"Report: {path}")


def _register(release: str, out: str | None, drawn: Sequence[str], *, as_json: bool) -> None:
    """Write the registry's record, and say what is left to do."""
    if drawn:
        raise click.UsageError("--query and --boundaries are drawn on the page; --registry writes none")
    if is_series(release):
        raise NotSupported(f"{release} grows by periods, and a record is of one release; name one of those in it")
    path = write_registry(load_release(release), Path(release) / "registry.yaml" if out is None else out)
    if as_json:
        print_json({"registry": str(path)})
        return
    click.echo(f"Record: {path}")
    click.echo("Next:   a person completes what is marked TODO")
