"""`dpress query`: answers from a release."""

import dataclasses
import math
from typing import Any

import click

from dpress.cli.output import counting, json_option, print_json, print_table, refitting
from dpress.release.load import load_release
from dpress.release.release import CONFIDENCE
from dpress.release.result import Result

SELDOM = ("note", "unbiased")
ADJUSTED = (
    "Counts are adjusted so that none is below zero: biased, mostly nearer to the truth. "
    "Standard errors and intervals are those of the unbiased answers."
)


@click.command("query")
@click.argument("release", type=click.Path())
@click.argument("queries", nargs=-1, required=True, metavar="QUERY...")
@click.option("--confidence", type=float, default=CONFIDENCE, show_default=True, help="Of the interval.")
@json_option
def command(release: str, queries: tuple[str, ...], confidence: float, *, as_json: bool) -> None:
    """Answer queries such as 'age in 30..40 and sex = Female' from RELEASE; spends nothing.

    A note says so where an answer comes from a fitted joint distribution, is counted in synthetic records, or is about
    the rows that persons keep.
    """
    loaded = load_release(release)
    with counting(quiet=as_json) as show:
        results = [loaded.query(text, confidence=confidence, progress=refitting(show)) for text in queries]
    if as_json:
        print_json([_plain(result) for result in results])
        return
    beside = ("unbiased",) if any(result.unbiased is not None for result in results) else ()
    rows = [[result.query, f"{result.value:,.1f}", *_unbiased(result, beside), *_error(result)] for result in results]
    header = ("query", "count", *beside, "standard error", f"{100 * confidence:.4g} % interval")
    print_table(header, rows, numbers=tuple(range(1, len(header))))
    if beside:
        click.echo(ADJUSTED)
    for note in dict.fromkeys(result.note for result in results if result.note is not None):
        click.echo(note)


def _unbiased(result: Result, beside: tuple[str, ...]) -> list[str]:
    """Return the unbiased answer for its column, where there is one."""
    return ["-" if result.unbiased is None else f"{result.unbiased:,.1f}"] if beside else []


def _error(result: Result) -> tuple[str, str]:
    """Return the standard error and the interval, `-` where none is known."""
    if math.isnan(result.standard_error):
        return "-", "-"
    return f"{result.standard_error:,.1f}", f"{result.interval[0]:,.1f} to {result.interval[1]:,.1f}"


def _plain(result: Result) -> dict[str, Any]:
    """Return a result for JSON, which has no NaN: null where no error is known; some fields only where they are set."""
    every = dataclasses.asdict(result).items()
    plain = {name: value for name, value in every if value is not None or name not in SELDOM}
    return plain | ({"standard_error": None, "interval": None} if math.isnan(result.standard_error) else {})
