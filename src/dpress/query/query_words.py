"""The words that queries are made of: operators, texts in quotes, and attributes with or without quotes."""

import functools
import re

OPERATOR = r"(?:!=|<=|>=|=|<|>|\bin\b)"
START = rf"(?:==|{OPERATOR})"  # of what stands behind an attribute, right or wrong
QUOTED = r"""'[^']*'|"[^"]*\""""
MIRRORED = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}  # `"30" < age` is `age > "30"`
IN_QUOTES = re.compile(QUOTED)


@functools.lru_cache(maxsize=64)
def any_name(names: tuple[str, ...]) -> str:
    """Return a pattern of the attributes' names, as they are or in quotes, the longest first."""
    plain = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return rf"""(?:{plain}|'(?:{plain})'|"(?:{plain})")"""


@functools.lru_cache(maxsize=64)
def beginning(names: tuple[str, ...]) -> str:
    """Return a pattern of what a condition begins with: an attribute and an operator, or a value in quotes first."""
    name, mirrored = any_name(names), "|".join(sorted(MIRRORED, key=len, reverse=True))
    return rf"(?:{name}\s*{OPERATOR}|(?:{QUOTED})\s*(?:{mirrored})\s*{name}(?!\w))"


def unquoted(text: str) -> str:
    """Return what stands in quotes; a text without them as it is."""
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"" else text


def without_values(text: str) -> str:
    """Return a text without what stands in quotes, unless an operator follows: that is no value but a name.

    >>> without_values("sex = 'a or b' and 'age' = 3")
    "sex =  and 'age' = 3"
    """
    follows = re.compile(rf"\s*{START}")
    return IN_QUOTES.sub(lambda found: found[0] if follows.match(text, found.end()) else "", text)
