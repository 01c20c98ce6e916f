# Greek letters are the field's own
"""The words of a collection: every device perturbed its own answer, and the collector is trusted with nothing.

Data flow: release -> Said.
"""

import re
from fractions import Fraction

from dpress.core.claim import PureDP, composed
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.report_type import Longitudinal, Question
from dpress.release.release import Release
from dpress.report.central_words import GROUPS
from dpress.report.rounding import TIMES, listed, loss, number
from dpress.report.said import Said

LONG_FRACTION = re.compile(r"\d+/\d{7,}")
PUBLIC = (
    "Public are {}, and what the specification says: attributes, bounds and lists of values. Where it says "
    "reject, a device with such a value sends nothing: that a person sent no report may say so."
)
DEVICES = (
    "Each device keeps the promise by itself, and the collector cannot check it. A device that does not follow the "
    "method protects its owner less, or not at all, and can move the counts."
)
CHANNELS = (
    "The promise is about what a report says, not about the address it came from, the time it was sent, or what stays "
    "on the device. If dpress perturb made the reports, whoever held that file of people knew the values."
)
NOT_SENT = "no report is sent"


def said(release: Release) -> Said:
    """Return the words of a page on a collection."""
    collection = _collection(release)
    people = number(collection.users)
    return Said(
        title=_title(release, collection),
        privacy="local differential privacy",
        made=f"A {'locally differentially private' if release.private else 'test'} release of kind",
        whom="each person's report, against the collector too",
        unit=_unit(collection),
        neighbours=_neighbours(collection),
        definition="Any report is at most exp(ε) times as likely under one value as under another.",
        terms=_terms(release, collection),
        attacker="who sees a person's report, as the collector does, knows everything about everybody else and has "
        "unlimited computing power",
        belief="some statement about that person's values is true (for instance which of two values is the right one)",
        limits=_limits(collection),
        total="Reports counted, one for each person as far as the collector can know (their number is public and "
        "exact):",
        left_out=tuple((reason, number(count)) for reason, count in sorted(release.rejected.items())),
        counts=f"Each count is an estimate of how many of these {people} people hold the {_held(collection)}. "
        "A report is a random answer; the estimate corrects for the known probabilities of the answers, and is right "
        "on average.",
        few="where few people or none are",
        fractional="Counts are not whole because they are computed from random answers and their probabilities.",
        queries=f"Any count over {_countable(collection)} of these attributes can be asked for, with its own error, at "
        "no further cost in privacy. For several cells the standard error stated is the exact one or somewhat more, "
        "since counts of one table err in opposite directions:",
        heading="Error predicted, and what it rests on",
        noise=f"{_asked(collection)} It perturbed its answer with coins of its own; nobody adds noise to a total."
        f"{_assumed(release)}",
        predicted=f"computed for this number of reports from public numbers alone, {_supposed(release)}",
        bound=f"were all values equally frequent, no report that keeps {loss(release.spec.privacy.loss)} has a "
        "smaller typical error in the ways of asking compared here. This collection has {ratio} times the bound.",
        cover=_cover(collection),
        fates={"reject": f"refused: {NOT_SENT}", "drop": NOT_SENT},
        charged="by each device, for one report",
        spent="is what each device spent on its one report, before the report left it. The collector keeps no ledger "
        "and needs none: adding reports up, and asking this release any number of questions, costs nothing more. What "
        "a person has spent in all, here and elsewhere, only the person's own device can know.",
        checks="computes the promise again from the method, and the counts from the tallies of the reports",
    )


def _collection(release: Release) -> Collection:
    mechanism = release.planned.chosen.mechanism
    if not isinstance(mechanism, Collection):
        raise TypeError("a local release is made by a Collection")
    return mechanism


def _title(release: Release, collection: Collection) -> str:
    names = list(release.schema.names)
    return f"How {listed(names)} go together" if _joint(collection) else f"Counts {listed([f'by {x}' for x in names])}"


def _joint(collection: Collection) -> bool:
    """Say whether tables of pairs, and a fitted joint distribution, are published."""
    return any(len(axes) > 1 for axes in collection.decoder.tables)


def _held(collection: Collection) -> str:
    return "two values together" if _joint(collection) else "value"


def _countable(collection: Collection) -> str:
    return "one or two" if _joint(collection) else "one"


def _lot(collection: Collection) -> str:
    """Return what devices draw by lot."""
    if collection.spatial is not None:
        return "level of the quadtree"
    asked = len(collection.questions[0].axes)
    return {1: "attribute", 2: "pair of attributes", 3: "triple of attributes"}.get(asked, f"set of {asked} attributes")


def _drawn(collection: Collection) -> bool:
    """Say whether devices draw their question by lot."""
    return len(collection.questions) > 1


def _unit(collection: Collection) -> str:
    which = f", and which {_lot(collection)} the report is about," if _drawn(collection) else ""
    return (
        "The promise is made to each person, about what one report says of the person's values. The person's own "
        "device perturbs the answer before it sends it, so that the promise holds against everybody who sees the "
        f"report, the collector too, whatever they do with it. That somebody sent a report{which} is not hidden."
    )


def _neighbours(collection: Collection) -> str:
    asked = len(collection.questions[0].axes)
    what = "of all attributes together" if asked > 1 else "of the attribute asked for"
    if _drawn(collection) and asked > 1:
        what = f"of the {_lot(collection)} asked for"
    values = "combinations of values" if asked > 1 else "values"
    return f"From one report any two {values} {what} must be hard to tell apart."


