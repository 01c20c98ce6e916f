"""`dpress serve`: collects reports over HTTP."""

from pathlib import Path

import click
import msgspec

from dpress.cli.output import hint, json_option, quiet_option
from dpress.cli.planned import planned
from dpress.data.stored.store_url import open_store
from dpress.query.designs import collection_of
from dpress.release.plan.plan import design_of
from dpress.release.plan.spec_or_design import load_spec_or_design

SHORTEST_TOKEN = 16


@click.command("serve")
@click.argument("designs", metavar="DESIGN...", nargs=-1, required=True, type=click.Path())
@click.option("--store", default="sqlite:///reports.db", show_default=True, help="Where reports are kept.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="The port; 0 is a free one."
)
@click.option("--admin-token-file", type=click.Path(), help="A file with the administrator's token.")
@click.option("--public", is_flag=True, help="Everybody may look at the live pages.")
@quiet_option
@json_option
def command(
    designs: tuple[str, ...],
    store: str,
    host: str,
    port: int,
    admin_token_file: str | None,
    *,
    public: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Collect reports over HTTP for the collections that the DESIGNs describe, until it is stopped.

    A DESIGN is what `dpress plan --out` wrote, or a specification, which is planned on the spot.
    """
    from dpress.service.app import Settings, app  # noqa: PLC0415  # an extra
    from dpress.service.served import Collections  # noqa: PLC0415
    from dpress.service.server import run  # noqa: PLC0415

    token = None if admin_token_file is None else read_token(admin_token_file)
    loaded = [design_of(planned(load_spec_or_design(path), path)) for path in designs]
    for design in loaded:
        collection_of(design)  # what asks no devices is refused before a store is made
    opened = open_store(store, create=True)
    collections = Collections(opened)
    served = [collections.add(design) for design in loaded]

    def listening(address: str) -> None:
        urls = {collection.round.ask: f"{address}/v1/collections/{collection.round.ask}" for collection in served}
        if as_json:
            rows = [{"id": each.round.ask, "round": each.round.number, "url": urls[each.round.ask]} for each in served]
            click.echo(msgspec.json.encode({"address": address, "collections": rows}))  # one line: more may never come
            return
        for url in urls.values():
            click.echo(f"Collection: {url}")
            click.echo(f"Page:       {url.replace('/v1/collections/', '/collections/')}")
        if token is None:
            hint("rounds cannot be closed by hand: there is no --admin-token-file", quiet=quiet)

    run(app(opened, collections, Settings(url=store, token=token, public=public)), host, port, listening)


def read_token(path: str) -> str:
    """Return the administrator's token.

    Raises:
        ValueError: the file holds none that is long enough; it is not shown.
    """
    token = Path(path).read_text(encoding="utf-8").strip()
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
        raise ValueError(f"{path}: the token must be one line of at least {SHORTEST_TOKEN} characters of ASCII")
    return token
