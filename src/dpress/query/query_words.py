"""The words that queries are made of: operators, texts in quotes, and attributes with or without quotes."""

import functools
import re

OPERATOR = r"(?:!=|<=|>=|=|<|>|\bin\b)"
START = rf"(?:==|{OPERATOR}|\bbetween\b|\bis\b)"  # of what stands behind an attribute, right or wrong
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
    behind = rf"(?:\s*{OPERATOR}|\s+between\s|\s+is\s+missing\b)"
    return rf"(?:{name}{behind}|(?:{QUOTED})\s*(?:{mirrored})\s*{name}(?!\w))"


def unquoted(text: str) -> str:
    """Return what stands in quotes; a text without them as it is."""
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"" else text


def without_values(text: str) -> str:
    """Return a text without what stands in quotes, unless an operator follows: that is no value but a name.

    >>> without_values("sex = 'a or b' and 'age' = 3")
    "sex =  and 'age' = 3"
    """
    follows = re.compile(rf"\s*{START}")
    return IN_QUOTES.sub(lambda quote: quote[0] if follows.match(text, quote.end()) else "", text)


def parts(text: str, separator: str) -> list[str]:
    """Return the parts of a text around a separator, a pattern, that stands outside quotes."""
    between, begin = [], 0
    for match in re.finditer(rf"{QUOTED}|{separator}", text):
        if match[0][:1] not in ("'", '"'):
            between.append(text[begin : match.start()].strip())
            begin = match.end()
    return [*between, text[begin:].strip()]
