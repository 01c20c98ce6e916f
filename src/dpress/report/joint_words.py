"""What a page says of a fitted joint distribution: the finding, the baseline, what is biased, and the records.

Data flow: release, pairs -> frozen words -> template.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dpress.inference.joint.evidence import ALPHA
from dpress.mechanisms.protocol.collection import Collection
from dpress.release.release import Release
from dpress.report.pairs import Pair, listing
from dpress.report.rounding import listed, number
from dpress.report.tables import Table, table
from dpress.report.views import joint_view

TABLES = (
    "The tables that were asked for are made to agree with one another, drawn toward independence as far as noise "
    "alone could have made the difference, and joined to the distribution of the largest entropy that has them."
)
ALONE = (
    "The table of all combinations is drawn toward what its smaller tables would make expected, as far as noise alone "
    "could have made the difference, and has no counts below zero."
)
AS_PUBLISHED = ("em", "lasso", "lremh")
FITS: Mapping[str, str] = {
    "rr_ldp": "It comes from the likelihood of the whole reports, on a path that starts at the product of the one-way "
    "counts and is left before the fit follows the noise.",
    "em": "It comes from the published EM with its published stopping rule. It starts at the uniform distribution, and "
    "with many cells stops next to it.",
    "lasso": "It comes from the published LASSO on the counts of single bits. They say nothing of which attributes go "
    "together: whatever the fit says of that is the solver's choice. Use the unbiased counts.",
    "lremh": "It comes from the published EM, on the combinations that LASSO left. A combination that LASSO dropped "
    "stays at zero, and LASSO cannot know which ones go together. Use the unbiased counts.",
}
KEPT = " The joint keeps the tables of the strongest pairs; the others follow from them."
UNBIASED = "The unbiased count is right on average and errs as the interval says. "
NO_ERROR = (
    " Intervals and standard errors are those of the unbiased count. None is known for the adjusted one, and it may "
    "lie outside the interval beside it."
)
OTHERS = (
    " In the tables of this page, intervals and standard errors are those of the unbiased count; the adjusted one may "
    "lie outside the interval beside it."
)
INTERVALS = (
    "A query that no table answers, about more attributes than one table holds, is answered from the fitted joint. Its "
    "interval comes from {} collections that were made up from the joint, with the noise of this one, and fitted again "
    "without drawing anything toward independence. It holds the noise of collection and, on average, what drawing "
    "toward independence took away; where the attributes hardly depend on each other it is too wide. It does not hold "
    "the error of the model: {}"
)
UNSEEN = "if {} go together in a way that {} do not show, the true count may lie far outside, and nothing here tells."
STOPPED = "what the fit was kept from following, because noise could have made it too."
SHRUNK = (
    "The adjusted count errs by less most of the time, because it gives up a part of the noise together with a part of "
    "the signal: a true departure from independence mostly comes out too small."
)
PUBLISHED = "The adjusted count is biased, and may err by more than the unbiased one or than the baseline."
ASSUMED = (
    "No interval sees the error of the model. {} How the attributes go together beyond that, the fit does not know: it "
    "takes the largest entropy, as if there were nothing more."
)
WHOLE = (
    "No interval sees the error of the model. Every report is about all attributes together, but how more than two of "
    "them go together is mostly hidden by the noise. Where it is, the fit stays near what its method starts from."
)
ASKED = {1: "one attribute", 2: "two attributes", 3: "three attributes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JointWords:
    """The sections on a joint distribution.

    Args:
        finding: which pairs stand out, or that none does.
        test: what standing out means.
        baseline: the product of the one-way counts, and how far the fit is from it.
        fit: how the joint was fitted, and why it ended where it did.
        bias: what the adjusted counts are.
        model: the error that no interval sees.
        intervals: what those of the fitted joint hold; empty where it has none.
        cells: the largest of the fitted joint, or None where it has no table of its own.
        records: what the synthetic records are good for; empty without any.
        pairs: the list.
    """

    finding: str
    test: str
    baseline: str
    fit: str
    bias: str
    model: str
    intervals: str
    cells: Table | None
    records: tuple[str, ...]
    pairs: Table


def joint_words(release: Release, found: list[Pair]) -> JointWords | None:
    """Return the words on a fitted joint distribution, or None where no pair was published."""
    if not found:
        return None
    return JointWords(
        finding=_finding(found),
        test=_test(len(found)),
        baseline=_baseline(found),
        fit=_fit(release),
        bias=_bias(release),
        model=_model(release),
        intervals=_intervals(release),
        cells=_cells(release),
        records=_records(release.records),
        pairs=listing(found),
    )


def _finding(found: list[Pair]) -> str:
    clear = [pair for pair in found if pair.evidence.dependent]
    if not clear:
        return (
            f"{'No pair' if len(found) > 1 else 'The pair'} can{'not' if len(found) == 1 else ''} be told from "
            "independence: what the tables and the fitted joint say beyond the one-way counts may be noise. Use the "
            "product of the one-way counts, unless something else is known."
        )
    if len(found) == 1:
        return f"The pair {clear[0].name} stands out from the noise: the two attributes depend on each other."
    some = "all" if len(clear) == len(found) else number(len(clear))
    verb = "stands" if len(clear) == 1 else "stand"
    rest = "" if len(clear) == len(found) else " The others cannot be told from independence."
    return f"Of {number(len(found))} pairs {some} {verb} out from the noise, {clear[0].name} most clearly.{rest}"


def _test(size: int) -> str:
    each = "" if size == 1 else f" divided by the {number(size)} pairs (Bonferroni)"
    named = "it would be named" if size == 1 else "any would be named"
    return (
        f"A pair stands out if noise alone would make a departure from independence as large as its own with a chance "
        f"below {100 * ALPHA:g} %{each}. Were all attributes independent, {named} with a chance of about "
        f"{100 * ALPHA:g} % at most. The chance is approximate, from the mean and the variance of the squared "
        "departure. Not to stand out is no proof of independence: more people, or a larger ε, may show what is hidden."
    )


def _baseline(found: list[Pair]) -> str:
    mean = float(np.mean([pair.fitted for pair in found]))
    over = "" if len(found) == 1 else ", on average over the pairs"
    return (
        "The baseline is the product of the one-way counts: the tables that would be expected if no attribute said "
        f"anything about another. The fitted joint departs from it by {100 * mean:.1f} % of the people{over}. Where a "
        "pair does not stand out, the baseline explains the reports about as well."
    )


def _fit(release: Release) -> str:
    fitted = release.fitted
    alone = len(release.planned.chosen.mechanism.questions) == 1  # type: ignore[union-attr]  # a collection
    text = FITS.get(release.planned.chosen.method, ALONE if alone else TABLES)
    if fitted is None:
        return text
    if text == TABLES and len(fitted.factors) > 1:
        text += KEPT
    return f"{text} It was {fitted.reason}." if fitted.reason else text


def _bias(release: Release) -> str:
    how = PUBLISHED if release.planned.chosen.method in AS_PUBLISHED else SHRUNK
    return UNBIASED + how + (NO_ERROR if release.refits() is None else OTHERS)


def _intervals(release: Release) -> str:
    collection, refits = release.planned.chosen.mechanism, release.refits()
    if refits is None or not isinstance(collection, Collection):
        return ""
    ways = max(len(question.axes) for question in collection.questions)
    unseen = STOPPED if ways == len(collection.shape) else UNSEEN.format(*_unseen(ways))
    return INTERVALS.format(len(refits.again), unseen)


def _unseen(ways: int) -> tuple[str, str]:
    more, asked = {2: ("three attributes", "pairs"), 3: ("four attributes", "triples")}.get(
        ways, (f"{ways + 1} attributes", f"sets of {ways}")
    )
    return more, asked


def _cells(release: Release) -> Table | None:
    found = joint_view(release)
    if found is None:
        return None
    shown = table(found)
    return replace(shown, names=tuple("fitted count" if name == "count" else name for name in shown.names))


def _model(release: Release) -> str:
    collection = release.planned.chosen.mechanism
    names = release.schema.names
    if not isinstance(collection, Collection) or len(collection.questions) < 2:
        return WHOLE
    ways = len(collection.questions[0].axes)
    together = ASKED.get(ways, f"{ways} attributes")
    return ASSUMED.format(f"No device was asked about more than {together} of the {len(names)} together.")


def _records(size: int) -> tuple[str, ...]:
    if not size:
        return ()
    good = ["trying out programs that want one person a line", "teaching", "a first look at a combination"]
    are = (
        f"The file records.parquet holds {number(size)} synthetic records, drawn from the fitted joint. They are "
        "nobody's answers, and cost no privacy. They repeat what the fitted joint says, with its bias, and nothing "
        "else."
    )
    use = (
        f"They are good for {listed(good)}. They are no sample of people: a program that computes an interval or a "
        "test from them takes them for people and gives a figure that means nothing, and more records say nothing "
        "more. For a number with an error, use the unbiased counts."
    )
    return are, use
