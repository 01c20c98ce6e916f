"""`dpress list`: every method that the catalogue finds, or one with its parameters."""

import click

from dpress import catalog
from dpress.cli.output import hint, json_option, print_json, print_table
from dpress.core.basics.parameters import listed
from dpress.core.methods.card_index import Entry
from dpress.core.methods.mechanism import Card

HEADER = ("method", "family", "model", "auto", "published", "proven", "paper")
ORIGIN = "origin"  # shown where some method comes from elsewhere
COLUMNS = ("name", "type", "sentence")


@click.command("list")
@click.argument("method", required=False)
@click.option("--family", metavar="F", help="Only the methods of this family.")
@json_option
def command(method: str | None, family: str | None, *, as_json: bool) -> None:
    """Every method: family, model, whether `auto` takes it, claim, paper; of METHOD also its parameters."""
    if method is not None and family is not None:
        raise click.UsageError("give either METHOD or --family")
    if method is not None:
        _show(catalog.card(method), as_json=as_json)
        return
    entries = [entry for entry in catalog.entries().values() if family in (None, entry.family)]
    if not entries:
        families = sorted({entry.family for entry in catalog.entries().values()})
        raise ValueError(f"there is no family {family!r}; the families are {', '.join(families)}")
    rows = [_row(entry) for entry in entries]
    for fault in catalog.faults():
        hint(fault, quiet=False)
    if as_json:
        print_json(rows)
        return
    header = (*HEADER, ORIGIN) if any(row[ORIGIN] for row in rows) else HEADER
    print_table(header, [[_cell(row[name]) for name in header] for row in rows])


def _cell(value: object) -> str:
    """Return what a table shows of a value."""
    return {True: "yes", False: "by name only"}[value] if isinstance(value, bool) else str(value or "-")


def _row(entry: Entry) -> dict[str, str | bool | None]:
    return {
        "method": entry.name,
        "family": entry.family,
        "model": entry.model,
        "auto": entry.competes,
        "published": entry.published,
        "proven": entry.proven,
        "paper": entry.paper,
        ORIGIN: entry.origin or None,
    }


def _show(card: Card, *, as_json: bool) -> None:
    """Print one method with its parameters, as [release.parameters] takes them."""
    fields = [{"name": field.name, "type": field.type, "sentence": field.sentence} for field in listed(card.parameters)]
    row = _row(catalog.entries()[card.name]) | {"summary": card.summary}
    if as_json:
        print_json(row | {"parameters": fields})
        return
    first, *lines = [[name, _cell(value)] for name, value in row.items() if value or name != ORIGIN]
    print_table(first, lines)
    if fields:
        click.echo()
        print_table(COLUMNS, [[parameter[name] for name in COLUMNS] for parameter in fields])
