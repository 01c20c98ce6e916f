"""Names that no table's file of a release may have: those of its other files, and those that systems keep."""

import re

OTHERS = re.compile(
    r"measurement|records|joint|statistics|queries|noisy_counts|tree_\d+|tables_of_\d+|con|prn|aux|nul|(com|lpt)\d"
)
"""Files that releases have beside tables, and what some systems have for devices."""


def taken(stem: str) -> bool:
    """Return whether a file of a table may not be called so, on a system without capitals either.

    Args:
        stem: its name without the ending.

    >>> taken("Records"), taken("con"), taken("persons")
    (True, True, False)
    """
    return OTHERS.fullmatch(stem.casefold()) is not None
