"""Queries of slots are about persons who are there: the integer that says that nobody is, is no number of anybody's.

condition, slots -> the same condition of households in whose tested slots somebody is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce

from dpress.data.specification.slots import Slot
from dpress.query.query_tree import Condition, Query, both

THERE = "Of slots only those count that somebody is in."
Slots = Mapping[str, Condition]


def counted(slots: Iterable[Slot]) -> Slots:
    """Return, of every slot of integers, the condition that somebody is in it."""
    numbers = [
        (slot.name, slot.attribute.labels_between(slot.first, slot.first + 1)[0]) for slot in slots if slot.counts
    ]
    return {name: Condition(word=">=", attribute=name, values=(lowest,)) for name, lowest in numbers}


def among(slots: Slots, condition: Condition) -> Condition:
    """Return a condition of which every test of a slot is of persons who are there; `not` is of those, too."""
    if condition.word == "not":
        names = dict.fromkeys(test.attribute for test in condition.tests if test.attribute in slots)
        return reduce(both, (slots[name] for name in names), condition)
    if condition.attribute:
        return both(condition, slots[condition.attribute]) if condition.attribute in slots else condition
    parts = tuple(among(slots, part) for part in condition.parts)
    flat = (each.parts if each.word == condition.word == "and" else (each,) for each in parts)
    return Condition(word=condition.word, parts=tuple(each for pieces in flat for each in pieces))


def with_numbers(slots: Slots, names: Iterable[str], where: Condition | None) -> Condition | None:
    """Return the rows of a statistic of some attributes: those of a condition with somebody in each of their slots."""
    present = [slots[name] for name in dict.fromkeys(names) if name in slots]
    rows = among(slots, where) if where is not None else None
    return reduce(lambda first, second: second if first is None else both(first, second), present, rows)


def as_ratio(slots: Slots, share: Query) -> Query:
    """Return a share as the ratio of two counts, both of rows with somebody in each slot that the share tests."""
    rows = with_numbers(slots, (test.attribute for test in share.first.tests), share.where)
    return replace(share, of="ratio", where=rows)
