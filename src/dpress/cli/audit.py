"""`dpress audit`: whether a method keeps what it claims."""

import math
import sys
from typing import Any

import click

from dpress import catalog
from dpress.audit.run import audit
from dpress.audit.sampled import FEWEST
from dpress.audit.verdict import Audit, Check
from dpress.cli.output import json_option, print_json, print_table, working
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import as_floats, describe
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.methods.mechanism import Card

APPROXIMATE, DELTA = "epsilon and delta", "1e-6"


@click.command("audit")
@click.argument("method")
@click.option("--epsilon", help="The epsilon it is made for, with delta = 1e-6 where it needs one; 1 unless given.")
@click.option("--rho", help="zCDP rho instead; 0.5 for methods without epsilon.")
@click.option(
    "--samples", type=click.IntRange(min=FEWEST), metavar="N", help="Also draw N outputs from each of two neighbours."
)
@json_option
def command(method: str, *, epsilon: str | None, rho: str | None, samples: int | None, as_json: bool) -> None:
    """Check what METHOD claims, exactly on tiny instances, and by samples of the running code on request.

    Exits with 1 if a claim is broken.
    """
    card = _card(method)
    loss = _loss(card, epsilon, rho)
    with working("comparing neighbours", quiet=as_json):
        report = audit(card, loss, samples=samples)
    if as_json:
        print_json(_plain(report))
    else:
        _print(report)
    if not report.kept:
        sys.exit(1)


def _card(method: str) -> Card:
    try:
        return catalog.card(method)
    except NotSupported as error:
        raise click.UsageError(str(error)) from None


def _loss(card: Card, epsilon: str | None, rho: str | None) -> Loss:
    """Return the loss that was asked for, or the first that the method claims."""
    if epsilon is not None and rho is not None:
        raise click.UsageError("give either --epsilon or --rho")
    claims = catalog.claims(card)
    served = ", ".join(filter(None, claims)).split(", ")
    other = APPROXIMATE if APPROXIMATE in served else "epsilon"
    name = "rho" if rho is not None else other if epsilon is not None or other in served else "rho"
    if name not in served:
        raise click.UsageError(f"{card.name} claims no {name}; it claims {served[0]}")
    try:
        if name == APPROXIMATE:
            return ApproxDP(epsilon=epsilon or "1", delta=DELTA)
        return PureDP(epsilon=epsilon or "1") if name == "epsilon" else ZCDP(rho=rho or "0.5")
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _plain(report: Audit) -> dict[str, Any]:
    return {
        "method": report.method,
        "model": report.model,
        "claimed": as_floats(report.checks[0].claimed),
        "checks": [_plain_check(check) for check in report.checks],
        "kept": report.kept,
    }


def _plain_check(check: Check) -> dict[str, Any]:
    return {
        "kind": check.kind,
        "instance": check.instance,
        "relation": check.relation,
        "claimed": as_floats(check.claimed),
        "loss": "infinity" if check.loss == math.inf else check.loss,
        "lower_bound": check.lower_bound,
        "samples": check.samples,
        "confidence": check.confidence,
        "kept": check.kept,
        "verdict": check.verdict,
        "remark": check.remark or None,
    }


def _print(report: Audit) -> None:
    """Print one line for every check, and what the remarks are about."""
    rows = [
        [
            report.method,
            check.kind,
            check.instance,
            check.relation,
            describe(check.claimed),
            _loss_text(check),
            check.verdict,
        ]
        for check in report.checks
    ]
    print_table(("method", "checked", "instance", "neighbours", "claimed", "found", "verdict"), rows)
    for kind, remark in dict.fromkeys((check.kind, check.remark) for check in report.checks if check.remark):
        click.echo(f"{kind}: {remark}")


def _loss_text(check: Check) -> str:
    if check.lower_bound is not None and check.confidence is not None:
        return f">= {check.lower_bound:.4f} ({100 * check.confidence:g} % confidence)"
    return "infinity" if check.loss == math.inf else f"{check.loss:.6g}"
