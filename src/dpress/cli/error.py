"""`dpress error`: exact error of a strategy over one ordered attribute, without data."""

import math
import tomllib
from fractions import Fraction
from typing import Any

import click

from dpress import catalog
from dpress.cli.output import json_option, number, print_json, print_table
from dpress.core.basics import check
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.parameters import listed
from dpress.core.maps.ranges import AllRanges, Range, Ranges
from dpress.core.maps.workload import Boxes
from dpress.core.methods.mechanism import RangeStrategy
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release.plan.parameter_checks import parameters_of

LARGEST = 1 << 60


class Listing(click.Option):
    """An option whose help names what every strategy takes; methods are loaded where help is asked for alone."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help."""
        self.help = f"Of the strategy, as in a spec; {_taken()}. `dpress list STRATEGY` says what they do."
        return super().get_help_record(ctx)


def _taken() -> str:
    """Return what every strategy takes, e.g. "hierarchy: branching (an integer >= 2)"."""
    shown = {
        card.name: ", ".join(f"{parameter.name} ({parameter.type})" for parameter in listed(card.parameters))
        for card in catalog.cards("strategy").values()
    }
    return "; ".join(f"{name}: {text}" for name, text in shown.items() if text)


@click.command("error")
@click.argument("strategy")
@click.option("--cells", type=int, required=True, help="The number of cells n.")
@click.option("--range", "ranges", multiple=True, metavar="L:R", help="A range, 1-based, both ends included.")
@click.option("--average", is_flag=True, help="Also the mean over all ranges.")
@click.option("--index", is_flag=True, help="Also the accuracy index: its limit as n grows, and at n.")
@click.option("--epsilon", help="Pure epsilon, add-remove; 1 unless given.")
@click.option("--rho", help="zCDP rho instead, Gaussian noise.")
@click.option("--parameter", "parameters", cls=Listing, multiple=True, metavar="NAME=VALUE")
@json_option
def command(
    strategy: str,
    cells: int,
    ranges: tuple[str, ...],
    *,
    epsilon: str | None,
    rho: str | None,
    parameters: tuple[str, ...],
    average: bool,
    index: bool,
    as_json: bool,
) -> None:
    """Exact error of STRATEGY on n cells, in counts squared, with the noise that a loss asks for.

    Var = 2 (sensitivity / epsilon)^2 x coefficient, or sensitivity^2 / (2 rho) x coefficient: the formulas of the
    matrix mechanism for real-valued noise. A release draws discrete noise, whose variance is a little smaller for
    Laplace; `plan` and the release give that one.
    """
    loss = _loss(epsilon, rho)
    mechanism, chosen = _mechanism(strategy, cells, loss, parameters)
    sensitivity, variances = _total(mechanism), _part_variances(mechanism)
    unit = _noise_variance(loss, Fraction(1), sensitivity)
    intervals = [_range(text).within(cells) for text in ranges]
    errors = chosen.range_variances(Ranges.of(cells, intervals), variances).tolist() if intervals else []
    mean = chosen.average_variance(variances) if average or index else None
    result = {
        "strategy": strategy,
        "cells": cells,
        "sensitivity": _rounded(sensitivity, loss),
        "ranges": [
            {"range": [interval.left, interval.right], "coefficient": variance / unit, "variance": variance}
            for interval, variance in zip(intervals, errors, strict=True)
        ],
        "average_coefficient": mean / unit if average and mean is not None else None,
        "average_variance": mean if average else None,
        "accuracy_index": chosen.accuracy_index if index and math.isfinite(chosen.accuracy_index) else None,
        "accuracy_index_at_n": _index(cells, mean, loss) if index and mean is not None else None,
    }
    if as_json:
        print_json(result)
    else:
        _print(result, loss)
        _print_hint(loss, has_ranges=bool(ranges) or average or index, index=index)


def _loss(epsilon: str | None, rho: str | None) -> Loss:
    if epsilon is not None and rho is not None:
        raise click.UsageError("give either --epsilon or --rho")
    return ZCDP(rho=rho) if rho is not None else PureDP(epsilon="1" if epsilon is None else epsilon)


def _mechanism(name: str, cells: int, loss: Loss, parameters: tuple[str, ...]) -> tuple[MatrixMechanism, RangeStrategy]:
    """Return the strategy, and the mechanism that would measure it."""
    if check.count("cells", cells) > LARGEST:
        raise ValueError(f"cells must be at most 2^60, got cells={cells}")
    card = catalog.card(name)
    arguments = parameters_of(card, _parameters(parameters))
    strategy = card.strategy(Boxes((AllRanges(cells),)), loss, **arguments) if card.strategy is not None else None
    if not isinstance(strategy, RangeStrategy):
        raise NotSupported(f"{name} has no error over ranges of {cells} cells here; {_hint(name)}")
    try:
        return MatrixMechanism(strategy=strategy, loss=loss), strategy
    except NotSupported:
        raise NotSupported(
            f"on {cells} cells the noise of {name} is wider, or finer, than any that is drawn; "
            "use fewer cells or another loss"
        ) from None


