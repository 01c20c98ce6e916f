"""What a plan of records says: the parameters of every method, and how much its noise adds to their error."""

import math
from typing import TYPE_CHECKING, Any, cast

from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.plain import plain as as_plain
from dpress.kinds.microdata.design import NEAREST, UNIT, hindrance
from dpress.mechanisms.microdata.record_maker import RecordMaker
from dpress.release.plan import plan_text
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import Listing, Offer, PlanText, PlanWords, number

if TYPE_CHECKING:
    from dpress.kinds.microdata.likely_pairs import LikelyPairs

NONE = "no formula"
NEARER = "docs/reference/microdata.md#how-near-pairs-are"
MEASURED = (
    f"this rests on measurements ({NEARER}): {NEAREST} was nearer to any two attributes on every table of twenty "
    "thousand rows or more. Of a few hundred rows no records were near."
)
USELESS = (
    "That hides what two attributes usually have to do with each other: use such records for one attribute at a time, "
    "or publish tables (`marginals`) of the few pairs that matter."
)
PAGE = "docs/tutorial/survey-file.md"


def text(planned: Plan) -> PlanText:
    """Return the candidates for records, and what their predicted error is and is not."""
    rows = [_row(candidate, chosen=candidate is planned.chosen) for candidate in planned.candidates]
    header = ("", "method", "published", "proven", "made with", UNIT)
    chosen, remarks = planned.chosen, list[str | Listing]()
    if planned.spec.release.method == "auto":
        remarks.append(_chosen(planned))
    if chosen.mechanism.claim.proven is None:
        remarks.append(f"{chosen.method} has {chosen.mechanism.claim.basis}. `dpress publish` needs --allow-unproven.")
    if any(math.isfinite(candidate.predicted_error) for candidate in planned.candidates):
        stated = "users" in planned.spec.release.parameters
        unsaid = "" if stated else ", as `users` in [release.parameters] does not say"
        remarks.append(
            f"Predicted for {planned.choice.users:,} records{unsaid}: the squared error that noise adds to the numbers "
            "of all of them if each is given by its cluster, every number on the scale of its bounds, 0 to 1. "
            "What clusters leave out of the records is not part of it, and no bound is known."
        )
    if any(math.isinf(candidate.predicted_error) for candidate in planned.candidates):
        remarks.append(
            f"{NONE}: how near records are is not known exactly before the rows are read; `dpress evaluate` compares "
            "with them."
        )
    remarks += _numbers(planned)
    if planned.spec.constraints:
        from dpress.kinds.microdata.constraint_words import constrained  # noqa: PLC0415  # few have any

        remarks += constrained(planned.spec.constraints, _maker(chosen))
    from dpress.kinds.microdata.likely_pairs import likely_pairs  # noqa: PLC0415  # other kinds offer alone

    users = planned.choice.users
    likely = (likely_pairs(_maker(candidate), users) for candidate in planned.candidates)
    remarks += [_likely(pairs, users) for pairs in likely if pairs]
    return PlanText(candidates=Listing(header=header, rows=rows, numbers=(5,)), remarks=remarks)


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate for records as plain data."""
    deviation = _deviation(candidate)
    rows = {} if deviation is None else {"rows_standard_error": deviation}
    return {**plan_text.plain(planned, candidate), "parameters": as_plain(_maker(candidate).parameters), **rows}


def instead(planned: Plan) -> Offer | None:
    """Return records, which answer anything that counts rows, with an error that nobody knows beforehand."""
    return Offer(kind="microdata", page=PAGE) if planned.spec.privacy.model == "central" else None


def _chosen(planned: Plan) -> str:
    """Return on what the choice of a method rests."""
    if planned.chosen.method == NEAREST:
        return f"{NEAREST} is taken: {MEASURED}"
    why = hindrance(planned.spec) or "it does not serve so small a loss"
    return f"{planned.chosen.method} is taken, as {NEAREST} cannot be: {why}. Else {NEAREST} would be: {MEASURED}"


def _numbers(planned: Plan) -> list[str]:
    """Return how well the number of rows will be known, and with it that of the records."""
    methods = {candidate.method: _deviation(candidate) for candidate in planned.candidates}
    deviations = {method: deviation for method, deviation in methods.items() if deviation is not None}
    if not deviations:
        return []
    if not any(deviations.values()):
        return ["There will be as many records as rows: under replace-one, with none dropped, that number is public."]
    errors = ", ".join(f"{number(deviation)} ({method})" for method, deviation in deviations.items())
    return [f"The number of records estimates that of the rows without bias, with a standard error of {errors}."]


def _deviation(candidate: Candidate) -> float | None:
    """Return the standard error of the number of rows; None where records are not made for that number."""
    variance = _maker(candidate).row_variance
    return None if variance is None else math.sqrt(variance)


def _likely(likely: "LikelyPairs", users: int) -> str:
    """Return how far off tables of two attributes are likely to be, and whether that says anything."""
    words = (
        f"graphical: in {users:,} records the shares of any two attributes are likely to be off by {likely.error:.2g} "
        f"in all (half the sum of the differences), about as in {likely.sample} rows drawn at random. On real tables "
        "that was right within a factor of 2; where attributes follow from each other, as a state from a place, up to "
        "3 times as much."
    )
    return words if likely.says else f"{words} {USELESS}"


def _maker(candidate: Candidate) -> RecordMaker:
    return cast("RecordMaker", candidate.mechanism)


def _row(candidate: Candidate, *, chosen: bool) -> list[str]:
    claim, error = candidate.mechanism.claim, candidate.predicted_error
    made = ", ".join(f"{name} = {value}" for name, value in _maker(candidate).parameters.items())
    shown = number(error) if math.isfinite(error) else NONE
    promises = describe(claim.published), describe(claim.proven)
    return ["*" if chosen else "", candidate.method, *promises, made, shown]


WORDS = PlanWords(text=text, plain=plain, instead=instead)
