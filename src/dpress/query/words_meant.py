"""What a text that cannot be read was meant as: titles in the place of names, and values without their attribute.

text, schema -> the text with names of attributes; or in words what would be right.
"""

import re
from collections import Counter
from collections.abc import Iterable

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.query.query_tree import named, valued
from dpress.query.query_words import QUOTED, unquoted

LISTED = 1000  # values of an attribute that are looked through
ALONE = rf"({QUOTED}|[^'\"=<>]+?)"
VALUE = re.compile(
    rf"^((?:share|count|ratio|not)\s+)?(?:where\s+)?{ALONE}(?=$|\s+(?:where|by|and|or|/|-)\s)", re.IGNORECASE
)


def by_names(schema: Schema, text: str) -> str:
    """Return a text with the names of attributes where their titles stand, in quotes or without.

    Titles that two attributes share, or that are a name, stand for none.

    >>> from dpress.attributes.listed.attribute import Categorical
    >>> carrier = Categorical(name="carrier", title="Airline", values=("AA", "DL"))
    >>> by_names(Schema((carrier,)), "count by airline")
    'count by carrier'
    """
    words = Counter(word.casefold() for word in (*schema.words, *_titles(schema.attributes)))
    owners = {
        title: attribute.name
        for attribute in schema.attributes
        for title in _titles((attribute,))
        if words[title] == 1 or (title == attribute.name.casefold() and words[title] == 2)
    }
    if not owners:
        return text
    plain = "|".join(re.escape(title) for title in sorted(owners, key=len, reverse=True))
    pattern = rf"""'(?:{plain})'|"(?:{plain})"|{QUOTED}|(?<!\w)(?:{plain})(?!\w)"""
    return re.sub(pattern, lambda match: _named(owners, match[0]), text, flags=re.IGNORECASE)


def _titles(attributes: Iterable[Attribute]) -> list[str]:
    """Return what attributes are called before people, in small letters: each title, with its unit, too."""
    return [text for each in attributes for text in {str(each.title or each.name).casefold(), each.caption.casefold()}]


def _named(owners: dict[str, str], written: str) -> str:
    name = owners.get(unquoted(written).casefold())
    return written if name is None else named(name)


def of_value(schema: Schema, text: str) -> str:
    """Return in words that a text names a value without its attribute, or an attribute alone; empty where it does not.

    >>> from dpress.attributes.listed.attribute import Categorical
    >>> arrival = Categorical(name="arrival", values=("late", "in time"))
    >>> of_value(Schema((arrival,)), "share late by ward")
    "'late' is a value of arrival: write `share arrival = late`"
    """
    if (match := VALUE.match(text.strip())) is None:
        return ""
    value, head = unquoted(match[2].strip()), (match[1] or "").strip().lower().replace("ratio", "")
    if head == "count" and value in schema.names:
        return f"how many have each value is `count by {named(value)}`"
    sides = (side for attribute in schema.attributes if attribute.held is None for side in attribute.sides)
    for side in sides:
        if value in side.labels_between(0, min(side.size, LISTED)):
            form = f"{head} {named(side.name)} = {valued(value)}".strip()
            return f"{value!r} is a value of {side.name}: write `{form}`"
    return ""
