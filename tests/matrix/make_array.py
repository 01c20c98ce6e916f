"""Makes `array.json`: cases that cover every pair of values that some case can have, by covering arrays of covertable.

    python tests/matrix/make_array.py

A room after the other: its own values and rules make a small problem, and only the pairs of axes that other rooms have
not covered yet are asked for. The test of the array counts the pairs without covertable.
"""

import itertools
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from covertable.main import Controller

sys.path.insert(0, str(Path(__file__).parents[2]))  # where it runs as a program

from tests.matrix.array import ARRAY, Pair, pairs_of, values_in  # found there
from tests.matrix.axes import AXES, ROOMS
from tests.matrix.rules import RULES, Rule


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
        (one, other) for one, other in itertools.combinations(AXES, 2)
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


def main() -> None:
    """Write the array."""
    covered = set[Pair]()
    cases = [case for room in ROOMS for case in cases_in(room, covered)]
    rows = [[AXES[axis].index(case[axis]) for axis in AXES] for case in cases]
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    ARRAY.write_text(f"[\n{lines}\n]\n")
    sys.stdout.write(f"{len(cases)} cases, {len(covered)} pairs\n")


if __name__ == "__main__":
    main()
