"""`dpress collection`: what a service's store holds, and what becomes of it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click

from dpress.cli.output import json_option, print_json, print_table
from dpress.data.stored.store_url import open_store
from dpress.release.devices import retention
from dpress.release.devices.retention import StoredRound

store_option = click.option(
    "--store", default="sqlite:///reports.db", show_default=True, help="Where the service keeps reports."
)


@click.group("collection")
def command() -> None:
    """List, expire or delete what a service collected."""


@command.command("list")
@store_option
@json_option
def show(store: str, *, as_json: bool) -> None:
    """All rounds of the store: when they ended, and how many reports they hold."""
    rounds = retention.listed(open_store(store), now=datetime.now(UTC))
    if as_json:
        print_json([_plain(stored) for stored in rounds])
        return
    if not rounds:
        click.echo("The store has no collections.")
        return
    header = ("collection", "title", "round", "state", "ended", "reports", "refused", "deleted")
    print_table(header, [_row(stored) for stored in rounds], numbers=(2, 5, 6, 7), whole=(0,))


@command.command("expire")
@store_option
@click.option("--days", type=click.IntRange(min=0), required=True, help="Since the day on which a round ended, UTC.")
@json_option
def expire(store: str, *, days: int, as_json: bool) -> None:
    """Delete the reports of rounds that ended DAYS days ago or earlier, for good; their designs and counts stay."""
    opened, now = open_store(store), datetime.now(UTC)
    gone = retention.expire(opened, days=days, now=now)
    left = [stored for stored in retention.listed(opened, now=now) if stored.state == "open"]
    more = f"; still open, and to be closed first: {_rounds(left)}" if left else ""
    _tell(gone, f"{sum(stored.reports for stored in gone):,} reports of {_rounds(gone)} deleted{more}", as_json=as_json)


@command.command("delete")
@click.argument("collection", metavar="ID")
@store_option
@click.option("--yes", is_flag=True, help="Without asking.")
@json_option
def delete(collection: str, store: str, *, yes: bool, as_json: bool) -> None:
    """Delete the collection ID from the store, for good: all its rounds, their designs, reports and counts."""
    opened = open_store(store)
    rounds = retention.rounds_of(opened, collection)
    what = f"{sum(stored.reports for stored in rounds):,} reports and {_rounds(rounds)} of {rounds[0].design.title}"
    if not yes:
        _confirm(f"Delete {what}, for good?")
    _tell(retention.delete(opened, collection), f"{what} deleted", as_json=as_json)


def _confirm(words: str) -> None:
    """Go on after a yes; refuse where the answer is no, or nobody answers."""
    try:
        click.confirm(words, abort=True, err=True)
    except click.Abort:
        raise ValueError("nothing was deleted; --yes deletes without asking") from None


def _tell(gone: Sequence[StoredRound], text: str, *, as_json: bool) -> None:
    if as_json:
        print_json([_plain(stored) for stored in gone])
    else:
        click.echo(text)


def _rounds(rounds: Sequence[StoredRound]) -> str:
    return "1 round" if len(rounds) == 1 else f"{len(rounds)} rounds"


def _plain(stored: StoredRound) -> dict[str, Any]:
    return {
        "id": stored.round.ask,
        "title": stored.design.title,
        "round": stored.round.number,
        "state": stored.state,
        "ended": None if stored.ended is None else stored.ended.isoformat(),
        "reports": stored.reports,
        "refused": stored.refused,
        "deleted": stored.round.expired or 0,
    }


def _row(stored: StoredRound) -> list[str]:
    plain = _plain(stored)
    numbers = [f"{plain[name]:,}" for name in ("reports", "refused", "deleted")]
    return [plain["id"], plain["title"], str(plain["round"]), plain["state"], plain["ended"] or "-", *numbers]
