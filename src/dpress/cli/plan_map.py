"""What `dpress plan` says of a map: the grid and the tree of every method, and what the chosen one asks of devices."""

import math

import click

from dpress.cli.output import hint, print_table
from dpress.core.claim import describe
from dpress.core.workload import Areas
from dpress.data.spec import Spec
from dpress.kinds.spatial.text import CLUSTER, assignment, levels, made_of, over, promise, side
from dpress.mechanisms.protocol.collection import Collection
from dpress.release.candidate import Candidate
from dpress.release.local_plan import caution, expected_users
from dpress.release.plan import Plan


def show_maps(spec: Spec, planned: Plan) -> None:
    """Print the candidates for a map, the best first, and what the chosen one asks."""
    local = spec.privacy.model == "local"
    rows = [_row(one, chosen=one is planned.chosen) for one in planned.candidates]
    header = ("", "method", "proven", "grid", "made of", "typical error", *(("bytes",) if local else ()))
    print_table(header, rows, numbers=(5, 6))
    mechanism, method = planned.chosen.mechanism, planned.chosen.method
    noun = "people" if local else "rows"
    if isinstance(mechanism, Collection):
        click.echo(f"{method}: {promise(mechanism)}.")
        if assigned := assignment(mechanism):
            click.echo(assigned)
            print_table(("level", "squares", "method", "share", "bytes"), _levels(mechanism, method), numbers=(3, 4))
        if (note := caution(spec)) is not None:
            hint(note, quiet=False)
    if isinstance(planned.workload, Areas):
        click.echo(
            f"Predicted for {expected_users(spec):,} {noun} {CLUSTER}, over {over(planned.workload)}; "
            f"where {noun} are spread otherwise the error is another one."
        )


def _row(candidate: Candidate, *, chosen: bool) -> list[str]:
    mechanism, cells = candidate.mechanism, side(candidate.mechanism)
    error = f"+- {math.sqrt(candidate.predicted_error):,.1f}"
    largest = [f"{max(one.width for one in mechanism.questions):,}"] if isinstance(mechanism, Collection) else []
    proven = describe(mechanism.claim.proven)
    return ["*" if chosen else "", candidate.method, proven, f"{cells} x {cells}", made_of(mechanism), error, *largest]


def _levels(mechanism: Collection, method: str) -> list[list[str]]:
    return [
        [one.level, one.squares, one.method, f"{100 * one.share:.1f} %", f"{one.width:,}"]
        for one in levels(mechanism, method)
    ]
