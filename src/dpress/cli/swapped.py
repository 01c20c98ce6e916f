"""A remark where the two columns of a position look exchanged; it shows nothing of the data."""

import contextlib
from collections.abc import Iterator
from typing import Any

from dpress.cli.output import hint
from dpress.core.attribute import Location
from dpress.core.errors import NotSupported, SchemaMismatch
from dpress.data.places import exchanged
from dpress.data.spec import Spec


@contextlib.contextmanager
def remarking(spec: Spec, data: Any, *, quiet: bool) -> Iterator[None]:
    """Run what reads positions, and say afterwards, or where it failed, if their columns look exchanged.

    Only where rows are looked at freely: in a simulation, and where a release is compared with the truth. The remark is
    exact and costs nothing, so that publishing makes none.
    """
    try:
        yield
    finally:
        source = data if spec.data is None or data is not None else spec.data.source
        if not quiet and source is not None:
            with contextlib.suppress(OSError, SchemaMismatch, NotSupported, ValueError):
                _remark(spec, source)


def _remark(spec: Spec, source: Any) -> None:
    for one in spec.schema.attributes:
        if isinstance(one, Location) and exchanged(one, source):
            across, up = one.pair
            hint(f"no position lies in the box; most would with the columns {across} and {up} exchanged", quiet=False)
