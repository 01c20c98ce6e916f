"""`dpress studio`: a page on this computer for people who do not write TOML."""

import secrets
import sys
from pathlib import Path
from urllib.parse import urlsplit

import click
import msgspec

from dpress.cli.output import hint, json_option, quiet_option
from dpress.core.basics import extras

HOST = "127.0.0.1"  # and no other: what it may do needs whoever sits here


@click.command("studio")
@click.argument("source", metavar="[FILE]", default="")
@click.option(
    "--folder", type=click.Path(), default="dpress-studio", show_default=True, help="Keeps all that is typed and made."
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="The port; 0 is a free one.")
@quiet_option
@json_option
def command(source: str, folder: str, port: int, *, quiet: bool, as_json: bool) -> None:
    """Describe, plan, check and publish FILE on a page, until it is stopped. It listens to this computer alone.

    FILE is a file, a folder, a glob or DATABASE#TABLE. The page shows its columns' names and types; no row leaves it
    but by *check*. All that is typed is kept, and goes on where it was when the same folder is opened again.
    """
    for module in ("litestar", "uvicorn", "jinja2"):
        extras.load(module, extra="studio", need="the studio needs")
    from dpress.service.server import run  # noqa: PLC0415  # an extra
    from dpress.studio.guard import Guard  # noqa: PLC0415
    from dpress.studio.routes import app  # noqa: PLC0415
    from dpress.studio.session import Session  # noqa: PLC0415

    guard = Guard(secrets.token_urlsafe(24))
    session = Session.at(Path(folder), source)

    def listening(address: str) -> None:
        place = urlsplit(address)
        guard.hosts = (place.netloc, f"localhost:{place.port}")
        page = f"{address}/?token={guard.token}"
        if as_json:
            click.echo(msgspec.json.encode({"page": page, "folder": str(session.folder)}))
            return
        click.echo(f"Studio: {page}")
        hint(f"all that is typed is kept in {session.folder}; Ctrl-C stops", quiet=quiet)
        if sys.stdout.isatty():
            click.launch(page)

    run(app(session, guard), HOST, port, listening)
