"""What the files of levels are called, and levels whose files or columns would hide others of a release."""

import re
from collections.abc import Collection, Sequence

OF_EVERY_RELEASE = ("measurement", "noisy_counts", "records")


def file_stem(level: str) -> str:
    """Return a level's name as that of a file.

    >>> file_stem("block group")
    'block_group'
    """
    return re.sub(r"\W+", "_", level)


def check_levels(levels: Sequence[str], columns: Collection[str]) -> None:
    """Refuse levels whose files or columns would hide others of a release.

    Args:
        levels: their names, everything first.
        columns: of the tables beside the regions.

    Raises:
        ValueError: one line that names the level.
    """
    stems = [file_stem(level).casefold() for level in levels]
    taken = "|".join([*OF_EVERY_RELEASE, r"tree_\d+"])
    for level, stem in zip(levels[1:], stems[1:], strict=True):
        if stems.count(stem) > 1 or re.fullmatch(taken, stem):
            raise ValueError(f"$.attribute: a release would have two files {stem}.parquet; rename the level {level!r}")
        if {level, f"{level}_label"} & {*columns}:
            raise ValueError(f"$.attribute: the released tables would have two columns {level!r}; rename the level")
