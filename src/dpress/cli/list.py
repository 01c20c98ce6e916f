"""`dpress list`: every method that the catalogue finds."""

import click

from dpress import catalog
from dpress.cli.output import json_option, print_json, print_table


@click.command("list")
@click.option("--family", metavar="F", help="Only the methods of this family.")
@json_option
def command(family: str | None, *, as_json: bool) -> None:
    """Every method: family, model, claim published and proven, paper."""
    cards = [card for card in catalog.cards().values() if family in (None, card.family)]
    if not cards:
        families = sorted({card.family for card in catalog.cards().values()})
        raise ValueError(f"there is no family {family!r}; the families are {', '.join(families)}")
    rows = []
    for card in cards:
        published, proven = catalog.claims(card)
        rows.append(
            {
                "method": card.name,
                "family": card.family,
                "model": card.model,
                "published": published,
                "proven": proven,
                "paper": card.paper,
            }
        )
    if as_json:
        print_json(rows)
        return
    header = ("method", "family", "model", "published", "proven", "paper")
    print_table(header, [[row[name] or "-" for name in header] for row in rows])
