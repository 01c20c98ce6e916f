"""A wish that is published period by period: what is there already, and what may come next."""

from pathlib import Path
from typing import Any

import msgspec

from dpress.data.specification.spec import Spec
from dpress.query.folder import is_series


class Turn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A period to publish.

    Args:
        name: of the wish.
        period: as the cells of its dates are named.
    """

    name: str
    period: str


def turns(spec: Spec, folder: Path) -> dict[str, Any]:
    """Return which periods are published in a folder, and which may follow them, in order."""
    from dpress.release.periods.calendar import Calendar  # noqa: PLC0415  # most wishes are published once
    from dpress.release.periods.series import load_series  # noqa: PLC0415

    calendar = Calendar(spec)
    there = load_series(folder).periods if is_series(folder) else ()
    behind = calendar.place(there[-1]) + 1 if there else 0
    return {"published": there, "names": calendar.names[behind:]}
