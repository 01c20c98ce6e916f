"""The words that depend on the model, central or local: the same fields for both, filled in side by side.

Data flow: release -> `central_words.said` or `local_words.said` -> Said -> template.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dpress.core.claim import Loss
from dpress.release.release import Release

NOUNS = {"central": "rows", "local": "people"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a page says in the words of its model.

    Args:
        title: what was published.
        privacy: the kind of promise, as a noun.
        made: how the release came about, up to its kind.
        whom: the promise protects.
        unit: who is protected, as sentences.
        neighbours: what must be hard to tell apart.
        definition: what the loss means, as a formula in words; empty without a promise.
        terms: published, proven, over time and why: a name, a figure and the rest of the sentence.
        attacker: what the attacker knows, up to what he is not sure of.
        belief: what the attacker is not sure of.
        limits: what is not promised.
        total: how many were counted.
        left_out: how many reports were left out, by reason.
        counts: what a count is.
        few: where counts below zero come from.
        fractional: why counts are not whole.
        queries: which further questions can be asked.
        heading: of the section on the error.
        noise: what stands between the counts and the truth.
        predicted: what the predicted error was computed from.
        bound: which error nothing goes below.
        cover: what the intervals cover, and what they do not, up to the rules of the specification.
        fates: what happens to values that the specification rejects or drops.
        charged: a note on who was charged.
        spent: what was spent, by whom, where no ledger has it.
        checks: what loading the release checks.
    """

    title: str
    privacy: str
    made: str
    whom: str
    unit: str
    neighbours: str
    definition: str
    terms: tuple[tuple[str, str, str], ...]
    attacker: str
    belief: str
    limits: tuple[str, ...]
    total: str
    left_out: tuple[tuple[str, str], ...]
    counts: str
    few: str
    fractional: str
    queries: str
    heading: str
    noise: str
    predicted: str
    bound: str
    cover: str
    fates: Mapping[str, str]
    charged: str
    spent: str
    checks: str


def noun(release: Release) -> str:
    """Return what is counted."""
    return NOUNS[release.spec.privacy.model]


def promised(release: Release) -> Loss | None:
    """Return the loss that the page may rely on: proven, or only published; None if the release protects nobody."""
    return (release.claim.proven or release.claim.published) if release.private else None
