"""What every command shares: `--json`, `--quiet`, numbers as people type them, tables for people, progress."""

import contextlib
import dataclasses
import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeVar

import click

from dpress.cli import text_table
from dpress.core.basics.visible import visible

F = TypeVar("F", bound=Callable[..., Any])

COUNTED = "counted {:,} rows"
MINUTE, HOUR = 60, 3600
PATIENCE = 2.0  # seconds before progress is shown


def json_option(function: F) -> F:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")(function)


def quiet_option(function: F) -> F:
    """Add `--quiet`."""
    return click.option("--quiet", is_flag=True, help="No progress, no hints.")(function)


def engine_option(function: F) -> F:
    """Add `--engine` and `--spark`."""
    choice = click.Choice(["threads", "sql", "spark"])
    shown = "What counts the rows: threads here, SQL where they are, or Spark; by default what the source suggests."
    return click.option("--engine", type=choice, is_eager=True, help=shown)(spark_option(function))


def spark_option(function: F) -> F:
    """Add `--spark`, which is refused without `--engine spark`; `--engine` is read first."""
    shown = "With --engine spark: the cluster, spark://HOST:PORT or sc://HOST:PORT, or local[2]."
    option = click.option("--spark", metavar="ADDRESS", expose_value=False, help=shown, callback=_at_spark)
    return option(function)


def _at_spark(context: click.Context, _: click.Parameter, address: str | None) -> None:
    """Let Spark start at an address."""
    if address is None:
        return
    if context.params["engine"] != "spark":
        raise click.UsageError("--spark is for --engine spark; add it")
    from dpress.data.sources import spark_address  # noqa: PLC0415  # keeps the start fast

    try:
        spark_address.use(address)
    except ValueError as error:
        raise click.UsageError(f"--spark: {error}") from None


def csv_options(function: F) -> F:
    """Add `--csv` and `--titles`, which is refused without it."""
    shown = "In the CSV titles in place of names, labels in place of values."
    titles = click.option("--titles", is_flag=True, help=shown, callback=_beside_csv)
    csv = click.option("--csv", is_flag=True, is_eager=True, help="Every table and the records as CSV, too.")
    return csv(titles(function))


def _beside_csv(context: click.Context, _: click.Parameter, titles: bool) -> bool:  # noqa: FBT001  # as click calls it
    if titles and not context.params["csv"]:
        raise click.UsageError("--titles is for the files of --csv; add it")
    return titles


class PlainNumber(click.ParamType[float]):
    """A finite number; what it refuses it writes as it would be right."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number.

        Raises:
            BadParameter: it is none.
        """
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"expected a number{_meant(str(value))}, got {value!r}", param, ctx)
        return number


def _meant(text: str) -> str:
    """Return how a number may have been meant, in words; nothing where none is likely.

    >>> _meant("95%"), _meant("0,95"), _meant("often")
    (' such as 0.95', ' such as 0.95', '')
    """
    plain = text.strip().replace(",", ".")
    percent = plain.endswith("%")
    try:
        number = float(plain.removesuffix("%")) / (100 if percent else 1)
    except ValueError:
        return ""
    return f" such as {number:g}" if math.isfinite(number) else ""


DECIMAL = PlainNumber()


def print_json(value: Any) -> None:
    """Print one JSON value; records become objects."""
    click.echo(json.dumps(value, indent=2, default=_plain))


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = (), whole: Sequence[int] = ()
) -> None:
    """Print a table; columns in `numbers` are aligned right, cells of those in `whole` stay on one line."""
    header, rows = [*map(visible, header)], [[*map(visible, row)] for row in rows]
    if not _styled() and (text := text_table.render(header, rows, numbers)) is not None:
        click.echo(text, nl=False)
        return
    from rich.console import Console  # noqa: PLC0415  # keeps the start fast
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold")
    for position, name in enumerate(header):
        justify: Literal["left", "right"] = "right" if position in numbers else "left"
        table.add_column(name, justify=justify, overflow="fold", no_wrap=position in whole)
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = text_table.WIDEST  # nothing is folded where a program reads
    console.print(table)


