"""`dpress error`: exact error of a strategy over one ordered attribute, without data."""

from typing import Any

import click

from dpress import catalog
from dpress.cli.output import json_option, number, print_json, print_table
from dpress.core import check
from dpress.core.claim import PureDP, Relation
from dpress.core.errors import NotSupported
from dpress.core.mechanism import RangeStrategy
from dpress.core.workload import AllRanges, Range

LARGEST = 1 << 60


@click.command("error")
@click.argument("strategy")
@click.option("--cells", type=int, required=True, help="The number of cells n.")
@click.option("--range", "ranges", multiple=True, metavar="L:R", help="A range, 1-based, both ends included.")
@click.option("--average", is_flag=True, help="Also the mean over all ranges.")
@click.option("--index", is_flag=True, help="Also the accuracy index (its limit as n grows).")
@click.option("--epsilon", default="1", show_default=True, help="Pure epsilon, add-remove.")
@json_option
def command(
    strategy: str, cells: int, ranges: tuple[str, ...], epsilon: str, *, average: bool, index: bool, as_json: bool
) -> None:
    """Exact error of STRATEGY on n cells: Var = 2 (sensitivity / epsilon)^2 x coefficient, in counts squared.

    This is the matrix mechanism's formula for real-valued Laplace noise. A release draws discrete Laplace noise, whose
    variance is a little smaller; `plan` and the release give that one.
    """
    chosen = _strategy(strategy, cells)
    sensitivity = chosen.map.sensitivity(1, Relation.ADD_REMOVE)
    scale = float(2 * (sensitivity / check.loss_parameter("epsilon", epsilon)) ** 2)
    rows: list[dict[str, Any]] = []
    for text in ranges:
        asked = _range(text)
        coefficient = chosen.range_coefficient(asked.within(cells))
        rows.append({"range": [asked.left, asked.right], "coefficient": coefficient, "variance": scale * coefficient})
    mean = chosen.average_coefficient() if average else None
    result = {
        "strategy": strategy,
        "cells": cells,
        "sensitivity": sensitivity,
        "ranges": rows,
        "average_coefficient": mean,
        "average_variance": None if mean is None else scale * mean,
        "accuracy_index": chosen.accuracy_index if index else None,
    }
    if as_json:
        print_json(result)
    else:
        _print(result, rows)


def _strategy(name: str, cells: int) -> RangeStrategy:
    check.count("cells", cells)
    if cells > LARGEST:
        raise ValueError(f"cells must be at most 2^60, got cells={cells}")
    card = catalog.card(name)
    strategy = card.strategy(AllRanges(cells), PureDP(epsilon=1)) if card.strategy is not None else None
    if not isinstance(strategy, RangeStrategy):
        raise NotSupported(f"{name} is no strategy over ranges")
    return strategy


def _range(text: str) -> Range:
    left, colon, right = text.partition(":")
    if not colon or not left.strip().isdigit() or not right.strip().isdigit():
        raise ValueError(f"a range is written LEFT:RIGHT, e.g. 3:7, got {text!r}")
    return Range(int(left), int(right))


def _print(result: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    click.echo(f"{result['strategy']} on {result['cells']} cells: sensitivity {result['sensitivity']} (add-remove)")
    table = [
        [f"{row['range'][0]}:{row['range'][1]}", number(row["coefficient"]), number(row["variance"])] for row in rows
    ]
    if result["average_coefficient"] is not None:
        table.append(["all ranges, mean", number(result["average_coefficient"]), number(result["average_variance"])])
    if table:
        print_table(("range", "coefficient", "variance (counts squared)"), table, numbers=(1, 2))
    if result["accuracy_index"] is not None:
        click.echo(f"accuracy index (limit): {result['accuracy_index']:g}")
