"""Where the rows are that a design counts: as its specification names them, and says that files of text are written."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.kept_rows import Rule, kept_rows, left_out
from dpress.data.named_rows import named_rows
from dpress.data.sources.open_source import Rows, open_source
from dpress.data.specification.file_format import FileFormat
from dpress.data.specification.linked_table import LinkedTables
from dpress.data.specification.spec import Spec
from dpress.document.design import Design
from dpress.release.plan.plan import Plan, specification_of
from dpress.release.plan.row_condition import row_condition

NAMED = "{0}=FILE,{1}=FILE"


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
    if spec.linked is not None:
        return ChosenRows(every=_joined(spec, spec.linked, data, engine), rule=rule)
    return ChosenRows(every=open_source(data, spec.data or FileFormat(), read, engine=engine, unit=unit), rule=rule)


def _joined(spec: Spec, tables: LinkedTables, data: Any, engine: str | None) -> Rows:
    """Return the rows of two tables that belong together."""
    names, places = (tables.above.name, tables.below.name), _by_name(data)
    if not isinstance(places, Mapping) or {*places} != {*names}:
        if not isinstance(data, str) and open_source(data) is data:  # rows that were joined before
            return open_source(data)
        raise SchemaMismatch(f"expected the rows of two tables by their names, {NAMED.format(*names)} or a mapping")
    if engine not in (None, "threads"):
        raise NotSupported(f"two tables are joined here, by engine threads, got {engine}; or count a view that joins")
    from dpress.release.plan.linked_rules import linked_rows  # noqa: PLC0415  # few have any

    written, attributes = spec.data or FileFormat(), Schema(spec.attribute).attributes
    sides = tuple(side for attribute in attributes for side in attribute.sides)
    every = [
        named_rows(open_source(places[table.name], written, sides, engine=engine), written, table.keys)
        for table in (tables.above, tables.below)
    ]
    return Rows(linked_rows(spec, *(rows.source for rows in every)), engine)


def _by_name(data: Any) -> Any:
    """Return the places of two tables by their names, as `--data` names them: households=a.csv,persons=b.csv."""
    if not isinstance(data, str):
        return data
    pairs = (text.partition("=") for text in data.split(","))
    return {name: place for name, _, place in pairs if place}


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
    if design.where or "table" in design.specification:
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
