"""What a plan of a map says: the grid and the tree of every method, and what the chosen one asks of devices."""

from typing import Any, cast

from dpress.core.basics.losses.any_loss import describe
from dpress.core.maps.workload import Areas
from dpress.inference.maps.population import Shape
from dpress.kinds.spatial.prediction import likely_range, noise_error
from dpress.kinds.spatial.text import assignment, levels, made_of, over, promise
from dpress.mechanisms.protocol.collection import Collection, method_of
from dpress.release.plan import plan_text
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import Listing, PlanText, PlanWords, cautions

UNKNOWN = "from spread almost evenly to crowded in a few places"
SPREAD: dict[Shape, str] = {
    "even": "that are spread almost evenly",
    "towns": "that are crowded in towns with outskirts",
    "places": "that are crowded in a few places",
}


def text(planned: Plan) -> PlanText:
    """Return the candidates for a map, the best first, and what the chosen one asks."""
    local = planned.design.local
    rows = [_row(planned, candidate) for candidate in planned.candidates]
    header = ("", "method", "proven", "grid", "made of", "typical error", *(("bytes",) if local else ()))
    method = planned.chosen.method
    noun, remarks = "people" if local else "rows", list[str | Listing]()
    if (collection := planned.chosen.collection) is not None:
        remarks.append(f"{method}: {promise(collection)}.")
        if assigned := assignment(collection):
            remarks += [assigned, _levels(collection, method)]
    remarks += _predictions(planned, noun)
    listing = Listing(header=header, rows=rows, numbers=(5, 6))
    return PlanText(candidates=listing, remarks=remarks, hints=cautions(planned))


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate for a map as plain data: also what its error may range over, and the noise alone."""
    errors = {"typical_error": [*_range(planned, candidate)], "noise_error": _noise(planned, candidate)}
    return {**plan_text.plain(planned, candidate), "side": side(candidate.mechanism), **errors}


def side(mechanism: Any) -> int:
    """Return the number of cells of a map along each axis."""
    return int(mechanism.decoder.shape[0])


def _row(planned: Plan, candidate: Candidate) -> list[str]:
    mechanism, cells = candidate.mechanism, side(candidate.mechanism)
    low, high = _range(planned, candidate)
    error = f"+- {low:,.1f} to {high:,.1f}"
    largest = [] if candidate.collection is None else [f"{candidate.collection.width:,}"]
    proven = describe(mechanism.claim.proven)
    mark = "*" if candidate is planned.chosen else ""
    return [mark, candidate.method, proven, f"{cells} x {cells}", made_of(mechanism), error, *largest]


def _predictions(planned: Plan, noun: str) -> list[str]:
    """Return for whom and what the errors are predicted, and what does not depend on that."""
    assumed = "" if "users" in planned.spec.release.parameters else ", as nobody set `users`,"
    shape = _shape(planned)
    among = f"four made-up populations {SPREAD[shape]}" if shape else f"twelve made-up populations, {UNKNOWN}"
    order = "the mean over them" if shape else "the mean over those crowded in towns or in a few places"
    predicted = (
        f"Predicted for {planned.choice.users:,} {noun}{assumed} over {over(_areas(planned))}: the smallest and the "
        f"largest typical error among {among}. Where {noun} are more or fewer, or spread otherwise, the error is "
        f"another one; the methods stand in the order of {order}. A release states the error that its own answers show."
    )
    sentences = [predicted]
    if (noise := _noise(planned, planned.chosen)) is not None:
        where = f"were {noun} spread evenly" if planned.design.local else f"wherever {noun} are"
        sentences.append(f"Of unbiased answers, {where}, the noise alone: +- {noise:,.1f}.")
    return sentences


def _range(planned: Plan, candidate: Candidate) -> tuple[float, float]:
    return likely_range(_maps(candidate), _areas(planned), planned.choice.users, _shape(planned))


def _noise(planned: Plan, candidate: Candidate) -> float | None:
    return noise_error(_maps(candidate), _areas(planned), planned.choice.users)


def _shape(planned: Plan) -> Shape | None:
    shape: Shape | None = planned.spec.release.parameters.get("shape")
    return shape


def _areas(planned: Plan) -> Areas:
    return cast("Areas", planned.workload)


def _maps(candidate: Candidate) -> Any:
    return method_of(candidate.mechanism)


def _levels(mechanism: Collection, method: str) -> Listing:
    rows = [
        [level.level, level.squares, level.method, f"{100 * level.share:.1f} %", f"{level.width:,}"]
        for level in levels(mechanism, method)
    ]
    return Listing(header=("level", "squares", "method", "share", "bytes"), rows=rows, numbers=(3, 4))


WORDS = PlanWords(text=text, plain=plain, promise=promise)
