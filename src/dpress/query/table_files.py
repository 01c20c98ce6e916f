"""What the files of tables are called: by the attributes that they hold, which are public.

names of attributes -> letters, digits and `_` -> a file for every table, none called as another one of the release.
"""

import re
from collections.abc import Iterable, Sequence

NUMBERED = 2
"""The last format of releases whose tables were numbered."""
OTHERS = re.compile(r"measurement|records|joint|statistics|queries|noisy_counts|tree_\d+|con|prn|aux|nul|(com|lpt)\d")
"""Files that releases have beside tables, and what some systems have for devices."""
LONGEST = 100  # bytes, without the ending


def table_files(version: int, tables: Iterable[Sequence[str]], numbered: str = "table") -> tuple[str, ...]:
    """Return the file of every table of a release.

    Args:
        version: the format of the release.
        tables: the attributes of each.
        numbered: what they were called in the formats that numbered them.

    >>> table_files(3, [("age", "sex"), ("age",), ("Age",), ("cost per day",), ("joint",)])
    ('age-sex.parquet', 'age.parquet', 'Age-2.parquet', 'cost_per_day.parquet', 'joint-2.parquet')
    >>> table_files(2, [("age", "sex"), ("age",)])
    ('table_1.parquet', 'table_2.parquet')
    """
    if version <= NUMBERED:
        return tuple(f"{numbered}_{place}.parquet" for place, _ in enumerate(tables, 1))
    stems: dict[str, str] = {}  # by what a system without capitals takes for the same
    for names in tables:
        stem = name = stem_of(names)
        number = 1
        while name.casefold() in stems or OTHERS.fullmatch(name.casefold()):
            number += 1
            name = f"{stem}-{number}"
        stems[name.casefold()] = name
    return tuple(f"{name}.parquet" for name in stems.values())


def stem_of(names: Sequence[str]) -> str:
    """Return the names of attributes as that of a file, cut where they are many.

    >>> stem_of(["../a b", "größe"])
    '_a_b-größe'
    """
    stem = "-".join(re.sub(r"\W+", "_", name) for name in names)
    return stem.encode()[:LONGEST].decode(errors="ignore")
