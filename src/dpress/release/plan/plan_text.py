"""What a plan says to people and to scripts: a table of candidates, remarks, and plain data. Shared by all kinds."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpress.core.basics import check, claim_words
from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.methods.mechanism import Mechanism
from dpress.mechanisms.protocol.collection import Collection, as_collection
from dpress.release.plan.candidate import UNIT, Candidate
from dpress.release.plan.largest_error import LargestError
from dpress.release.plan.over_time import given_away, times
from dpress.release.plan.plan import Plan

FEW, MANY = 10**5, 10**6  # people: how many a delta is judged by, and its failures told of, where that is not stated
DROWNED = 1000  # the typical error of a single count from which on a budget is very little
WEAK = 20  # an epsilon beyond it hides next to nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A table for a terminal.

    Args:
        header: the names of the columns.
        rows: their cells.
        numbers: the columns that are aligned right.
    """

    header: tuple[str, ...]
    rows: list[list[str]]
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanText:
    """A plan for a terminal.

    Args:
        candidates: the table of all of them.
        remarks: lines and tables below it.
        hints: for the standard error.
    """

    candidates: Listing
    remarks: list[str | Listing] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A kind of release that could answer the same.

    Args:
        kind: as a specification names it.
        page: of the documentation, on what to choose where no error is known beforehand.
    """

    kind: str
    page: str = ""


def tables(planned: Plan, *, even: str = "all values equally frequent") -> PlanText:
    """Return the text of a plan whose errors are variances of cells or ranges.

    Args:
        planned: the plan.
        even: what the prediction of a collection supposes of the users.
    """
    local = planned.chosen.collection is not None
    rows = [_row(candidate, chosen=candidate is planned.chosen) for candidate in planned.candidates]
    header = ("", "method", "proven", "mean variance", "typical error", *(("asks", "bytes") if local else ()))
    listing = Listing(header=header, rows=rows, numbers=(3, 4, 6))
    bound = planned.lower_bound
    below = f"has a mean variance below {number(bound)} {UNIT}, a typical error below +- {math.sqrt(bound):,.1f}."
    if not local:
        return PlanText(candidates=listing, remarks=[f"No strategy with this noise {below}"])
    remarks: list[str | Listing] = [*_lifetime(planned), *_over_time(planned)]
    remarks += [f"{candidate.method}: {_note(candidate)}." for candidate in planned.candidates if candidate.assumes]
    remarks.append(f"Predicted for {planned.choice.users:,} users, {even}; counts of all users.")
    what = "In these ways of asking, no private report"
    if any(candidate.assumes and candidate is not planned.chosen for candidate in planned.candidates):
        what = "In these ways of asking, and without that assumption, no private report"
    remarks += [f"{what} {below}"] if bound else []
    return PlanText(candidates=listing, remarks=remarks, hints=cautions(planned))


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data."""
    claim = candidate.mechanism.claim
    error = candidate.predicted_error
    return {
        "method": candidate.method,
        "claim": claim_words.figures(claim),
        "predicted_error": error if math.isfinite(error) else None,
        "unit": planned.choice.unit,
        **({"note": _note(candidate)} if candidate.assumes else {}),
        **_ask(candidate),
        **_given_away(planned, candidate),
    }


def at_once(method: str, error: LargestError) -> list[str]:
    """Return how wrong all counts that were asked for can be at once, in a sentence, and what the textbook says."""
    who = f"all {error.cells:,} counts of {method} at once are" if error.cells > 1 else "the count is"
    within = number(math.ceil(10 * error.within) / 10)
    sentences = [f"With probability {1 - error.beta:.0%} {who} within +- {within} of the truth"]
    if error.textbook is not None:
        sentences.append(
            f"(the textbook's bound, sensitivity x ln(k / {error.beta:g}) / epsilon: {error.textbook:.1f})"
        )
    return [*sentences[:-1], f"{sentences[-1]}."]


def promise(mechanism: Mechanism) -> str:
    """Return what one report loses, and between which values."""
    each = f"{promised(mechanism.claim)} for each report{beside(lifetime_of(mechanism))}"
    return f"{each}, between any two values of its owner"


def promised(claim: Claim) -> str:
    """Return what a claim promises, and whether that is proven."""
    if claim.proven is not None or claim.published is None:
        return f"{claim_words.words(claim)} (proven)"
    return f"{describe(claim.published)} (claimed, NOT proven)"


def lifetime_of(mechanism: object) -> PureDP | None:
    """Return what any number of reports of the same values lose together, None without a permanent response."""
    collection = as_collection(mechanism)
    return None if collection is None else collection.lifetime


def beside(lifetime: PureDP | None) -> str:
    """Return the text that goes beside the promise of one report: nothing without a permanent response."""
    if lifetime is None:
        return ""
    every = describe(lifetime).removeprefix("epsilon = ")
    return f", {every} for any number of reports of the same values, if the device keeps its secret"


def cautions(planned: Plan) -> list[str]:
    """Return one sentence where a report gives its owner's value away for all practical purposes."""
    return [sentence] if (sentence := caution(planned.spec.privacy.loss)) and planned.design.local else []


def caution(loss: Loss) -> str:
    """Return one sentence where one report under this loss gives its owner's value away; empty elsewhere."""
    if loss.as_epsilon is None or loss.as_epsilon <= WEAK:
        return ""
    return (
        f"epsilon = {float(loss.as_epsilon):g} hides next to nothing: a report's odds may change by e^{WEAK} and more"
    )


