"""What a map is made of: its grid, its tree, who is asked what; and between which positions the promise holds.

mechanism -> short phrases and numbers, for a page and for a terminal.
"""

import math
from dataclasses import dataclass
from typing import Any

from dpress import catalog
from dpress.core.basics.losses.any_loss import describe
from dpress.core.maps.linear import Identity
from dpress.core.maps.workload import Areas
from dpress.core.reports.encoders import Leaf
from dpress.mechanisms.protocol.collection import Collection, as_collection, method_of
from dpress.mechanisms.protocol.report_type import Part
from dpress.mechanisms.spatial.adaptive_grid import AdaptiveGrid
from dpress.mechanisms.spatial.safe_regions import SafeRegions
from dpress.reporting.rounding import number

REGION = "two positions of the same safe region only (a report says in clear which region)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One report type of a collection of positions.

    Args:
        level: of the quadtree, as a name.
        squares: how many there are to choose from, as a phrase.
        share: of all devices that are asked it, from 0 to 1.
        method: that perturbs the answer.
        width: of a report, in bytes.
    """

    level: str
    squares: str
    share: float
    method: str
    width: int


def made_of(mechanism: Any) -> str:
    """Return in a few words what is asked or measured."""
    estimator, collection = method_of(mechanism), as_collection(mechanism)
    if isinstance(estimator, AdaptiveGrid):
        return f"{estimator.blocks} x {estimator.blocks} blocks, cut as they fill"
    flat = isinstance(estimator.map, Identity) or (collection is not None and len(collection.types) < 2)
    rounds = 0 if collection is None else len(collection.estimator.rounds)
    if flat and not rounds:
        return "cells"
    tree = f"quadtree of height {estimator.grid.height}"
    return f"{tree}, {rounds} rounds" if rounds else tree


def levels(mechanism: Collection, method: str) -> tuple[Level, ...]:
    """Return what devices are asked, in the order of the report types.

    Args:
        mechanism: a collection of positions.
        method: its name, for report types with an oracle of their own.
    """
    total = sum(mechanism.estimator.rounds or mechanism.weights)
    return tuple(_level(report_type.parts[0], report_type.weight / total, method) for report_type in mechanism.types)


def assignment(mechanism: Collection) -> str:
    """Return what decides which report type a device answers, up to their list; empty if there is only one."""
    if rounds := mechanism.estimator.rounds:
        drawn = f"Each device answers once, for one level in one of {len(rounds)} rounds, drawn at random"
        return f"{drawn}; in round {mechanism.estimator.round + 1}:"
    return "Each device answers for one level of the quadtree, drawn at random:" if len(mechanism.types) > 1 else ""


def _level(part: Part, share: float, method: str) -> Level:
    oracle = part.oracle
    size, across = oracle.size, math.isqrt(oracle.size)
    file = type(oracle).__module__.rpartition(".")[2]
    names = (card.name for card in catalog.cards("oracle", named=file).values() if card.method is type(oracle))
    uneven = isinstance(part.encoder, Leaf) and across**2 != size
    level = int(math.log2(across))
    return Level(
        level="uneven" if uneven else str(level) if 4**level == size else "cells",
        squares=f"{number(size)} squares" if uneven else f"{number(across)} x {number(across)}",
        share=share,
        method=next(names, method),
        width=oracle.width,
    )


def within_regions(mechanism: Any) -> bool:
    """Return whether the promise holds only between positions of one safe region, which reports name in clear."""
    if (collection := as_collection(mechanism)) is None:
        return False
    oracles = (report_type.oracles[0] for report_type in collection.types)
    return any(isinstance(oracle, SafeRegions) and oracle.region_levels != (0,) for oracle in oracles)


def promise(mechanism: Any) -> str:
    """Return what one report of a collection loses, and between which positions, for a terminal."""
    claim = mechanism.claim
    status = f"{describe(claim.proven)} (proven)" if claim.proven else f"{describe(claim.published)} (claimed)"
    return f"{status} for each report, between {between(mechanism)}"


def between(mechanism: Any) -> str:
    """Return between which positions one report of a collection keeps its promise."""
    return REGION if within_regions(mechanism) else "any two positions"


def over(workload: Areas) -> str:
    """Return the rectangles that an error is predicted for, as a phrase."""
    low, high = (f"{100 * share:.3g}" for share in (workload.low, workload.high))
    return f"rectangles of {low + ' to ' if low != high else ''}{high} % of the box"
