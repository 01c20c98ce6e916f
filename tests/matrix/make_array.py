"""Makes `array.json`: cases that cover every pair of values that some case can have, by covering arrays of covertable.

    python tests/matrix/make_array.py

A room after the other: its own values and rules make a small problem, and only pairs of axes that other rooms have not
covered yet are asked for. Of these cases and of random ones the array has those that add most to what is covered, one
after the other. The test of the array counts the pairs without covertable.
"""

import heapq
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from covertable.main import Controller

sys.path.insert(0, str(Path(__file__).parents[2]))  # where it runs as a program

from tests.matrix.array import ARRAY, Met, Pair, axes_together, drawn, meetings, pairs_of, values_in  # found there
from tests.matrix.axes import AXES, ROOMS, Case
from tests.matrix.rules import RULES, Rule

RANDOM = 40_000  # cases beside those of covertable
MEETING = ("where", "source", "engine")


def rules_in(values: Mapping[str, list[object]]) -> list[Rule]:
    """Return the rules that still decide something in a room."""
    return [
        rule for rule in RULES
        if not all(rule.holds(dict(zip(rule.axes, own, strict=True)))
                   for own in itertools.product(*(values[axis] for axis in rule.axes)))
    ]  # fmt: skip


def cases_in(room: str, covered: set[Pair]) -> Iterator[dict[str, object]]:
    """Yield cases of a room that cover what is not covered yet."""
    values = values_in(room)
    open_axes = [
        (one, other) for one, other in axes_together()
        if any((one, a, other, b) not in covered for a, b in itertools.product(values[one], values[other]))
    ]  # fmt: skip
    rules = [{"operator": "fn", "requires": list(rule.axes), "evaluate": rule.holds} for rule in rules_in(values)]
    array = Controller(
        values, strength=1, constraints=rules, sub_models=[{"fields": list(own), "strength": 2} for own in open_axes]
    )
    for case in array.make():
        fresh = pairs_of(case) - covered
        if fresh:
            covered |= fresh
            yield {axis: case[axis] for axis in AXES}


def fewest(cases: Sequence[Case], covered: set[Pair]) -> list[Case]:
    """Return few of the cases that cover the same pairs: always the next one that adds most."""
    pairs, missing, chosen = [pairs_of(case) for case in cases], set(covered), list[Case]()
    queue = [(-len(of), place) for place, of in enumerate(pairs)]  # a gain of earlier on is never too small
    heapq.heapify(queue)
    while missing:
        gain, place = heapq.heappop(queue)
        left = len(pairs[place] & missing)
        if left == -gain:
            chosen.append(cases[place])
            missing -= pairs[place]
        elif left:
            heapq.heappush(queue, (-left, place))
    return chosen


def with_conditions(cases: Sequence[Case]) -> list[Case]:
    """Return as many cases that cover the same pairs, in which conditions meet kinds by more sources and engines.

    A case gets another condition, source or engine where that is a new meeting and no pair or meeting is lost.
    """
    pairs = Counter(pair for case in cases for pair in pairs_of(case))
    met, made = Counter(each for case in cases for each in meetings(case)), list[Case]()
    for case in cases:
        best, gain = case, 0
        for values in itertools.product(*(AXES[axis] for axis in MEETING)):
            other = case | dict(zip(MEETING, values, strict=True))
            fresh = sum(not met[each] for each in meetings(other))
            if fresh > gain and all(rule.holds(other) for rule in RULES) and not _lost(case, other, pairs, met):
                best, gain = other, fresh
        for counted, of in ((pairs, pairs_of), (met, meetings)):
            counted.subtract(of(case))
            counted.update(of(best))
        made.append(best)
    return made


def _lost(case: Case, other: Case, pairs: Counter[Pair], met: Counter[Met]) -> bool:
    """Return whether a case in the place of another loses what that alone had."""
    return any(pairs[pair] < 2 for pair in pairs_of(case) - pairs_of(other)) or any(
        met[each] < 2 for each in meetings(case) - meetings(other)
    )


def main() -> None:
    """Write the array."""
    covered = set[Pair]()
    whole = [case for room in ROOMS for case in cases_in(room, covered)]
    random = [case for case in itertools.islice(drawn(2), RANDOM) if all(rule.holds(case) for rule in RULES)]
    cases = with_conditions(with_conditions(fewest([*whole, *random], covered)))
    rows = [[AXES[axis].index(case[axis]) for axis in AXES] for case in cases]
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    ARRAY.write_text(f"[\n{lines}\n]\n")
    sys.stdout.write(f"{len(cases)} cases, {len(covered)} pairs\n")


if __name__ == "__main__":
    main()