def doubts(loss: Loss, parameters: Mapping[str, Any]) -> list[str]:
    """Return what makes a budget doubtful before it is spent: that it is very little, that its delta is large.

    Args:
        loss: of the release.
        parameters: of the release, which may say how many `users` there are.
    """
    users = parameters.get("users", 0)
    return [words for words in (little(loss), large(loss, users if isinstance(users, int) else 0)) if words]


def little(loss: Loss) -> str:
    """Return how far off a single count is under a loss, where that is far; empty elsewhere.

    The standard error of a count by itself: sqrt(2) times the scale of its Laplace noise, or that of Gaussian noise.

    >>> from dpress import PureDP
    >>> little(PureDP(epsilon="1e-6"))[:82]
    'epsilon = 1e-06 is very little: even a single count is typically off by +- 1,414,2'
    """
    spreads = [(paid.tail, paid.spread(Fraction(1))) for paid in loss.payable]
    errors = [math.sqrt(2) * float(spread) if tail == "laplace" else math.sqrt(spread) for tail, spread in spreads]
    if min(errors) < DROWNED:
        return ""
    return (
        f"{describe(loss)} is very little: even a single count is typically off by +- {min(errors):,.0f}, and smaller "
        "ones cannot be told from none; 1 is a usual epsilon, 0.1 a small one"
    )


def large(loss: Loss, users: int = 0) -> str:
    """Return how often a large delta lets the promise fail, in words; empty where it is small.

    Args:
        loss: of the release.
        users: how many people it is of; 0 where that is not stated.

    >>> from dpress import ApproxDP
    >>> large(ApproxDP(1, "0.01"), 5000)[:108]
    'delta = 0.01 is large: for each person the promise may fail with odds of 1 in 100, so for 50 of 5,000 people'
    """
    if loss.delta * max(users, FEW) <= 1:
        return ""
    odds, people = f"{float(1 / loss.delta):,.0f}", users or MANY
    return (
        f"delta = {float(loss.delta):g} is large: for each person the promise may fail with odds of 1 in {odds}, so "
        f"for {float(loss.delta * people):,.0f} of {people:,} people; less than one over their number is usual, as 1e-6"
    )


def number(value: float) -> str:
    """Return a number for people: thousands separated, six significant digits at most."""
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:,.6g}"


def _lifetime(planned: Plan) -> list[str]:
    mechanism = planned.chosen.mechanism
    if (lifetime := lifetime_of(mechanism)) is None:
        return []
    proven = describe(mechanism.claim.proven)
    return [f"{planned.chosen.method}: {proven} (proven) for each report{beside(lifetime)}."]


def _over_time(planned: Plan) -> list[str | Listing]:
    """Return what devices give away that report again, by method, where the specification says how often."""
    reports, changes = times(planned.spec)
    if reports == 1:
        return []
    rows = []
    for way in planned.candidates:
        lost = [given_away(way.mechanism, often, min(changes, often - 1)) for often in (1, reports)]  # type: ignore[arg-type]
        rows.append(
            ["*" if way is planned.chosen else "", way.method, *("none" if e is None else _up(e) for e in lost)]
        )
    header = ("", "method", "after 1 report", f"after {reports:,}")
    moved = f"its values change {changes:,} times" if changes != 1 else "its values change once"
    what = f"While a device reports {reports:,} times, {moved}; that they change is not hidden. Epsilon given away:"
    return [what, Listing(header=header, rows=rows, numbers=(2, 3))]


def _up(epsilon: Fraction) -> str:
    return f"{math.ceil(epsilon * 10000) / 10000:g}"


def _note(baseline: Candidate) -> str:
    return (
        f"the baseline, whose figure supposes {baseline.assumes}; how far they are not is left out, and no number of "
        'users mends it. method = "auto" never takes it'
    )


def _ask(candidate: Candidate) -> dict[str, Any]:
    """Return what a collection asks of a user, and the largest payload of a report, in bytes."""
    if (collection := candidate.collection) is None:
        return {}
    return {
        "split": collection.split,
        "attributes_asked": collection.most_asked,
        "report_bytes": collection.width,
    }


def _given_away(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return what a device gives away that reports again, where the specification says how often."""
    reports, changes = times(planned.spec)
    if reports == 1 or candidate.collection is None:
        return {}
    lost = given_away(candidate.collection, reports, changes)
    return {"given_away": None if lost is None else check.float_up(lost)}


def _asks(collection: Collection) -> str:
    """Return how many of the attributes a user is asked about."""
    most, attributes = collection.most_asked, len(collection.shape)
    if most == attributes > 1:
        return "all attributes"
    return f"{most} attributes" if most > 1 else "one attribute"


def _row(candidate: Candidate, *, chosen: bool) -> list[str]:
    error = candidate.predicted_error
    claim = describe(candidate.mechanism.claim.proven)
    collection = candidate.collection
    local = [] if collection is None else [_asks(collection), f"{collection.width:,}"]
    return ["*" if chosen else "", candidate.method, claim, number(error), f"+- {math.sqrt(error):,.1f}", *local]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanWords:
    """What the plans of a kind say: `WORDS` of its `plan_text.py`.

    Args:
        text: for a terminal.
        plain: a candidate as plain data.
        promise: what one report loses, and between which values.
        instead: the kind itself, where it answers what another one is asked; for a card that says `stands_in`.
    """

    text: Callable[[Plan], PlanText] = tables
    plain: Callable[[Plan, Candidate], dict[str, Any]] = plain
    promise: Callable[[Mechanism], str] = promise
    instead: Callable[[Plan], Offer | None] = lambda _: None
