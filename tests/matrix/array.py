"""The stored covering array, and cases drawn at random."""

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from tests.matrix.axes import AXES, ROOMS, Case
from tests.matrix.rules import RULES, allowed

from dpress.core.basics import rng

ARRAY = Path(__file__).with_name("array.json")
READS_ROWS = ("room", "column", "outside", "missing", "unit", "periods", "source", "engine", "contents", "read")
Pair = tuple[str, object, str, object]
Met = tuple[object, object, str, object]  # a condition, a kind, an axis and its value
V = TypeVar("V")


def cases() -> list[Case]:
    """Return the cases of the array."""
    rows = json.loads(ARRAY.read_text())
    return [{axis: AXES[axis][place] for axis, place in zip(AXES, row, strict=True)} for row in rows]


def axes_together() -> list[tuple[str, str]]:
    """Return the pairs of axes whose values are all to meet.

    A method never sees a source: every one of them gives the same counts, which `tests/data` tests source by source, so
    that sources meet rooms, columns and all else, but not 57 methods. A condition of rows is over before anything else
    is looked at: it meets what reads rows, and every kind.
    """
    return [
        axes
        for axes in itertools.combinations(AXES, 2)
        if axes != ("method", "source") and ("where" not in axes or not set(axes).isdisjoint(READS_ROWS))
    ]


def pairs_of(case: Case) -> set[Pair]:
    """Return the pairs of values that a case has."""
    return {(axis, case[axis], other, case[other]) for axis, other in axes_together()}


def meetings(case: Case) -> set[Met]:
    """Return what a case's condition meets together: the kind by the source, and the kind by the engine."""
    if case["where"] == "none":
        return set()
    return {(case["where"], case["room"], axis, case[axis]) for axis in ("source", "engine")}


def values_in(room: str) -> dict[str, list[object]]:
    """Return the values of every axis that rules about one axis beside the room leave."""
    alone = {axis: [rule for rule in RULES if {"room", axis} == set(rule.axes)] for axis in AXES}
    return {
        axis: [one for one in values if all(rule.holds({"room": room, axis: one}) for rule in alone[axis])]
        for axis, values in {**AXES, "room": (room,)}.items()
    }


def chosen(values: Sequence[V], source: rng.Generator) -> V:
    """Return one of some values, each as likely as any other."""
    return values[int(source.words(1)[0]) % len(values)]


def drawn(seed: int) -> Iterator[Case]:
    """Yield cases at random, of every room as many: triples and larger sets of values that no array lists."""
    values, source = {room: values_in(room) for room in ROOMS}, rng.seeded(seed)
    for room in itertools.cycle(ROOMS):
        case = {axis: chosen(own, source) for axis, own in values[room].items()}
        if allowed(case):
            yield case
