"""`dpress ledger`: what was spent, and that nobody edited it."""

from collections.abc import Iterable
from fractions import Fraction
from pathlib import PurePath
from typing import Any

import click

from dpress.cli.output import json_option, print_json, print_table
from dpress.core.basics.check import float_down, float_up
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.any_loss import as_floats, describe
from dpress.core.basics.losses.read import from_parameters
from dpress.ledger.ledger import Entry, Ledger, Summary, Verification, verify
from dpress.query.folder import SERIES
from dpress.release.curator.ledger_heads import heads_below

SHORT = 8  # digits of a hash in a table
NAMED = 40  # releases that keep a head


@click.group("ledger")
def command() -> None:
    """Show, verify or create a budget ledger."""


@command.command("create")
@click.argument("ledger")
@click.option("--epsilon", help="The limit in epsilon (with --delta: in epsilon and delta).")
@click.option("--delta", help="The limit's delta.")
@click.option("--rho", help="The limit in rho (zCDP).")
@click.option(
    "--unit",
    default=["row"],
    show_default=True,
    multiple=True,
    help='"row", or the column that names the person; once for each where several do together.',
)
@click.option("--rows-per-unit", type=int, default=1, show_default=True, help="The most rows a person keeps.")
@click.option("--relation", type=click.Choice([one.value for one in Relation]), default="add-remove", show_default=True)
@click.option(
    "--analyst",
    multiple=True,
    metavar="NAME=SHARE",
    help="A share of the limit, in epsilon or rho, that only this analyst spends; may be repeated.",
)
@json_option
def create(  # as the command has them
    ledger: str,
    unit: tuple[str, ...],
    rows_per_unit: int,
    relation: str,
    analyst: tuple[str, ...],
    *,
    as_json: bool,
    **limit: str | None,
) -> None:
    """Create LEDGER, a file or postgresql://..., with a limit that all releases of one table share."""
    if not any(limit.values()):
        raise click.UsageError("a ledger needs a limit: --epsilon, --rho, or --epsilon and --delta")
    loss = from_parameters({name: value for name, value in limit.items() if value is not None})
    column, *also = (None,) if unit == ("row",) else unit
    protected = Unit(relation=Relation(relation), column=column, rows=rows_per_unit, also=tuple(also))
    shares = _shares(analyst)
    Ledger.create(ledger, limit=loss, unit=protected, analysts=shares)
    if as_json:
        print_json({"ledger": ledger, "limit": as_floats(loss), **({"analysts": shares} if shares else {})})
        return
    click.echo(f"Ledger: {ledger}, limit {describe(loss)}")
    for name, share in shares.items():
        click.echo(f"Share:  {_shown(name)}, {loss.names[0]} = {share}")


def _shares(analysts: tuple[str, ...]) -> dict[str, str]:
    """Return the share of every analyst, as texts of numbers, from texts such as ada=0.5."""
    shares: dict[str, str] = {}
    for text in analysts:
        name, equals, share = text.rpartition("=")
        if not equals or not name or name in shares:
            raise click.UsageError(f"--analyst: expected NAME=SHARE, each name once, such as ada=0.5, got {text!r}")
        shares[name] = share
    return shares


@command.command("show")
@click.argument("ledger")
@click.option("--html", metavar="FILE", type=click.Path(), help="Also as a page: one HTML file that opens offline.")
@json_option
def show(ledger: str, html: str | None, *, as_json: bool) -> None:
    """What LEDGER allows, what was spent, by whom and on what."""
    summary = Ledger.open(ledger).summary()
    if html is not None:
        from dpress.reporting.ledger_page import write_ledger_page  # noqa: PLC0415  # keeps the start fast

        write_ledger_page(summary, ledger, html)
    if as_json:
        print_json({**_plain(summary), **({} if html is None else {"page": html})})
        return
    _show_amounts(summary)
    _show_entries(summary)
    if html is not None:
        click.echo(f"Page: {html}")


def _plain(summary: Summary) -> dict[str, Any]:
    """Return what a ledger allows and what was spent as plain data."""
    entries: list[dict[str, Any]] = [
        {
            "time": entry.time,
            "label": entry.label,
            "release": entry.release,
            "spec": entry.spec,
            "who": entry.who,
            "charged": as_floats(entry.loss),
            "remaining": _down(entry.remaining),
            "confirmed": entry.confirmed,
            "design": entry.design,
            "partition": entry.partition,
            **({"analyst": entry.analyst} if summary.shares else {}),
        }
        for entry in summary.entries
    ]
    amounts = {"spent": _up(summary.spent), "remaining": _down(summary.remaining)}
    analysts = {"analysts": _plain_shares(summary)} if summary.shares else {}
    return {"limit": as_floats(summary.limit), **amounts, **analysts, "entries": entries, "head": summary.head}


def _show_amounts(summary: Summary) -> None:
    """Print the limit, what was spent and what is left, of every share, too."""
    click.echo(f"Limit:     {describe(summary.limit)}")
    click.echo(f"Spent:     {_text(_up(summary.spent))}")
    click.echo(f"Remaining: {_text(_down(summary.remaining))}")
    for analyst, share in _plain_shares(summary).items():
        whose = f"Share of {_shown(analyst)}:" if analyst else "Beside the shares:"
        click.echo(f"{whose} {share['remaining']:.6g} left of {summary.limit.names[0]} = {share['share']:.6g}")


