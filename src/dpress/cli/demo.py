"""`dpress demo`: the whole path on built-in data."""

import math
from pathlib import Path

import click
from click.core import ParameterSource

from dpress.cli.output import hint, json_option, print_json, quiet_option
from dpress.core.basics import claim_words
from dpress.core.basics.losses.any_loss import describe
from dpress.data.example_people import people
from dpress.data.specification.spec import load_spec
from dpress.ledger.ledger import Ledger
from dpress.release.curator.publish import publish
from dpress.reporting.optional import NEEDED, present
from dpress.reporting.page import write_report

SPEC = """\
# Which cells the table has is public: it is written here, never read from the people.
[data]
source = "people.parquet"

[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 84]
bins = 17

[[attribute]]
name = "sex"
kind = "categorical"
values = ["Female", "Male"]

[[attribute]]
name = "education"
kind = "ordinal"
values = ["Primary", "Secondary", "Vocational", "Bachelor", "Master"]

[[attribute]]
name = "region"
kind = "categorical"
values = ["North", "East", "South", "West"]

[privacy]
epsilon = 1.0

[release]
kind = "marginals"
parameters = { tables = [["age", "sex"], ["age", "education"], ["education", "region"]] }
"""
NO_PAGE = f"none; {NEEDED}"
QUERIES = ("age in 30..39 and sex = Female", "education in Bachelor..Master and region = North")


@click.command("demo")
@click.option(
    "--out", type=click.Path(), default="dpress-demo", show_default=True, help="The folder; numbered if taken."
)
@click.option("--collect", is_flag=True, help="In its place a collection to look at while made-up devices report.")
@quiet_option
@json_option
@click.pass_context
def command(context: click.Context, out: str, *, collect: bool, quiet: bool, as_json: bool) -> None:
    """Make up 50,000 people, plan, publish, ask two queries and write the report (where the extra `[report]` is).

    With --collect their devices report to a service on this computer, until it is stopped (which needs `[service]`).
    """
    if collect:
        if context.get_parameter_source("out") is not ParameterSource.DEFAULT:
            raise click.UsageError("--out: expected no folder beside --collect, which leaves nothing behind")
        _collect(quiet=quiet, as_json=as_json)
        return
    folder = _new_folder(Path(out))
    _write_people(folder)
    spec = load_spec(folder / "spec.toml")
    ledger = Ledger.create(folder / "ledger.sqlite", limit=spec.privacy.loss, unit=spec.privacy.protected)
    release = publish(spec, ledger=ledger, out=folder / "release")
    answers = [release.query(text) for text in QUERIES]
    report = write_report(release, folder / "report.html") if present() else None
    claim = claim_words.figures(release.claim)
    if as_json:
        page = None if report is None else str(report)
        print_json({"release": str(folder / "release"), "report": page, "claim": claim, "answers": answers})
        return
    error = math.sqrt(release.predicted or 0.0)
    click.echo(f"50,000 made-up people and a spec are in {folder}.")
    click.echo(f"Plan: {release.method}; a cell will typically be off by {error:.1f} people.")
    click.echo(f"Published with {describe(release.claim.proven)}, charged to {folder / 'ledger.sqlite'}.")
    for answer in answers:
        low, high = answer.interval
        click.echo(f"  {answer.query}: {answer.value:,.0f} people, 95 % interval {low:,.0f} to {high:,.0f}")
    click.echo(f"Report: {NO_PAGE if report is None else report.resolve()}")
    click.echo(
        f"Guarantee: {describe(release.claim.proven)}, proven: whether any one row is in the data or not changes "
        f"the odds of every result by a factor of at most {math.exp(claim['proven']['epsilon']):.3g}."
        if claim["proven"] is not None
        else "Guarantee: none."
    )


def _collect(*, quiet: bool, as_json: bool) -> None:
    from dpress.service.demo_collection import collect  # noqa: PLC0415  # an extra

    def watch(address: str) -> None:
        if as_json:
            print_json({"page": address})
        else:
            click.echo(address)
        hint("50,000 made-up devices report for some minutes; Ctrl-C stops and leaves nothing behind", quiet=quiet)

    collect(watch)


def _new_folder(wanted: Path) -> Path:
    folder, number = wanted, 1
    while folder.exists():
        number += 1
        folder = wanted.with_name(f"{wanted.name}-{number}")
    folder.mkdir(parents=True)
    return folder


def _write_people(folder: Path) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415  # only here

    pq.write_table(people(), folder / "people.parquet")
    (folder / "spec.toml").write_text(SPEC, encoding="utf-8")
