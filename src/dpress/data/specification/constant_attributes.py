"""Attributes that the condition of [data] holds to one value: nothing is learnt of them, and nothing is to release.

Read are tests `NAME = VALUE` that `and` joins; beside `or`, `not` and parentheses nothing is taken for constant.
"""

import re
from collections.abc import Collection

QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
JOINED = re.compile(r"\b(?:or|not)\b|[()]")
EQUALS = re.compile(r"(?<![!<>=])=(?!=)")


def constant_attributes(where: str, names: Collection[str]) -> dict[str, str]:
    """Return which of some attributes have one value in all rows of which a condition holds, and that value.

    A text may also name several values of an attribute, as a label of its hierarchy does: only its type tells that.

    >>> constant_attributes("sex = M and 'day of week' = 'Mon' and age >= 3", ("sex", "age", "day of week"))
    {'sex': 'M', 'day of week': 'Mon'}
    >>> constant_attributes("sex = M or age = 3", ("sex", "age"))
    {}
    """
    plain = QUOTED.sub(lambda text: '"' * len(text[0]), where)
    if JOINED.search(plain):
        return {}
    ends = [match.span() for match in re.finditer(r"\sand\s", plain)]
    starts = [0, *(end for _, end in ends)]
    parts = [slice(start, end) for start, end in zip(starts, [*(start for start, _ in ends), len(plain)], strict=True)]
    sides = [[_unquoted(side) for side in _sides(where[part], plain[part])] for part in parts]
    tests = [pair if pair[0] in names else pair[::-1] for pair in sides if set(pair) & set(names)]
    return dict(tests)


def _sides(text: str, plain: str) -> tuple[str, ...]:
    """Return what stands before and behind the sign of equality of a test; nothing for other tests."""
    match = EQUALS.search(plain)
    return () if match is None else (text[: match.start()].strip(), text[match.end() :].strip())


def _unquoted(text: str) -> str:
    return text[1:-1] if QUOTED.fullmatch(text) else text
