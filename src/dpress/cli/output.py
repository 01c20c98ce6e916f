"""What every command shares: `--json`, `--quiet`, tables for people, progress for long reads."""

import contextlib
import dataclasses
import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import click

from dpress.core.claim import Claim, PureDP, describe
from dpress.mechanisms.protocol.collection import Collection

F = TypeVar("F", bound=Callable[..., Any])

PATIENCE = 2.0  # seconds before progress is shown


def json_option(function: F) -> F:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")(function)


def quiet_option(function: F) -> F:
    """Add `--quiet`."""
    return click.option("--quiet", is_flag=True, help="No progress, no hints.")(function)


def print_json(value: Any) -> None:
    """Print one JSON value; records become objects."""
    click.echo(json.dumps(value, indent=2, default=_plain))


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)


def promised(claim: Claim) -> str:
    """Return what a claim promises, and whether that is proven."""
    if claim.proven is not None or claim.published is None:
        return f"{describe(claim.proven)} (proven)"
    return f"{describe(claim.published)} (claimed, NOT proven)"


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> None:
    """Print a table; the columns listed in `numbers` are aligned right."""
    from rich.console import Console  # noqa: PLC0415  # keeps the start fast
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold")
    for position, name in enumerate(header):
        table.add_column(name, justify="right" if position in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 1000  # nothing is folded where a program reads
    console.print(table)


def hint(message: str, *, quiet: bool) -> None:
    """Print a remark on standard error."""
    if not quiet:
        click.echo(f"note: {message}", err=True)


@contextlib.contextmanager
def counting(*, quiet: bool) -> Iterator[Callable[..., None] | None]:
    """Yield a callback that shows the number of rows read, once that takes longer than two seconds.

    Its second argument, a text such as "wrote {:,} cells", says what else was counted.
    """
    if quiet:
        yield None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    bar = Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=Console(stderr=True))
    started = time.monotonic()
    task = bar.add_task("working")

    def show(done: int, text: str = "counted {:,} rows") -> None:
        if time.monotonic() - started > PATIENCE:
            bar.start()
            bar.update(task, description=text.format(done))

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()


def refitting(show: Callable[..., None] | None) -> Callable[[int], None] | None:
    """Return the callback for fits that are done again, beside that of `counting`."""
    return None if show is None else lambda done: show(done, "fitted again {:,} times, for the standard errors")


@contextlib.contextmanager
def searching(seconds: object, *, quiet: bool) -> Iterator[None]:
    """Show that a search of stated length is running, if there is one."""
    if quiet or seconds is None:
        yield
        return
    from rich.console import Console  # noqa: PLC0415

    with Console(stderr=True).status(f"searching for a better strategy, at most {seconds} s"):
        yield


def number(value: float) -> str:
    """Return a number for people: thousands separated, six significant digits at most."""
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:,.6g}"


def lifetime_of(mechanism: object) -> PureDP | None:
    """Return what any number of reports of the same values lose together, None without a permanent response."""
    return mechanism.lifetime if isinstance(mechanism, Collection) else None


def beside(lifetime: PureDP | None) -> str:
    """Return the words that go beside the promise of one report: nothing without a permanent response."""
    if lifetime is None:
        return ""
    every = describe(lifetime).removeprefix("epsilon = ")
    return f", {every} for any number of reports of the same values, if the device keeps its secret"
