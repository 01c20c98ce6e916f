"""What the files of tables are called: by the attributes that they hold, which are public.

names of attributes -> letters, digits and `_` -> a file for every table, none called as another one of the release; of
very many tables a file for all of one attribute, one for all of two, and so on.
"""

import re
from collections.abc import Iterable, Sequence

from dpress.core.basics.taken_names import taken

NUMBERED = 2
"""The last format of releases whose tables were numbered."""
LONGEST = 100  # bytes, without the ending
SHARED = "tables_of_"
MOST_FILES = 200
"""Tables with a file each; more of them share files."""


def table_files(version: int, tables: Iterable[Sequence[str]], numbered: str = "table") -> tuple[str, ...]:
    """Return the file of every table of a release, which several share where they are more than MOST_FILES.

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
    named = [*tables]
    if len(named) > MOST_FILES:
        return tuple(f"{SHARED}{len(names)}.parquet" for names in named)
    stems: dict[str, str] = {}  # by what a system without capitals takes for the same
    for names in named:
        stem = name = stem_of(names)
        number = 1
        while name.casefold() in stems or taken(name):
            number += 1
            name = f"{stem}-{number}"
        stems[name.casefold()] = name
    return tuple(f"{name}.parquet" for name in stems.values())


def held(file: str, names: Sequence[str]) -> str:
    """Return what a file of tables has, in words.

    >>> held("age-sex.parquet", ["age", "sex"]), held("tables_of_2.parquet", ["age", "sex", "size"])
    ('age x sex', 'tables of 2 of 3 attributes')
    """
    if file.startswith(SHARED) and (ways := file.removeprefix(SHARED).removesuffix(".parquet")).isdecimal():
        return f"tables of {ways} of {len(names):,} attributes"
    return " x ".join(names)


def stem_of(names: Sequence[str]) -> str:
    """Return the names of attributes as that of a file, cut where they are many.

    >>> stem_of(["../a b", "größe"])
    '_a_b-größe'
    """
    stem = "-".join(re.sub(r"\W+", "_", name) for name in names)
    return stem.encode()[:LONGEST].decode(errors="ignore")
