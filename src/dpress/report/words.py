# Greek letters are the field's own
"""The guarantee in plain words: every sentence right for an expert, readable without being one.

Data flow: release -> frozen words -> template.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpress.core.claim import ZCDP, ApproxDP, Loss, Relation, Unit
from dpress.kinds.spatial.answers import MapRelease
from dpress.ledger.convert import exp_up
from dpress.release.collections import WEAK
from dpress.release.release import Release
from dpress.report import central_words, local_words, map_words
from dpress.report.map_parts import within_regions
from dpress.report.odds import DELTA, Odds, odds
from dpress.report.rounding import ceiling, loss
from dpress.report.said import Said, noun, promised

MODELS: Mapping[str, Callable[[Release], Said]] = {"central": central_words.said, "local": local_words.said}


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
        neighbours: what must be hard to tell apart.
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


def said(release: Release) -> Said:
    """Return the words of the release's model."""
    own = MODELS[release.spec.privacy.model](release)
    return map_words.said(release, own) if isinstance(release, MapRelease) else own


def stamp(release: Release) -> Stamp | None:
    """Return the warning that a release without a proven promise must carry."""
    if not release.private:
        return Stamp(
            title="NOT PRIVATE",
            text="The noise came from a seeded generator, which repeats itself. Whoever knows or guesses the seed can "
            "subtract the noise and read the exact counts. This release protects nobody: it is a test, and must not "
            "leave the room if the data are real.",
        )
    if within_regions(release.planned.chosen.mechanism):
        return Stamp(title="ONLY WITHIN SAFE REGIONS", text=map_words.IN_CLEAR)
    if release.claim.proven is None:
        return Stamp(
            title="NOT PROVEN",
            text="The method's paper claims the privacy stated here, but there is no proof for the code that ran. "
            "Nobody should rely on it as a guarantee: the true loss may be larger, or without any limit.",
        )
    found = odds(release.claim.proven, _delta(release))
    if found.epsilon > WEAK:
        return Stamp(
            title="NEXT TO NOTHING IS PROMISED",
            text=f"With ε = {ceiling(found.epsilon)} the odds of a guess about one {_one(release)} may grow by the "
            f"factor {_power(found.epsilon)}: in the worst case the promise keeps nobody from being sure. Treat what "
            "was released as if it were not protected.",
        )
    return None


def _one(release: Release) -> str:
    unit = release.claim.unit
    return "row" if unit.column is None and release.spec.privacy.model == "central" else "person"


def verdict(release: Release, typical: str) -> str:
    """Return the release in one line."""
    if not release.private:
        return "A test release with repeatable noise. It protects nobody."
    own = said(release)
    error = f"typical error ± {typical} {noun(release)}."
    if release.claim.proven is None:
        return f"Claimed, but not proven: {loss(release.claim.published)} for {own.whom}; {error}"
    return f"Proven {own.privacy} with {loss(release.claim.proven)} for {own.whom}; {error}"


def guarantee(release: Release) -> Guarantee:
    """Return the second section's words."""
    claim, promise, own = release.claim, promised(release), said(release)
    found = None if promise is None else odds(promise, _delta(release))
    return Guarantee(
        unit=own.unit,
        neighbours=own.neighbours,
        definition=own.definition,
        published=loss(claim.published),
        proven=loss(claim.proven),
        basis=claim.basis,
        odds=found,
        belief=own.belief,
        factor="" if promise is None or found is None else _factor(promise, found),
        content=_content(promise, claim.unit),
        limits=own.limits,
    )


def _delta(release: Release) -> Fraction:
    asked = release.spec.privacy.loss
    return asked.delta if isinstance(asked, ApproxDP) else DELTA


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
