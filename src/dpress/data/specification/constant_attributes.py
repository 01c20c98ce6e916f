"""Attributes that the condition of [data] holds to one value: nothing is learnt of them, and nothing is to release.

Read are tests `NAME = VALUE` that `and` joins; beside `or`, `not` and parentheses nothing is taken for constant.
"""

import re
from collections.abc import Collection

QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
JOINED = re.compile(r"\b(?:or|not)\b|[()]")
EQUALS = re.compile(r"(?<![!<>=])=(?!=)")


def constant_attributes(where: str, names: Collection[str]) -> set[str]:
    """Return which of some attributes have one value in all rows of which a condition holds.

    >>> sorted(constant_attributes("sex = M and 'day of week' = 'Mon' and age >= 3", ("sex", "age", "day of week")))
    ['day of week', 'sex']
    >>> constant_attributes("sex = M or age = 3", ("sex", "age"))
    set()
    """
    plain = QUOTED.sub(lambda text: '"' * len(text[0]), where)
    if JOINED.search(plain):
        return set()
    ends = [match.span() for match in re.finditer(r"\sand\s", plain)]
    starts = [0, *(end for _, end in ends)]
    parts = [slice(start, end) for start, end in zip(starts, [*(start for start, _ in ends), len(plain)], strict=True)]
    sides = [[_unquoted(side) for side in _sides(where[part], plain[part])] for part in parts]
    return {name for pair in sides for name in [side for side in pair if side in names][:1]}


def _sides(text: str, plain: str) -> tuple[str, ...]:
    """Return what stands before and behind the sign of equality of a test; nothing for other tests."""
    match = EQUALS.search(plain)
    return () if match is None else (text[: match.start()].strip(), text[match.end() :].strip())


def _unquoted(text: str) -> str:
    return text[1:-1] if QUOTED.fullmatch(text) else text
