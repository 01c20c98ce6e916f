"""What a plan of a map says: the grid and the tree of every method, and what the chosen one asks of devices."""

import math
from typing import Any

from dpress.core.claim import describe
from dpress.core.workload import Areas
from dpress.kinds.spatial.text import CLUSTER, assignment, levels, made_of, over, promise
from dpress.mechanisms.protocol.collection import Collection
from dpress.release import plan_text
from dpress.release.candidate import Candidate
from dpress.release.plan import Plan
from dpress.release.plan_text import Listing, PlanText, cautions

__all__ = ["plain", "promise", "text"]


def text(planned: Plan) -> PlanText:
    """Return the candidates for a map, the best first, and what the chosen one asks."""
    local = planned.design.local
    rows = [_row(one, chosen=one is planned.chosen) for one in planned.candidates]
    header = ("", "method", "proven", "grid", "made of", "typical error", *(("bytes",) if local else ()))
    mechanism, method = planned.chosen.mechanism, planned.chosen.method
    noun, remarks = "people" if local else "rows", list[str | Listing]()
    if isinstance(mechanism, Collection):
        remarks.append(f"{method}: {promise(mechanism)}.")
        if asked := assignment(mechanism):
            remarks += [asked, _levels(mechanism, method)]
    if isinstance(planned.workload, Areas):
        assumed = "" if "users" in planned.spec.release.parameters else ", as nobody set `users`,"
        remarks.append(
            f"Predicted for {planned.choice.users:,} {noun}{assumed} {CLUSTER}, over {over(planned.workload)}; "
            f"where {noun} are more or fewer, or spread otherwise, the error is another one. A release states "
            "the error that its own answers show."
        )
    listing = Listing(header=header, rows=rows, numbers=(5, 6))
    return PlanText(candidates=listing, remarks=remarks, hints=cautions(planned))


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate for a map as plain data."""
    return {**plan_text.plain(planned, candidate), "side": side(candidate.mechanism)}


def side(mechanism: Any) -> int:
    """Return the number of cells of a map along each axis."""
    return int(mechanism.decoder.shape[0])


def _row(candidate: Candidate, *, chosen: bool) -> list[str]:
    mechanism, cells = candidate.mechanism, side(candidate.mechanism)
    error = f"+- {math.sqrt(candidate.predicted_error):,.1f}"
    largest = [f"{max(own.width for own in mechanism.types):,}"] if isinstance(mechanism, Collection) else []
    proven = describe(mechanism.claim.proven)
    return ["*" if chosen else "", candidate.method, proven, f"{cells} x {cells}", made_of(mechanism), error, *largest]


def _levels(mechanism: Collection, method: str) -> Listing:
    rows = [
        [one.level, one.squares, one.method, f"{100 * one.share:.1f} %", f"{one.width:,}"]
        for one in levels(mechanism, method)
    ]
    return Listing(header=("level", "squares", "method", "share", "bytes"), rows=rows, numbers=(3, 4))
