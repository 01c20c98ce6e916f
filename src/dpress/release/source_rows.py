"""Where the rows are that a design counts: as its specification names them, and says that files of text are written."""

from typing import Any

import msgspec

from dpress.data.sources.open_source import Rows, open_source
from dpress.data.specification.file_format import FileFormat
from dpress.data.specification.spec import Spec
from dpress.document.design import Design
from dpress.release.plan.plan import Plan


def source_of(design: Spec | Plan | Design, data: Any) -> Any:
    """Return where the rows are: as given, or as a specification names them.

    Raises:
        ValueError: neither names any.
    """
    named = design.source
    if data is None and named is None:
        raise ValueError("no data: name a file in [data] source, or pass one")
    return named if data is None else data


def rows_of(design: Design, data: Any, *, engine: str | None = None) -> Rows:
    """Return where rows are, files of text as a design's specification says that they are written.

    Args:
        design: that counts them.
        data: what names them.
        engine: that counts them; left out, the one that the source suggests.

    Raises:
        ValueError: there is no such engine.
        SchemaMismatch: it names tables that are not joined by the persons whom the design protects.
    """
    stated = msgspec.convert(design.specification.get("data", {}), FileFormat)
    return open_source(data, stated, design.schema.tabular, engine=engine, unit=_unit(design))


def _unit(design: Design) -> tuple[str, ...]:
    """Return the columns that name a person; none where rows are protected."""
    named = design.claim.unit
    return () if named == "row" else (named,) if isinstance(named, str) else named