def _show_entries(summary: Summary) -> None:
    """Print a table of all charges."""
    names = set(_up(summary.spent))
    rows = [
        [
            e.time.partition("T")[0],
            _shown(_named(e)) + ("" if e.confirmed else " (charged, then stopped)"),
            *(_shown(text) for text in (e.release, e.spec[:SHORT], e.who)),
            *([_shown(e.analyst)] if summary.shares else []),
            _brief(as_floats(e.loss), names),
            _brief(_down(e.remaining), names),
        ]
        for e in summary.entries
    ]
    header = ("day (UTC)", "label", "release", "spec", "who", *(["analyst"] * bool(summary.shares)), "charged", "left")
    amounts_at = (len(header) - 2, len(header) - 1)
    print_table(header, rows, numbers=amounts_at, whole=(0, 3, *amounts_at))


@command.command("verify")
@click.argument("ledger")
@click.option("--head", help="A hash noted earlier (release.json: ledger_head) that must still be in the chain.")
@click.option("--releases", type=click.Path(), help="A folder: so must be the heads of all releases below it.")
@json_option
def check(ledger: str, head: str | None, releases: str | None, *, as_json: bool) -> None:
    """Check that no entry of LEDGER was edited, removed or reordered.

    Entries that were cut off the end are found only with the heads that are kept elsewhere: --head, --releases.
    """
    kept = {} if releases is None else heads_below(releases)
    verification = verify(ledger, head=head, kept=kept)
    if as_json:
        counted = {"rows": verification.rows, "charges": verification.charges, "drawn": verification.drawn}
        plain = {"ledger": ledger, **counted, "head": verification.head}
        print_json({**plain, "releases": len(kept), "kept_by": sorted(kept)})
        return
    click.echo(f"{ledger}: no line was edited, moved or removed from the middle")
    click.echo(f"Lines:   {_lines(verification)}")
    click.echo(f"Head:    {verification.head}, the hash of the last line")
    if head is not None:
        click.echo(f"Checked: {head} is the hash of a line")
    if kept:
        click.echo(f"Checked: the hash that each of these noted when it was paid is that of a line: {_releases(kept)}")
    elif head is None:
        click.echo("Lines cut off the end are found only with --releases or --head")


def _lines(verified: Verification) -> str:
    """Return what the lines of a ledger are, in words.

    >>> _lines(Verification(rows=6, charges=3, drawn=2, first="", head=""))
    '6: the limit, 3 charges, and for 2 of these that the noise was drawn'
    """
    charges = "1 charge" if verified.charges == 1 else f"{verified.charges:,} charges"
    drawn = f", and for {verified.drawn:,} of these that the noise was drawn" if verified.charges else ""
    return f"{verified.rows:,}: the limit, {charges}{drawn}"


def _releases(kept: Iterable[str]) -> str:
    """Return which releases and series keep a head, by their folders.

    >>> _releases(["visits/2024-01/release.json", "visits/series.json"])
    'the series visits; the release visits/2024-01'
    """
    places = [PurePath(place) for place in kept]
    series = sorted(str(place.parent) for place in places if place.name == SERIES)
    single = sorted(str(place.parent) for place in places if place.name != SERIES)
    return "; ".join(_listed(*named) for named in (("the series", series), ("the release", single)) if named[1])


def _listed(word: str, names: list[str]) -> str:
    if len(names) == 1:
        return f"{word} {names[0]}"
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    plural = word if word.endswith("s") else f"{word}s"
    return f"{plural} {', '.join(names[:NAMED])}{more}"


def _plain_shares(summary: Summary) -> dict[str, dict[str, float]]:
    """Return every analyst's share, what is spent of it and what is left; under "" what is beside them."""
    return {
        analyst: {
            "share": float_up(share.limit),
            "spent": float_up(share.spent),
            "remaining": float_down(share.remaining),
        }
        for analyst, share in summary.shares.items()
    }


def _named(entry: Entry) -> str:
    """Return what a charge is for, and the part of the table that it looked at."""
    return entry.label if entry.partition is None else f"{entry.label}, {entry.partition}"


def _shown(text: str) -> str:
    """Return what names an entry, as a table shows it: nothing in it acts on a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text) or "-"


def _up(amounts: dict[str, Fraction]) -> dict[str, float]:
    return {name: float_up(value) for name, value in amounts.items()}


def _down(amounts: dict[str, Fraction]) -> dict[str, float]:
    return {name: float_down(value) for name, value in amounts.items()}


def _text(amounts: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value:.6g}" for name, value in amounts.items())


def _brief(amounts: dict[str, float] | None, names: set[str]) -> str:
    """Return amounts without the name where it is that of the limit, which has one."""
    by_name = amounts or {}
    return f"{by_name[min(by_name)]:.6g}" if len(by_name) == 1 and set(by_name) == names else _text(by_name)
