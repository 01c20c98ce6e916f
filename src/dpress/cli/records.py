"""`dpress records`: synthetic records of a release that is already published."""

import math
from functools import partial
from pathlib import Path

import click

from dpress.cli.output import json_option, print_json
from dpress.query.load import load_release
from dpress.query.made_records import write_records, write_tables


@click.command("records")
@click.argument("release", type=click.Path())
@click.option("--count", type=click.IntRange(min=1), required=True, help="How many records.")
@click.option("--where", default="", help="A condition that all of them fulfil, such as 'age in 30..40'.")
@click.option(
    "--out",
    type=click.Path(),
    required=True,
    help="The new file: .parquet, .csv, .dta, .sav or .xlsx; or a folder, of two tables.",
)
@click.option("--csv", is_flag=True, help="In a folder, both tables as CSV, too.")
@json_option
def command(release: str, count: int, where: str, out: str, *, csv: bool, as_json: bool) -> None:
    """Draw synthetic records from what RELEASE publishes; costs no privacy."""
    loaded, notes = load_release(release), list[str]()
    write = partial(write_tables, csv=csv) if csv or not Path(out).suffix else write_records
    path, rows = write(loaded, count, out, where=where, remark=notes.append), loaded.query("total")
    if as_json:
        figures = {"count": rows.value, "standard_error": rows.standard_error}
        figures |= dict(zip(("low", "high"), rows.interval, strict=True))
        total = {name: None if math.isnan(figure) else figure for name, figure in figures.items()}
        stated = {name: each for name, each in (("where", where), ("notes", notes)) if each}
        print_json({"records": str(path), "count": count, "rows": total, **stated})
    else:
        value, error, interval = rows.texts
        click.echo(f"Records: {path} ({count:,}{f', all with {where}' if where else ''})")
        for note in notes:
            click.echo(f"         {note}")
        click.echo(f"Rows:    {value}, standard error {error}, 95 % interval {interval}, by the release")
