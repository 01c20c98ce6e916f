"""Whether the page offers made-up records of what is published: only where there is something to draw them from."""

import contextlib
import functools
from pathlib import Path

from dpress.studio.draft import MOST


def offers_records(folder: Path) -> bool:
    """Say whether made-up records of a release can be drawn; not of one that is not whole yet."""
    with contextlib.suppress(OSError, ValueError):
        return _drawn_from(folder)
    return False


@functools.lru_cache(maxsize=MOST)
def _drawn_from(folder: Path) -> bool:
    """Return what `draws_records` says of a folder; what is published does not change."""
    from dpress.query.load import load_release  # noqa: PLC0415  # a page starts without a release
    from dpress.query.made_records import draws_records  # noqa: PLC0415  # as above

    return draws_records(load_release(folder))