def _styled() -> bool:
    """Say whether rich may take standard output for a terminal: it is one, or a variable says so."""
    return sys.stdout.isatty() or not {"FORCE_COLOR", "TTY_COMPATIBLE"}.isdisjoint(os.environ)


def hint(message: str, *, quiet: bool) -> None:
    """Print a remark on standard error."""
    if not quiet:
        click.echo(f"note: {message}", err=True)


def refusal(message: str) -> None:
    """Print on standard error, in one line, what was refused and why."""
    click.echo(f"dpress: {visible(' '.join(message.split()))}", err=True)


@contextlib.contextmanager
def counting(*, quiet: bool, total: Callable[[], int | None] = lambda: None) -> Iterator[Callable[..., None] | None]:
    """Yield a callback that shows the number of rows read, once that takes longer than two seconds.

    Its second argument, a text such as "wrote {:,} rows", says what else was counted.

    Args:
        quiet: whether nothing is shown.
        total: called once where anything is: how many rows there are, for the time that is left.
    """
    if quiet:
        yield None
        return
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        update: Callable[[str], None] | None = None
        pace: Pace | None = None

        def show(done: int, text: str = COUNTED) -> None:
            nonlocal update, pace
            if time.monotonic() - started > PATIENCE:
                update = update or stack.enter_context(_bar(started))
                pace = pace or Pace(total())
                update(text.format(done) + (pace.left(done, time.monotonic()) if text == COUNTED else ""))

        yield show


class Pace:
    """How long a count will still take, by how fast it went.

    >>> pace = Pace(3_000_000)
    >>> pace.left(500_000, 10.0), pace.left(1_000_000, 15.0), pace.left(2_800_000, 33.0)
    (' of 3,000,000', ' of 3,000,000, about 20 s left', ' of 3,000,000, about 2 s left')
    """

    def __init__(self, total: int | None) -> None:
        """Take how many rows there are; None where that is not stated."""
        self._total, self._first, self._last = total, (0, 0.0), -1

    def left(self, done: int, at: float) -> str:
        """Return how many rows there are and about how long the rest takes, as the end of a text."""
        if self._total is None:
            return ""
        if self._last < 0 or done < self._last:  # rows are read once more
            self._first = done, at
        self._last, (before, began) = done, self._first
        if done == before:
            return f" of {self._total:,}"
        seconds = (at - began) * max(0, self._total - done) / (done - before)
        return f" of {self._total:,}, about {_duration(seconds)} left"


def _duration(seconds: float) -> str:
    """Return a time for people.

    >>> _duration(44), _duration(600), _duration(9000)
    ('44 s', '10 min', '2.5 h')
    """
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / MINUTE:.0f} min" if seconds < 2 * HOUR else f"{seconds / HOUR:.1f} h"


@contextlib.contextmanager
def _bar(started: float) -> Iterator[Callable[[str], None]]:
    """Show a spinner and the time since `started`; yield what changes the text beside it."""
    from rich.console import Console  # noqa: PLC0415  # keeps the start fast
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    bar = Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=Console(stderr=True))
    task = bar.add_task("working")
    bar.tasks[0].start_time = started
    with bar:
        yield lambda text: bar.update(task, description=text)


def refitting(show: Callable[..., None] | None) -> Callable[[int], None] | None:
    """Return the callback for fits that are done again, beside that of `counting`."""
    return None if show is None else lambda done: show(done, "fitted again {:,} times, for the standard errors")


@contextlib.contextmanager
def working(text: str, *, quiet: bool) -> Iterator[None]:
    """Show on a terminal what is being done, once that takes longer than two seconds; for work that counts nothing.

    A timer starts the display, as nothing else runs meanwhile. It has ended before the display is closed.
    """
    if quiet or not sys.stderr.isatty():
        yield
        return
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        timer = threading.Timer(PATIENCE, lambda: stack.enter_context(_bar(started))(text))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()


def planning(seconds: object, *, quiet: bool) -> contextlib.AbstractContextManager[None]:
    """Show that a plan is made, and how long its search for a strategy takes, if that is stated."""
    text = "planning" if seconds is None else f"searching for a better strategy, at most {seconds} s"
    return working(text, quiet=quiet)


def number(value: float) -> str:
    """Return a number for people: thousands separated, six significant digits at most."""
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:,.6g}"
