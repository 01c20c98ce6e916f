# Greek letters are the field's own
"""What a page says differently where the release is a map: positions and rectangles instead of values and cells.

Data flow: release, words of its model -> words of a map.
"""

import math
from dataclasses import replace

from dpress.core.attribute import DROP
from dpress.core.workload import Areas
from dpress.inference.maps.block_noise import TileDensity
from dpress.inference.maps.density import Cells
from dpress.kinds.spatial.answers import MapRelease
from dpress.kinds.spatial.design import location
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.rounds import InRounds
from dpress.mechanisms.spatial.map_decoder import RUNS, MapDecoder
from dpress.report import map_parts
from dpress.report.local_words import readable
from dpress.report.rounding import TIMES, listed, number
from dpress.report.said import NOUNS, Said

IN_CLEAR = (
    "Every person named a safe region, and the report says in clear which one: that the person is in it is NOT "
    "protected. What the method's paper claims holds between two positions within that region, and between no others: "
    "of any two positions of the box nothing is promised."
)
CLUSTER = "that cluster as towns do"
DROPPED = "Positions outside the box were left out; how many is private, and nothing here tells it."


def said(release: MapRelease, base: Said) -> Said:
    """Return the words of a page on a map, made of those of its model."""
    names, place = listed([*release.schema.names]), location(release.spec).name
    noun = NOUNS[release.spec.privacy.model]
    own = replace(
        base,
        title=f"Map of {place}: {noun} by {names}",
        queries="Any rectangle can be asked for, with its own error, at no further cost in privacy:",
        cover=_cover(release, base.cover),
    )
    mechanism = release.planned.chosen.mechanism
    if not isinstance(mechanism, Collection):
        dropped = f" {DROPPED}" if location(release.spec).outside == DROP else ""
        estimate = f"Each count is an estimate of how many rows lie in a cell, made of noisy counts.{dropped}"
        return replace(own, counts=estimate, predicted=_predicted("before any row was read", "rows"))
    return _collected(release, mechanism, own)


def _collected(release: MapRelease, collection: Collection, own: Said) -> Said:
    people, within = number(collection.users), map_parts.within_regions(collection)
    region = " in one safe region" if within else ""
    basis = _basis(release, collection)
    return replace(
        own,
        whom=f"{own.whom}, between {map_parts.between(collection)}" if within else own.whom,
        unit=_unit(collection, own.unit),
        neighbours=_neighbours(within=within),
        definition="Any report is at most exp(ε) times as likely at one of them as at the other.",
        terms=(*(_within(own.terms[:2]) if within else own.terms[:2]), *own.terms[2:-1], (*own.terms[-1][:2], basis)),
        belief=f"some statement about that person's position is true (for instance which of two places{region} is the "
        "right one)",
        limits=((IN_CLEAR,) if within else ()) + own.limits,
        counts=f"Each count is an estimate of how many of these {people} people are in a cell. A report is a random "
        "answer; the estimate corrects for the known probabilities of the answers.",
        noise=_noise(collection),
        predicted=_predicted("for this number of reports", "people"),
    )


def _within(terms: tuple[tuple[str, str, str], ...]) -> tuple[tuple[str, str, str], ...]:
    """Return what is published and what is proven, where that is a promise within safe regions."""
    (published, claimed, _), (proven, shown, _) = terms
    return (
        (published, claimed, "is what the method's paper claims, between two positions of the same safe region."),
        (proven, shown, "of it is proven of any two positions. There is no promise to rely on."),
    )


def _unit(collection: Collection, words: str) -> str:
    words = words.replace("the person's values", "the person's position")
    return f"{words} Nor is the safe region that the person named." if map_parts.within_regions(collection) else words


def _neighbours(*, within: bool) -> str:
    if not within:
        return "From one report any two positions in the box must be hard to tell apart."
    return (
        "From one report any two positions of the person's own safe region must be hard to tell apart. Positions in "
        "different safe regions are told apart for certain."
    )


def _basis(release: MapRelease, collection: Collection) -> str:
    """Return why every level's answer keeps the promise, with probabilities that can be read."""
    asked = map_parts.asked(collection, release.planned.chosen.method)
    reasons: dict[str, list[str]] = {}
    for one, question in zip(asked, collection.questions, strict=True):
        reasons.setdefault(readable(question.oracles[0].claim.basis), []).append(one.squares.replace(" x ", TIMES))
    if len(reasons) == 1:
        return next(iter(reasons))
    each = "; ".join(f"{listed(squares)} squares: {reason}" for reason, squares in reasons.items())
    return f"the level is drawn without the position. {each}"


