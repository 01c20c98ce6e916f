"""What would be counted where, for whoever holds the rows, before the budget is spent. Exact, so never private.

rows -> the cell of every value, and the text that has none -> counts by attribute, by person, by place.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET

from dpress import catalog
from dpress.attributes.arrow import objects
from dpress.attributes.arrow.numbers import is_text
from dpress.attributes.attribute import Tabular
from dpress.attributes.policy import DROP, MISSING, OUTSIDE, REJECT
from dpress.core.basics import notebook
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.near import near
from dpress.data.add_up import Progress
from dpress.data.codec.codec import below, cells_of
from dpress.data.named_rows import named_rows, nameless
from dpress.data.persons.contributions import Contributions
from dpress.data.places import exchanged
from dpress.data.sources.source import Source
from dpress.data.sources.sql_text import AS_WRITTEN
from dpress.data.specification.file_format import FileFormat
from dpress.data.specification.slots import Slot, slots_of
from dpress.data.specification.spec import Asked, Spec
from dpress.data.table import Table
from dpress.document.design import Design
from dpress.release.plan.plan import specification_of, understood
from dpress.release.source_rows import chosen_rows, source_of
from dpress.release.truth.finding import CheckedRows, Finding
from dpress.release.truth.linked_check import counted_persons, linked_findings

CAPS = (1, 2, 5, 10, 20, 50, 100)
SHARE = 0.2  # of an attribute's values that may have no cell of their own
EACH = 100  # rows that a person has on average at most, or what names persons probably names something else
SHOWN = 5  # texts without a cell
PASSED = {True: "nothing looks like a mistake", False: "something looks like a mistake"}
DECIMAL_COMMA = re.compile(r"[+-]?\d+(\.\d{3})*,\d*")
OTHER_DATE = re.compile(r"(?P<first>\d{1,4})(?P<sign>[./-])\d{1,2}[./-]\d{1,4}\b")
INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:?\d\d.*?(Z|[+-]\d\d(:?\d\d)?)")
NO_VALUE = {"na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "unknown", "-", "--", ".", "?"}
KEPT = 1 << 16  # different texts that are counted; of more, those that came first


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeCheck:
    """Where an attribute's values land.

    Args:
        name: of the attribute.
        rows: how many values there are.
        matched: those with a cell of their own.
        other: texts, numbers or times that are not listed.
        missing: nulls, and texts that stand for one.
        unread: values that are not of the attribute's type, such as a text where a number is asked for.
        low: numbers below the bounds.
        high: numbers above them.
        policies: what the specification does with values beside its cells, by field.
        texts: the most frequent texts without a cell, with how often they occur.
        remedy: what would probably give some of these a cell; empty where nothing is known.
    """

    name: str
    rows: int
    matched: int
    other: int
    missing: int
    unread: int
    low: int
    high: int
    policies: dict[str, str]
    texts: tuple[tuple[str, int], ...]
    remedy: str

    @property
    def unmatched(self) -> float:
        """The share of values that are there and have no cell of their own."""
        return (self.other + self.unread + self.low + self.high) / max(self.rows, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataCheck:
    """What publishing would make of some rows. Exact: for the curator's eyes, and no part of a release.

    Args:
        rows: in the table.
        kept: that would be counted, before persons are bounded.
        refused: the attributes for which the table would be refused.
        attributes: in their order.
        persons: how much each contributes; None where every row counts by itself.
        exchanged: the locations whose two columns seem exchanged.
        most: the share of an attribute's values that may have no cell of their own.
        findings: what is of the kind of release alone, by name.
        unit: what names the persons, in words.
        nameless: rows that name no person and are left out, as `missing_unit` says.
        where: the condition of which rows are the release's; empty for all.
        others: rows of which it does not hold, and which are left out first.

    >>> import dpress
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 9]}
    >>> spec = dpress.load_spec({"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}})
    >>> import pyarrow as pa
    >>> dpress.check(spec, pa.table({"age": [3, 4, 4]})).kept
    3
    """

    rows: int
    kept: int
    refused: tuple[str, ...]
    attributes: tuple[AttributeCheck, ...]
    persons: Contributions | None
    exchanged: tuple[str, ...]
    most: float
    findings: Mapping[str, Finding] = field(default_factory=dict)
    unit: str = "row"
    nameless: int = 0
    where: str = ""
    others: int = 0

    def __repr__(self) -> str:
        return f"DataCheck({self.kept:,} of {self.rows:,} rows would be counted; {PASSED[self.passed]}; not private)"

    def _repr_html_(self) -> str:
        from dpress.release.truth.check_text import lines  # noqa: PLC0415  # which reads this

        whose = notebook.line("Exact, so not private: for whoever holds the rows.", strong=True)
        return whose + notebook.text("\n".join(lines(self)))

    @property
    def few_persons(self) -> bool:
        """Whether persons have so many rows each that what names them probably names something else."""
        return self.persons is not None and self.persons.rows > EACH * self.persons.persons

    @property
    def suspicious(self) -> tuple[str, ...]:
        """The attributes of which too many values have no cell of their own."""
        shares = [*(pair for finding in self.findings.values() for pair in finding.unlisted.items())]
        shares += [(attribute.name, attribute.unmatched) for attribute in self.attributes]
        return tuple(name for name, unmatched in shares if unmatched > self.most)

    @property
    def faults(self) -> tuple[str, ...]:
        """What else looks like a mistake, a sentence each."""
        return tuple(fault for finding in self.findings.values() for fault in finding.faults)

    @property
    def passed(self) -> bool:
        """Whether nothing looks like a mistake."""
        return not (self.suspicious or self.refused or self.exchanged or self.few_persons or self.faults)

    @property
    def plain(self) -> dict[str, Any]:
        """The check as plain objects, with what every kind would find."""
        apart = {name: nothing for kind in catalog.kinds().values() for name, nothing in kind.findings.items()}
        figures = {name: finding.figures for name, finding in self.findings.items()}
        names = [field.name for field in fields(self) if field.name not in ("findings", "unit")]
        return {**{name: getattr(self, name) for name in names}, **apart, **figures, "unit": self.unit}


def check(
    asked: Asked | Design, data: Any = None, *, most: float = SHARE, progress: Progress | None = None
) -> DataCheck:
    """Return what publishing would make of some rows; nothing is written, charged or released.

    Args:
        asked: a specification, or a design.
        data: a file, a folder, a glob, `DATABASE#TABLE`, or a table in Python; left out, the specification's source.
        most: the share of an attribute's values that may have no cell of their own.
        progress: called with the number of rows read so far.

    Raises:
        OSError: the rows cannot be read.
        SchemaMismatch: a column is missing; the message names those that look like it.

    >>> import dpress, pyarrow as pa
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 10}
    >>> plain = {"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    >>> dpress.check(plain, pa.table({"age": [31, 35, 620]})).attributes[0].high
    1
    """
    wanted = understood(asked)
    spec = specification_of(wanted)
    kind = catalog.kind(spec.release.kind)
    checking = catalog.room(kind.name).checking
    slots = slots_of(spec, spec.linked) if spec.linked is not None and spec.linked.both else ()
    slotted = {slot.name for slot in slots}
    sides = [side for attribute in spec.schema.attributes if attribute.name not in slotted for side in attribute.sides]
    beside = () if checking is None else checking.beside(spec)
    attributes = (*(_counted(spec, side) for side in sides), *beside)
    written, unit = spec.data or FileFormat(), spec.privacy.protected
    chosen = chosen_rows(spec, source_of(wanted, data), attributes)
    names = tuple(dict.fromkeys(side.read_from for side in attributes))
    compared = () if chosen.rule is None else chosen.rule.columns
    _check_names(chosen.every.source, (*names, *unit.columns, *compared), spec)
    source = named_rows(chosen.rows, written, unit.columns)
    tallies = [_Tally(attribute) for attribute in (() if kind.of_sets else attributes)]
    texts = tuple(name + AS_WRITTEN for name in names) if source.source.as_written else ()
    rows = kept = 0
    for batch in Table(source, (*names, *texts), ROW).batches():
        keeps = np.ones(batch.num_rows, dtype=bool)
        for tally in tallies:
            keeps &= tally.add(batch)
        rows, kept = rows + batch.num_rows, kept + int(keeps.sum())
        if progress is not None:
            progress(rows)
    tallies += _of_persons(slots, chosen.every.source)
    checked = CheckedRows(spec=spec, planned=wanted.design, source=source, progress=progress)
    findings = linked_findings(spec.linked, chosen.every.source)
    findings |= {} if checking is None else checking.findings(checked)
    notes = chosen.every.source.notes() if any(tally.counts["unread"] for tally in tallies) else 0
    refused = [name for finding in findings.values() for name in finding.refused]
    return DataCheck(
        rows=rows,
        kept=kept,
        refused=(*refused, *(tally.attribute.name for tally in tallies if tally.refused)),
        attributes=tuple(tally.found(notes) for tally in tallies),
        persons=None
        if unit.column is None or spec.linked is not None
        else Table(source, names, unit).contributions(CAPS),
        exchanged=tuple(
            place.name for place in spec.schema.attributes if place.box is not None and exchanged(place.box, source)
        ),
        most=most,
        findings=findings,
        unit=unit.name,
        nameless=nameless(chosen.rows, unit.columns) if unit.columns and written.missing_unit == "drop" else 0,
        where=spec.where,
        others=chosen.others,
    )


def _of_persons(slots: Sequence[Slot], source: Source) -> list["_Tally"]:
    """Return the counts of persons' attributes: of records of two tables, those of all slots together."""
    tallies = [_Tally(person) for person in dict.fromkeys(slot.person for slot in slots)]
    for batch in counted_persons(slots, source):
        for tally in tallies:
            tally.add(batch)
    return tallies


def _counted(spec: Spec, side: Tabular) -> Tabular:
    """Return a column as it is counted: of a series, rows of other times than its bounds are in no period."""
    timed = spec.periods is not UNSET and spec.periods.attribute == side.name
    return msgspec.structs.replace(side, outside="drop") if timed else side


def _check_names(source: Source, wanted: tuple[str, ...], spec: Spec) -> None:
    """Refuse a column that is not there, with those whose names look like it."""
    try:
        present = source.columns()
    except OSError as error:
        if error.filename and error.strerror:  # which `refusal` writes
            raise
        raise OSError(f"{error}{source.advice(wanted)}") from None
    for name in wanted:
        if name not in present:
            alike = near(name, present)
            if not alike:
                source.parts(wanted)  # refuses it, and names the others where they are no row of the data
            shown = f"; near it are {', '.join(map(repr, alike))}" if alike else ""
            more = source.advice(wanted) or (_renamed(spec, name, present) if alike else "")
            raise SchemaMismatch(f"the data has no column {name!r}{shown}{more}")


def _renamed(spec: Spec, name: str, present: Sequence[str]) -> str:
    """Return how an attribute is read from columns near in name; empty where no attribute is read from this one."""
    for attribute in spec.schema.attributes:
        if name in attribute.columns:
            columns = [
                column if column in present else [*near(column, present), column][0] for column in attribute.columns
            ]
            stated = [f'"{column}"' for column in columns]
            field = f"column = {stated[0]}" if len(stated) == 1 else f"columns = [{', '.join(stated)}]"
            return f"; {field} of {attribute.name} reads what is there"
    return ""


class _Tally:
    """The counts of one attribute, batch by batch."""

    def __init__(self, attribute: Tabular) -> None:
        self.attribute = attribute
        self.strict = attribute.strict
        self.counts: Counter[str] = Counter()
        self.texts: Counter[str] = Counter()
        self.policies = attribute.policies
        self.as_written = False  # whether [data] says how the values are written

    def add(self, batch: pa.RecordBatch) -> npt.NDArray[np.bool_]:
        """Count a batch; return which rows this attribute keeps."""
        name = self.attribute.read_from
        codes, column = cells_of(self.strict, batch), batch.column(name)
        self.as_written = name + AS_WRITTEN in batch.schema.names
        written = batch.column(name + AS_WRITTEN) if self.as_written else column
        outside, missing = codes == OUTSIDE, codes == MISSING
        unread = missing & ~_blank(written)
        self.counts.update(rows=len(codes), matched=int((codes >= 0).sum()), unread=int(unread.sum()))
        self.counts.update(missing=int((missing & ~unread).sum()))
        if self.attribute.scale is not None:
            low = outside & below(self.attribute.scale, batch)
            self.counts.update(low=int(low.sum()), high=int((outside & ~low).sum()))
        else:
            self.counts.update(other=int(outside.sum()))
            unread = unread | outside
        self._keep(written.filter(pa.array(unread)))
        keeps: npt.NDArray[np.bool_] = ~(
            (outside & (self.policies.outside == DROP)) | (missing & (self.policies.null == DROP))
        )
        return keeps

    def _keep(self, texts: pa.Array) -> None:
        texts = texts.field(objects.TEXT) if texts.type == objects.TYPE else texts
        for text, number in Counter(str(value) for value in texts.to_pylist()).items():
            if text in self.texts or len(self.texts) < KEPT:
                self.texts[text] += number

    @property
    def refused(self) -> bool:
        """Whether a value is one for which the specification refuses the table."""
        outside = self.counts["other"] + self.counts["low"] + self.counts["high"]
        null = self.counts["missing"] + self.counts["unread"]
        return bool((outside and self.policies.outside == REJECT) or (null and self.policies.null == REJECT))

    def found(self, notes: int) -> AttributeCheck:
        """Return the counts, and what is known of values without a cell.

        Args:
            notes: how many of the last lines look like notes and no rows.
        """
        line = "the last line looks like a note" if notes == 1 else f"the last {notes} lines look like notes"
        footer = f"{line}, no rows: footer = {notes} in [data] leaves it out" if notes and self.counts["unread"] else ""
        fields = ("rows", "matched", "other", "missing", "unread", "low", "high")
        texts = tuple(self.texts.most_common(SHOWN))
        return AttributeCheck(
            name=self.attribute.name,
            **{name: self.counts[name] for name in fields},
            policies=self.policies._asdict(),
            texts=texts,
            remedy=footer
            or self.attribute.remedy(self.texts)
            or _remedy(self.attribute, [text for text, _ in texts], as_written=self.as_written),
        )


def _remedy(attribute: Tabular, texts: list[str], *, as_written: bool) -> str:
    """Return what would give the first of the texts a cell that is known to be missed by its writing alone."""
    listing = attribute.listing
    listed = [] if listing is None else [value for value in listing.values if isinstance(value, str)]
    plain = {value.strip().casefold(): value for value in listed}
    for text in texts:
        if as_written and text.strip().casefold() in NO_VALUE:
            return f"{text!r} is a missing value where [data] says so, as null_values = [{text.strip()!r}] does"
        if attribute.calendar is not None and INSTANT.fullmatch(text.strip()):
            return f'{text!r} is an instant, whose day depends on the place: kind = "datetime" with a `zone` reads it'
        if attribute.calendar is not None and (date := OTHER_DATE.match(text.strip())):
            way = date["sign"].join(("%Y", "%m", "%d") if len(date["first"]) > 2 else ("%d", "%m", "%Y"))
            return f'{text!r} is a date where [data] says how it is written, as date_format = "{way}" does'
        if not listed and DECIMAL_COMMA.fullmatch(text.strip()):
            return f'{text!r} is a number where [data] has decimal = ","'
        if (meant := plain.get(text.strip().casefold())) is not None:
            return f"{text!r} is {meant!r} but for blanks or capitals; a listed value matches no other spelling"
    return ""


def _blank(column: pa.Array) -> npt.NDArray[np.bool_]:
    """Return which values are null, not a number, or a text of blanks."""
    null: npt.NDArray[np.bool_] = np.asarray(pc.is_null(column, nan_is_null=True))
    if not is_text(column.type):
        return null
    empty: npt.NDArray[np.bool_] = np.asarray(
        pc.fill_null(pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(column)), 0), True)
    )
    return null | empty
