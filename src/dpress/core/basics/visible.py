"""Text of people's data as a screen, a page or a picture may hold it: nothing that commands the reader's program."""

import re

UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
"""Control characters but tab and line feed, line separators, changes of the direction of writing, half characters."""


def visible(text: str) -> str:
    r"""Return a text with what cannot be seen written as an escape; all other text stays as it is.

    XML has no form for most of these characters, drawing programs stop at them, terminals obey them.

    >>> visible("red: \x1b[31m"), visible("naïve 👩‍👧 one")
    ('red: \\x1b[31m', 'naïve 👩‍👧 one')
    """
    return UNSEEN.sub(lambda match: repr(match[0])[1:-1], text)