def _terms(release: Release, collection: Collection) -> tuple[tuple[str, str, str], ...]:
    claim = release.claim
    published = "is what the method's paper claims."
    if claim.proven and claim.published != claim.proven:
        published = "is what the method's paper claims: the loss of one report plus that of the permanent one."
    proven = (
        "is what a proof shows for one report, of every device that follows the method. This is the promise to rely on."
        if claim.proven
        else "of it is proven. There is no promise to rely on."
    )
    return (
        ("Published", loss(claim.published), published),
        ("Proven, per report", loss(claim.proven), proven),
        _over_time(release, collection),
        ("Because of", "", _basis(release, collection)),
    )


def _over_time(release: Release, collection: Collection) -> tuple[str, str, str]:
    lasting = max((found for question in collection.questions if (found := _lifetime(question))), default=None)
    if lasting is None:
        each = loss(release.claim.proven or release.claim.published)
        words = f"Losses add up: a device that reports again, whether its value changed or not, spends {each} again."
        return "Over time", "", words
    another = "; another question is another such charge" if _drawn(collection) else ""
    words = (
        "holds for any number of reports of unchanged values, if the device keeps its permanent response and answers "
        "from it alone; it covers the first report, too, and is not added to it. A changed value needs a new permanent "
        f"response, which is another such charge{another}; that a value changed is not hidden."
    )
    return "Proven, lifetime", loss(PureDP(epsilon=lasting)), words


def _lifetime(question: Question) -> Fraction | None:
    """Return the loss of any number of answers to one question, or None if it grows without end."""
    lasting = [oracle.lifetime for oracle in question.oracles if isinstance(oracle, Longitudinal)]
    together = composed(lasting) if len(lasting) == len(question.oracles) else None
    return together.epsilon if isinstance(together, PureDP) else None


def _basis(release: Release, collection: Collection) -> str:
    """Return for every attribute why its oracle keeps the promise, with probabilities that can be read."""
    names, reasons = release.schema.names, dict[str, list[str]]()
    for question in collection.questions:
        parts = [question.axes] if question.together else [(axis,) for axis in question.axes]
        for axes, oracle in zip(parts, question.oracles, strict=True):
            reason = readable(oracle.claim.basis)
            reasons.setdefault(reason, []).append(TIMES.join(names[axis] for axis in axes))
    if len(reasons) == 1:
        return next(iter(reasons))
    return "; ".join(f"{listed(about)}: {reason}" for reason, about in reasons.items())


def readable(basis: str) -> str:
    """Return why a promise holds, with short numbers for long fractions."""
    return LONG_FRACTION.sub(_decimal, basis)


def _decimal(found: re.Match[str]) -> str:
    """Return a fraction to six places; one just below 1 by what is missing."""
    rest = 1 - Fraction(found[0])
    return f"1 - {float(rest):.2g}" if 0 < rest < Fraction(1, 10**5) else f"{float(1 - rest):.6f}"


def _limits(collection: Collection) -> tuple[str, ...]:
    public = "how many people sent a report" + (f", and about which {_lot(collection)}" if _drawn(collection) else "")
    return (
        GROUPS,
        "Losses add up. Every other collection about the same person adds its own; this page knows of this one only.",
        PUBLIC.format(public),
        DEVICES,
        CHANNELS,
    )


def _asked(collection: Collection) -> str:
    devices = number(collection.users)
    if _drawn(collection):
        return f"Each of {devices} devices answered for one {_lot(collection)}, drawn by lot, with the whole ε."
    if collection.split == "users" and len(collection.shape) > 1:
        return f"Each of {devices} devices answered for the combination of all attributes, with the whole ε."
    if len(collection.shape) > 1:
        return f"Each of {devices} devices answered for all attributes in one report, with an equal part of ε for each."
    return f"Each of {devices} devices answered for the attribute."


def _supposed(release: Release) -> str:
    """Return what the prediction takes for granted about how frequent values are."""
    if release.spec.release.kind == "joint":
        return "for uneven shares of the values, such as a blind draw among all possible shares gives on average"
    return "as if all values of an attribute were equally frequent"


def _assumed(release: Release) -> str:
    """Return what a joint takes for granted that no report can confirm; nothing for all but the baseline."""
    if not release.planned.chosen.assumes:
        return ""
    return (
        " The joint distribution, whose counts “adjusted” shows, is the product of these tables: it supposes that no "
        "attribute says anything about another. Nobody was asked for two of them, so that no report can show how far "
        "that is from the truth. The typical error is that of a product of two, were it true."
    )


def _computed(collection: Collection) -> str:
    if collection.spatial is not None:
        return "computed from the estimated map"
    if _joint(collection) and collection.split == "users":
        return "that is exact if all combinations of values are equally frequent, and near it where they are not"
    return "computed from the estimated counts"


def _cover(collection: Collection) -> str:
    lot = f" and the lot that gave each device its {_lot(collection)}" if _drawn(collection) else ""
    return (
        f"They cover the coins of the devices{lot}, by a standard error {_computed(collection)}, and "
        "nothing else: not who sent no report or more than one, not untrue answers, not devices that do not follow the "
        "method, and not values moved or left out by these rules of the specification:"
    )
