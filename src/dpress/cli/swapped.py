"""A remark where the two columns of a position look exchanged; it shows nothing of the data."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from dpress.attributes.attribute import Attribute
from dpress.cli.output import hint
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.places import exchanged


@contextlib.contextmanager
def remarking(attributes: Sequence[Attribute], source: Any, *, quiet: bool) -> Iterator[None]:
    """Run what reads positions, and say afterwards, or where it failed, if their columns look exchanged.

    Only where rows are looked at freely: in a simulation, and where a release is compared with the truth. The remark is
    exact and costs nothing, so that publishing makes none.
    """
    try:
        yield
    finally:
        if not quiet and source is not None:
            with contextlib.suppress(OSError, SchemaMismatch, NotSupported, ValueError):
                _remark(attributes, source)


def _remark(attributes: Sequence[Attribute], source: Any) -> None:
    for attribute in attributes:
        if attribute.box is not None and exchanged(attribute.box, source):
            across, up = attribute.columns
            hint(f"no position lies in the box; most would with the columns {across} and {up} exchanged", quiet=False)