def _hint(name: str) -> str:
    hints = {
        "dst": "it needs --rho and at most 2^22 cells",
        "p_identity": "it needs --epsilon and 23 to 2^12 cells, or --parameter seconds=5 for fewer",
    }
    return hints.get(name, "see `dpress list --family linear`")


def _parameters(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return the values, each written as in a spec file."""
    for text in texts:
        _check_parameter(text)
    try:
        return tomllib.loads("\n".join(texts))
    except tomllib.TOMLDecodeError:
        raise ValueError(f"--parameter: expected NAME=VALUE as in a spec file, got {' '.join(texts)}") from None


def _check_parameter(text: str) -> None:
    """Refuse a parameter whose value is none of TOML."""
    name, equals, value = text.partition("=")
    try:
        tomllib.loads(f"value ={value}" if equals else "")
    except tomllib.TOMLDecodeError:
        raise ValueError(
            f"--parameter {name}: {value.strip()} is no TOML value; a number, true or false, or text in quotes, "
            "as in 'shares=\"equal\"'"
        ) from None


def _total(mechanism: MatrixMechanism) -> Fraction:
    """Return the L1 sensitivity (epsilon) or squared L2 sensitivity (rho) of all answers together, in counts."""
    order = mechanism.loss.order
    total = sum(part.sensitivity(order, mechanism.unit.relation) for part in mechanism.parts)
    return Fraction(total) * Fraction(mechanism.strategy.map.step) ** order


def _noise_variance(loss: Loss, share: Fraction, sensitivity: Fraction) -> float:
    """Return the variance of real-valued noise that a share of the loss pays for."""
    scale = sensitivity / (share * loss.amount)
    return float(2 * scale**2) if loss.tail == "laplace" else float(scale / 2)


def _part_variances(mechanism: MatrixMechanism) -> list[float]:
    parts = zip(mechanism.parts, mechanism.shares, strict=True)
    order, relation = mechanism.loss.order, mechanism.unit.relation
    return [_noise_variance(mechanism.loss, share, Fraction(p.sensitivity(order, relation))) for p, share in parts]


def _rounded(sensitivity: Fraction, loss: Loss) -> int | float:
    """Return the sensitivity itself, not squared: whole where it is whole."""
    value = float(sensitivity) ** (1 / loss.order)
    return int(value) if value == int(value) else value


def _index(cells: int, mean: float, loss: Loss) -> float | None:
    """Return log2(n)^3 / (mean variance epsilon^2 / 2), which is defined for epsilon."""
    if loss.as_epsilon is None or mean == 0:
        return None
    return math.log2(cells) ** 3 / (mean * float(loss.as_epsilon) ** 2 / 2)


def _range(text: str) -> Range:
    left, colon, right = text.partition(":")
    if not colon or not left.strip().isdecimal() or not right.strip().isdecimal():
        raise ValueError(f"a range is written LEFT:RIGHT, e.g. 3:7, got {text!r}")
    return Range(int(left), int(right))


def _print(result: dict[str, Any], loss: Loss) -> None:
    norm = "" if loss.order == 1 else "L2 "
    click.echo(
        f"{result['strategy']} on {result['cells']} cells: {norm}sensitivity {result['sensitivity']:.10g} (add-remove)"
    )
    table = [
        [f"{row['range'][0]}:{row['range'][1]}", number(row["coefficient"]), number(row["variance"])]
        for row in result["ranges"]
    ]
    if result["average_coefficient"] is not None:
        table.append(["all ranges, mean", number(result["average_coefficient"]), number(result["average_variance"])])
    if table:
        print_table(("range", "coefficient", "variance (counts squared)"), table, numbers=(1, 2))
    if result["accuracy_index"] is not None:
        click.echo(f"accuracy index (limit): {result['accuracy_index']:g}")
    if result["accuracy_index_at_n"] is not None:
        click.echo(f"accuracy index at n = {result['cells']}: {result['accuracy_index_at_n']:.4g}")


def _print_hint(loss: Loss, *, has_ranges: bool, index: bool) -> None:
    """Say what was not asked for, or cannot be answered."""
    if not has_ranges:
        click.echo("for an error, add --range L:R (a range) or --average (the mean over all ranges)")
    if index and loss.as_epsilon is None:
        click.echo("the accuracy index is defined for epsilon: under --rho there is none at n")
