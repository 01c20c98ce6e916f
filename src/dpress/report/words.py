# Greek letters are the field's own
"""The guarantee in plain words: every sentence right for an expert, readable without being one.

Data flow: release -> frozen words -> template.
"""

from dataclasses import dataclass
from fractions import Fraction

from dpress.core.claim import ZCDP, ApproxDP, Loss, PureDP, Relation, Unit
from dpress.ledger.convert import exp_up
from dpress.release.artifact import Release
from dpress.report.odds import DELTA, Odds, odds
from dpress.report.rounding import ceiling, listed, loss, number

KINDS = {"histogram": "Counts by", "ranges": "Counts over ranges of", "marginals": "Tables of counts by"}

GROUPS = (
    "Facts about groups and the population can still be learned; that is what the release is for. What it shows of a "
    "group, people will expect of every member, in the data or not."
)
REFUSED = (
    "The promise compares tables that fit the specification. Where it says reject, the mere existence of this release "
    "shows that no value was refused."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """A warning that nobody can overlook.

    Args:
        title: in capitals.
        text: what it means.
    """

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """The second section.

    Args:
        unit: who is protected.
        neighbours: which tables must be hard to tell apart.
        definition: what the loss means, as a formula in words.
        published: the loss that the method's paper claims.
        proven: the loss that is proven for the code that ran.
        basis: why.
        odds: what an attacker's odds can become, or None without any promise.
        belief: what the attacker is sure of.
        factor: how much the odds can change, in words.
        content: what can be learned about the content of a row, or None.
        limits: what is not promised.
    """

    unit: str
    neighbours: str
    definition: str
    published: str
    proven: str
    basis: str
    odds: Odds | None
    belief: str
    factor: str
    content: str | None
    limits: tuple[str, ...]


def title(release: Release) -> str:
    """Return what was published."""
    return f"{KINDS.get(release.spec.release.kind, 'Release of')} {listed(list(release.schema.names))}"


def promised(release: Release) -> Loss | None:
    """Return the loss that the page may rely on: proven, or only published; None if the release protects nobody."""
    return (release.claim.proven or release.claim.published) if release.private else None


def stamp(release: Release) -> Stamp | None:
    """Return the warning that a release without a proven promise must carry."""
    if not release.private:
        return Stamp(
            title="NOT PRIVATE",
            text="The noise came from a seeded generator, which repeats itself. Whoever knows or guesses the seed can "
            "subtract the noise and read the exact counts. This release protects nobody: it is a test, and must not "
            "leave the room if the data are real.",
        )
    if release.claim.proven is None:
        return Stamp(
            title="NOT PROVEN",
            text="The method's paper claims the privacy stated here, but there is no proof for the code that ran. "
            "Nobody should rely on it as a guarantee: the true loss may be larger, or without any limit.",
        )
    return None


def verdict(release: Release, typical: str) -> str:
    """Return the release in one line."""
    if not release.private:
        return "A test release with repeatable noise. It protects nobody."
    whom = protected(release.claim.unit)
    if release.claim.proven is None:
        return f"Claimed, but not proven: {loss(release.claim.published)} for {whom}; typical error ± {typical} rows."
    return f"Proven differential privacy with {loss(release.claim.proven)} for {whom}; typical error ± {typical} rows."


def protected(unit: Unit) -> str:
    """Return whom the promise protects."""
    if unit.column is None:
        return "every single row"
    return f"every person (column {unit.column}, at most {number(unit.rows)} {_rows(unit.rows)} each)"


def guarantee(release: Release) -> Guarantee:
    """Return the second section's words."""
    claim, promise = release.claim, promised(release)
    found = None if promise is None else odds(promise, _delta(release))
    return Guarantee(
        unit=_unit(claim.unit),
        neighbours=_neighbours(claim.unit),
        definition="" if promise is None else _definition(promise),
        published=loss(claim.published),
        proven=loss(claim.proven),
        basis=claim.basis,
        odds=found,
        belief=_belief(claim.unit),
        factor="" if promise is None or found is None else _factor(promise, found),
        content=_content(promise, claim.unit),
        limits=_limits(release),
    )


def _rows(count: int) -> str:
    return "row" if count == 1 else "rows"


def _delta(release: Release) -> Fraction:
    asked = release.spec.privacy.loss
    return asked.delta if isinstance(asked, ApproxDP) else DELTA


def _unit(unit: Unit) -> str:
    if unit.column is None:
        return (
            "The promise is made to each row of the table by itself. Someone who has several rows is protected less: "
            "for m rows ε grows m-fold, and ρ m²-fold."
        )
    return (
        f"The promise is made to each person, that is to all rows with the same value in the column {unit.column} "
        f"together. At most {number(unit.rows)} {_rows(unit.rows)} per person were counted, chosen at random; further "
        "rows were left out before anything was counted."
    )


def _neighbours(unit: Unit) -> str:
    what = "one row" if unit.column is None else "all rows of one person"
    if unit.relation is Relation.ADD_REMOVE:
        return f"Two tables are neighbours if one is the other with {what} added or removed (add-remove)."
    change = "one row is exchanged for another" if unit.column is None else "one person's rows are exchanged for others"
    return f"Two tables are neighbours if {change} (replace-one); {_public(unit)} counts as public."


def _public(unit: Unit) -> str:
    return "the number of rows" if unit.column is None else "the number of people"


def _definition(promise: Loss) -> str:
    if isinstance(promise, PureDP):
        return "Any release is at most exp(ε) times as likely under one of two neighbouring tables as under the other."
    if isinstance(promise, ZCDP):
        return (
            "Zero-concentrated differential privacy: between two neighbouring tables the Rényi divergence of every "
            "order α > 1 is at most ρα."
        )
    return (
        "Any set of releases has, under one of two neighbouring tables, at most exp(ε) times the probability it has "
        "under the other, plus δ."
    )


def _belief(unit: Unit) -> str:
    if unit.relation is Relation.ADD_REMOVE:
        return "a given row is in the data" if unit.column is None else "a given person is in the data"
    what = "row" if unit.column is None else "person's data"
    return f"some statement about one {what} is true (for instance which of two values it holds)"


def _factor(promise: Loss, found: Odds) -> str:
    times = f"the odds change by at most the factor exp(ε) = {_power(found.epsilon)}"
    if not found.delta:
        return f"Then {times}, up or down."
    shown = ceiling(found.delta)
    source = (
        f"ρ = {ceiling(promise.rho)} implies ε = {ceiling(found.epsilon)} at δ = {shown}. "
        if isinstance(promise, ZCDP)
        else ""
    )
    return (
        f"{source}Then the release tells the attacker no more than a device would that reveals the truth with "
        f"probability δ = {shown}, and otherwise keeps to this: {times}, up or down."
    )


def _power(epsilon: Fraction) -> str:
    return ceiling(exp_up(epsilon), 3)


def _content(promise: Loss | None, unit: Unit) -> str | None:
    """Return what changes for guesses about the content: a replacement is one removal and one addition."""
    if promise is None or unit.relation is Relation.REPLACE_ONE:
        return None
    what = "row says" if unit.column is None else "person's rows say"
    about = f"For guesses about what the {what}, when its presence is known anyway,"
    if isinstance(promise, ZCDP):
        return f"{about} ρ counts fourfold, {ceiling(4 * promise.rho)}."
    extra = " and δ grows to (1 + exp(ε)) δ" if isinstance(promise, ApproxDP) else ""
    return f"{about} ε doubles to {ceiling(2 * promise.epsilon)}{extra}."


def _limits(release: Release) -> tuple[str, ...]:
    unit = release.claim.unit
    public = f" {_public(unit)}," if unit.relation is Relation.REPLACE_ONE else ""
    return (
        GROUPS,
        "Losses add up. Every other release from the same data adds its own; this page knows of this one only.",
        f"What the specification says is public:{public} attributes, bounds and lists of values.",
        REFUSED,
        "The promise is about this release, not about the data themselves, who may see them, or how they are kept.",
    )
