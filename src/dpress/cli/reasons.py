"""What `dpress query --explain` prints: the published tables behind answers, and why these err as they do."""

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import click

from dpress.cli.output import print_table
from dpress.query.explained import Explanation, lines
from dpress.query.sources import Source

HEADER = ("", "from", "attributes", "adds up", "error of one", "if independent", "standard error")
SHOWN = 20  # explanations; JSON has all


def show(explained: Iterable[Explanation]) -> None:
    """Print a line for every table behind every answer, then the reasons, those of several answers once."""
    listed = [*explained]
    print_table(HEADER, [row for each in listed[:SHOWN] for row in _rows(each)], numbers=(4, 5, 6))
    for reason, names in reasons(listed[:SHOWN]).items():
        click.echo(f"{', '.join(names)}: {reason}")
    if len(listed) > SHOWN:
        click.echo(f"... and {len(listed) - SHOWN:,} more explanations, which --json has.")


def reasons(explained: Iterable[Explanation]) -> dict[str, dict[str, None]]:
    """Return every reason with the names of the answers that it is about."""
    names: dict[str, dict[str, None]] = {}
    for each in explained:
        names.setdefault(each.reason, {})[each.name] = None
    return names


def plain(explained: Explanation) -> dict[str, Any]:
    """Return an explanation for JSON: null where nothing is known."""
    return {
        "name": explained.name,
        "answers": explained.answers,
        "standard_error": [error if math.isfinite(error) else None for error in explained.errors],
        "sources": [asdict(source) for source in explained.sources],
        "reason": explained.reason,
    }


def _rows(explained: Explanation) -> list[list[str]]:
    """Return the lines of an explanation; further tables that hold the attributes are below the one that answers."""
    name = explained.name if explained.answers == 1 else f"{explained.name} ({explained.answers:,} groups)"
    heads = ([name, ""], ["", "or "])
    rows = []
    for place, (source, errors) in enumerate(lines(explained)):
        head, beside = heads[min(place, 1)]
        rows.append([head, *_columns(source, beside), "" if errors is None else _range(*errors)])
    return rows


def _columns(source: Source | None, beside: str) -> list[str]:
    if source is None:
        return ["a fit", "", "", "-", "-"]
    several = source.unit if source.parts != 1 else source.unit.removesuffix("s")
    return [
        beside + source.file,
        " x ".join(source.attributes),
        f"{source.parts:,.6g} {several}",
        _shown(source.error),
        _shown(source.independent),
    ]


def _range(low: float, high: float) -> str:
    ends = dict.fromkeys((_shown(low), _shown(high)))
    return " to ".join(ends)


def _shown(error: float | None) -> str:
    return "-" if error is None or not math.isfinite(error) else f"{error:,.4g}"
