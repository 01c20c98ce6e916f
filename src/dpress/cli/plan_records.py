"""What `dpress plan` says of records: the parameters of every method, and how much its noise adds to their error."""

import math
from typing import Any

import click

from dpress.cli.output import number, print_table
from dpress.core.claim import as_floats, describe
from dpress.data.spec import Spec
from dpress.kinds.microdata.design import UNIT, RecordMaker
from dpress.release.candidate import Candidate
from dpress.release.collections import expected_users
from dpress.release.plan import Plan

NONE = "no formula"


def show_records(spec: Spec, planned: Plan) -> None:
    """Print the candidates for records, and what their predicted error is and is not."""
    rows = [_row(one, chosen=one is planned.chosen) for one in planned.candidates]
    print_table(("", "method", "published", "proven", "made with", UNIT), rows, numbers=(5,))
    chosen = planned.chosen
    if chosen.mechanism.claim.proven is None:
        click.echo(f"{chosen.method} has {chosen.mechanism.claim.basis}. `dpress publish` needs --allow-unproven.")
    if any(math.isfinite(one.predicted_error) for one in planned.candidates):
        said = "" if "users" in spec.release.parameters else ", as `users` in [release.parameters] does not say"
        click.echo(
            f"Predicted for {expected_users(spec):,} records{said}: the squared error that noise adds to the numbers "
            "of all of them if each is given by its cluster, every number on the scale of its bounds, 0 to 1. "
            "What clusters leave out of the records is not part of it, and no bound is known."
        )
    if any(math.isinf(one.predicted_error) for one in planned.candidates):
        click.echo(f"{NONE}: nothing is known before the rows are read; `dpress evaluate` compares with them.")


def plain_records(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate for records for JSON."""
    claim, error = candidate.mechanism.claim, candidate.predicted_error
    return {
        "method": candidate.method,
        "claim": {"published": as_floats(claim.published), "proven": as_floats(claim.proven)},
        "predicted_error": error if math.isfinite(error) else None,
        "unit": UNIT,
        "parameters": _parameters(candidate),
    }


def _parameters(candidate: Candidate) -> dict[str, Any]:
    mechanism = candidate.mechanism
    return mechanism.parameters if isinstance(mechanism, RecordMaker) else {}


def _row(candidate: Candidate, *, chosen: bool) -> list[str]:
    claim, error = candidate.mechanism.claim, candidate.predicted_error
    made = ", ".join(f"{name} = {value}" for name, value in _parameters(candidate).items())
    said = number(error) if math.isfinite(error) else NONE
    promises = describe(claim.published), describe(claim.proven)
    return ["*" if chosen else "", candidate.method, *promises, made, said]