def _noise(collection: Collection) -> str:
    devices = number(collection.users)
    own: object = collection.spatial
    if isinstance(own, InRounds):
        how = f"answered once: one question of one of {own.rounds} rounds, drawn by lot"
    elif len(collection.questions) > 1:
        how = "answered for one level of the quadtree, drawn by lot: in which square of that level it is"
    else:
        how = "answered for its position"
    coins = "It perturbed its answer with coins of its own; nobody adds noise to a total."
    return f"Each of {devices} devices {how}, with the whole ε. {coins}"


def _predicted(when: str, noun: str) -> str:
    return (
        f"computed {when} from public numbers alone, for made-up {noun} {CLUSTER}: noise, correction and what a cut "
        f"cell hides. Where {noun} are spread otherwise the error is another one; the intervals above rest on the map "
        "itself"
    )


def _cover(release: MapRelease, words: str) -> str:
    """Return what the intervals cover, with what a map adds to it."""
    head, rest, tail = words.partition(", and nothing else")
    bias = "" if linear(release) else "; what keeping counts from falling below zero does, as far as the map shows it"
    cut = "; what a cut cell hides, under the assumption above" if _hides(release) else ""
    return f"{head}{bias}{cut}{rest}{tail.replace('not values moved', 'not positions moved')}"


def linear(release: MapRelease) -> bool:
    """Return whether the map is a linear function of the answers, and so unbiased."""
    decoder = release.planned.chosen.mechanism.decoder
    return isinstance(decoder, MapDecoder) and decoder.estimator.linear


def _hides(release: MapRelease) -> bool:
    """Return whether the intervals hold something for cut cells."""
    density = release.density
    return isinstance(density, TileDensity) or (isinstance(density, Cells) and density.clustered > 0)


def made(release: MapRelease) -> str:
    """Return how the counts came about, and what that does to them."""
    density = release.density
    if linear(release):
        below, cells = int((density.counts < 0).sum()), number(density.counts.size)
        few = f"{number(below)} of {cells} counts fell below zero, where hardly anybody is" if below else ""
        kept = f"{few}; they are left as they are, because cutting them off would push sums upward. " if below else ""
        return f"{kept}The map is right on average, and the error of a rectangle is computed from that of the noise."
    return (
        "No count is below zero. That takes away most of what noise puts into empty places, and biases the rest: "
        "counts are too high where few people are, and too low where many are; where the map says 0 there may be "
        f"somebody. The error of a rectangle is found by making the map again {RUNS} times, with fresh noise, from "
        "itself with as many people spread evenly as noise moves: it has that bias as far as the map itself shows it, "
        "and is known to about 14 %."
    )


def cut(release: MapRelease, size: str) -> str:
    """Return what a rectangle that cuts cells leaves open.

    Args:
        release: the map.
        size: of a cell, in words; may be empty.
    """
    density = release.density
    tiles = isinstance(density, TileDensity)
    cell = "a tile" if tiles else f"a cell ({size})" if size else "a cell"
    words = f"A rectangle that cuts {cell} counts it by the share of its area; what lies where in it is not known. "
    if tiles:
        return words + "The error adds what that can hide, as if all people of a cut tile were at one place in it."
    if not _hides(release):
        return words + "The error leaves out what that can hide."
    k = getattr(density, "clustered", 0.0)
    return words + (
        "The error adds what that can hide, supposing that people cluster within a cell as they do among cells side "
        f"by side: {k:.2f} on a scale from 0, evenly spread, to 1, all at one place. A rectangle whose sides follow "
        "those of cells hides nothing."
    )


def over(workload: Areas) -> str:
    """Return the rectangles that an error is predicted for, as a phrase."""
    low, high = (f"{100 * share:.3g}" for share in (workload.low, workload.high))
    return f"rectangles of {low + ' to ' if low != high else ''}{high} % of the box"


def middle(release: MapRelease) -> str:
    """Return a query for the middle ninth of the box, in round numbers."""
    parts = []
    for name, (low, high) in zip(release.schema.names, release.box, strict=True):
        third = (high - low) / 3
        digits = max(0, 2 - math.floor(math.log10(third)))
        parts.append(f"{name} in {round(low + third, digits):.10g}..{round(high - third, digits):.10g}")
    return " and ".join(parts)
