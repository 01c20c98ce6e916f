"""Where the rows are that a design counts: as its specification names them, and says that files of text are written."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from dpress.attributes.attribute import Tabular
from dpress.data.kept_rows import Rule, kept_rows, left_out
from dpress.data.named_rows import named_rows
from dpress.data.sources.open_source import Rows, open_source
from dpress.data.specification.file_format import FileFormat
from dpress.data.specification.spec import Spec
from dpress.document.design import Design
from dpress.release.plan.plan import Plan, specification_of
from dpress.release.plan.row_condition import row_condition


def source_of(design: Spec | Plan | Design, data: Any) -> Any:
    """Return where the rows are: as given, or as a specification names them.

    Raises:
        ValueError: neither names any.
    """
    named = design.source
    if data is None and named is None:
        raise ValueError("no data: name a file in [data] source, or pass one")
    return named if data is None else data


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenRows:
    """The rows of a release among those of its source.

    Args:
        every: of the source.
        rule: which are the release's; None for all.
    """

    every: Rows
    rule: Rule | None

    @property
    def rows(self) -> Rows:
        """Those of the release.

        Raises:
            OSError, SchemaMismatch, NotSupported: see `kept_rows`.
        """
        return self.every if self.rule is None else kept_rows(self.every, self.rule)

    @property
    def others(self) -> int:
        """How many rows are not of the release: exact, and so for whoever holds them alone."""
        return 0 if self.rule is None else left_out(self.every, self.rule)


def chosen_rows(spec: Spec, data: Any, attributes: Sequence[Tabular] = (), *, engine: str | None = None) -> ChosenRows:
    """Return the rows that a specification chooses of a source; no row is read.

    Args:
        spec: whose `where` says which; its [data], how they are written.
        data: what names all rows.
        attributes: that will be read.
        engine: that counts them; left out, the one that the source suggests.

    Raises:
        ValueError, OSError: see `open_source`.
        SchemaMismatch: the same, or `where` cannot be read.
    """
    rule, unit = row_condition(spec), spec.privacy.protected.columns
    read = attributes if rule is None else (*attributes, *rule.attributes)
    return ChosenRows(every=open_source(data, spec.data or FileFormat(), read, engine=engine, unit=unit), rule=rule)


def rows_of(design: Design, data: Any, *, engine: str | None = None) -> Rows:
    """Return where rows are, files of text as a design's specification says that they are written.

    Args:
        design: that counts them.
        data: what names them.
        engine: that counts them; left out, the one that the source suggests.

    Raises:
        ValueError: there is no such engine.
        SchemaMismatch: it names tables that are not joined by the persons whom the design protects; or see
            `chosen_rows`.
    """
    stated = msgspec.convert(design.specification.get("data", {}), FileFormat)
    unit, read = _unit(design), design.schema.tabular
    if design.where:
        rows = chosen_rows(specification_of(design), data, read, engine=engine).rows
    else:
        rows = open_source(data, stated, read, engine=engine, unit=unit)
    return named_rows(rows, stated, unit)


def stated_rows(design: Design, data: Any) -> int | None:
    """Return how many rows there are where that is stated beside them, as in the footers of Parquet; else None."""
    with contextlib.suppress(OSError, ValueError):
        return rows_of(design, source_of(design, data)).source.row_count()
    return None


def _unit(design: Design) -> tuple[str, ...]:
    """Return the columns that name a person; none where rows are protected."""
    named = design.claim.unit
    return () if named == "row" else (named,) if isinstance(named, str) else named
