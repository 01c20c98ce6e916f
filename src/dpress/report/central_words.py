# Greek letters are the field's own
"""The words of a release from a table: a trusted curator held the rows and added noise.

Data flow: release -> Said.
"""

import math

from dpress.core.claim import ZCDP, Loss, PureDP, Relation, Unit
from dpress.kinds.microdata.design import RecordMaker
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.spatial.adaptive_grid import AdaptiveGrid
from dpress.mechanisms.spatial.central_map import CentralMap
from dpress.noise.distribution import Noise
from dpress.noise.laplace import DiscreteLaplace
from dpress.release.release import Release
from dpress.report.rounding import error, listed, loss, number
from dpress.report.said import Said, promised

KINDS = {
    "histogram": "Counts by",
    "ranges": "Counts over ranges of",
    "marginals": "Tables of counts by",
    "microdata": "Records of",
}
GROUPS = (
    "Facts about groups and the population can still be learned; that is what the release is for. What it shows of a "
    "group, people will expect of every member, in the data or not."
)
REFUSED = (
    "The promise compares tables that fit the specification. Where it says reject, the mere existence of this release "
    "shows that no value was refused."
)


def said(release: Release) -> Said:
    """Return the words of a page on a table."""
    unit = release.claim.unit
    return Said(
        title=f"{KINDS.get(release.spec.release.kind, 'Release of')} {listed(list(release.schema.names))}",
        privacy="differential privacy",
        made=f"A {'differentially private' if release.private else 'test'} release of kind",
        whom=_whom(unit),
        unit=_unit(unit),
        neighbours=_neighbours(unit),
        definition=_definition(promised(release)),
        terms=_terms(release),
        attacker="who knows everything else in the table and has unlimited computing power",
        belief=_belief(unit),
        limits=_limits(unit),
        total="Rows counted, in all:",
        left_out=(),
        counts="Each count is the true count of rows, as the specification counts them, plus random noise that is zero "
        "on average.",
        few="where few rows or none are",
        fractional="Counts are not whole because several noisy answers were combined into one that is more accurate.",
        queries=f"Any count over {_asked(release)} can be asked for, with its own error, at no further cost in "
        "privacy:",
        heading="Error predicted before publishing",
        noise=f"It adds {_noise(release)}.",
        predicted="computed from public numbers alone, before any row was read",
        bound="no choice of linear questions measured with this kind of noise has a smaller typical error. This "
        "release has {ratio} times the bound, which itself may be out of reach.",
        cover=_cover(unit),
        fates={"reject": "refused (none occurred)", "drop": "their rows were left out"},
        charged="on a ledger" if release.ledger_head else "no ledger used",
        spent="is what this release cost. No ledger was used: nothing on record keeps the same data from being "
        "published again, and every further release would add to the loss stated here.",
        checks="computes the promise again from the method and its noise",
    )


def _terms(release: Release) -> tuple[tuple[str, str, str], ...]:
    claim = release.claim
    proven = (
        "is what a proof shows for the code that ran. This is the promise to rely on."
        if claim.proven
        else "of it is proven for this release. There is no promise to rely on."
    )
    return (
        ("Published", loss(claim.published), "is what the method's paper claims."),
        ("Proven", loss(claim.proven), proven),
        ("Because of", "", claim.basis),
    )


def _rows(count: int) -> str:
    return "row" if count == 1 else "rows"


def _whom(unit: Unit) -> str:
    if unit.column is None:
        return "every single row"
    return f"every person (column {unit.column}, at most {number(unit.rows)} {_rows(unit.rows)} each)"


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


def _definition(promise: Loss | None) -> str:
    if promise is None:
        return ""
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


def _limits(unit: Unit) -> tuple[str, ...]:
    public = f" {_public(unit)}," if unit.relation is Relation.REPLACE_ONE else ""
    return (
        GROUPS,
        "Losses add up. Every other release from the same data adds its own; this page knows of this one only.",
        f"What the specification says is public:{public} attributes, bounds and lists of values.",
        REFUSED,
        "The promise is about this release, not about the data themselves, who may see them, or how they are kept.",
    )


def _asked(release: Release) -> str:
    several = len(release.planned.chosen.mechanism.decoder.tables) > 1
    return "the attributes of one of these tables" if several else "these attributes"


def _noise(release: Release) -> str:
    mechanism = release.planned.chosen.mechanism
    if isinstance(mechanism, Collection):
        raise TypeError("a collection adds no noise to a total")
    if isinstance(mechanism, RecordMaker):
        return "noise as the promise says it"
    if isinstance(mechanism, AdaptiveGrid):
        blocks, tiles = map(_drawn, mechanism.levels)
        return f"{blocks} for each of {mechanism.blocks**2} blocks, and {tiles} for each tile that they were cut into"
    matrix = mechanism.matrix if isinstance(mechanism, CentralMap) else mechanism
    return f"{_drawn(matrix)} for each of {number(matrix.strategy.map.rows)} measured counts"


def _drawn(mechanism: MatrixMechanism) -> str:
    step = mechanism.strategy.map.step
    kinds = " or ".join(dict.fromkeys(_distribution(noise, step) for noise in mechanism.noises))
    unit = "whole numbers" if step == 1 else f"whole steps of 2^{round(math.log2(step))} of a count"
    return f"{kinds}, drawn independently and exactly in {unit}"


def _distribution(noise: Noise, step: float) -> str:
    spread = f"(standard deviation {error(math.sqrt(noise.variance) * step)})"
    if isinstance(noise, DiscreteLaplace):
        return f"discrete Laplace noise of scale {float(noise.scale) * step:.6g} {spread}"
    return f"discrete Gaussian noise with σ² = {float(noise.sigma2) * step**2:.6g} {spread}"


def _cover(unit: Unit) -> str:
    kept = f", not the rows left out because a person had more than {unit.rows}" if unit.column else ""
    return (
        "They cover the noise that was added, and nothing else: not who is missing from the data or was drawn into a "
        f"sample, not wrong or outdated entries{kept}, and not values moved or left out by these rules of the "
        "specification:"
    )
