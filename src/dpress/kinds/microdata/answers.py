"""A release of records: made up by a method from noisy sums, or, by a published one, row by row.

records -> codes -> how many match a query.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.plain import plain
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array, Identity, Numbers
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Mechanism, SyntheticRecords
from dpress.core.methods.people import Codes
from dpress.data.codec.codec import encode
from dpress.inference.interval import critical, half_width
from dpress.inference.row_count import RowCount
from dpress.kinds.microdata.drawn_again import drawn_again
from dpress.kinds.microdata.linked_records import Linking, linking
from dpress.kinds.microdata.occupied_slots import THERE, Slots, among, as_ratio, counted, with_numbers
from dpress.mechanisms.microdata.record_maker import RecordMaker
from dpress.mechanisms.microdata.record_rules import NONE, Rules
from dpress.query.answering import Answering
from dpress.query.answers import KeptAnswers, Progress
from dpress.query.boxes import products
from dpress.query.cell_table import Counted, without_error
from dpress.query.folder import columns
from dpress.query.linear_forms import Compared, Group
from dpress.query.product_answers import ProductAnswers
from dpress.query.published_tables import CONFIDENCE
from dpress.query.query_tree import TOTAL, Condition, Query
from dpress.query.record_files import NAME, Written, values
from dpress.query.record_source import RecordSource
from dpress.query.relation_grammar import relation
from dpress.query.release import Release
from dpress.query.released_file import Part
from dpress.query.result import Result
from dpress.query.schema_queries import conditions_of
from dpress.query.sources import Source
from dpress.query.statistics import answer
from dpress.query.table_forms import ProductSums

Measured = tuple[tuple[int, float], ...]
LONGEST = 1 << 16  # bytes of texts for every byte of their file, where there are more than FEW_BYTES
FEW_BYTES = 1 << 28
NOTE = "Counted in synthetic records: no error is known for it."
OF_ALL = "The interval is that of the number of rows; there are as many records, rounded and at least 0."
UNPROVEN = "The records come from a method whose published claim has no proof."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordTable:
    """Records, and what was measured to make them.

    Args:
        table: the records in the attributes' own values, a column for every attribute.
        measured: of what was measured, the number of noisy answers and their variance, one after the other.
        aligned: whether record i is about row i of the table, as methods without a proof have it.
        rows: how many rows there are, as far as it is published; None where records are not made for that number, and
            of older releases.
    """

    table: pa.Table
    measured: Measured
    aligned: bool = False
    rows: RowCount | None = None


@dataclass(frozen=True, kw_only=True)
class Answers(ProductAnswers):
    """Counts of records."""

    @property
    def made(self) -> RecordTable:
        """The records."""
        made: RecordTable = self.release.detail
        return made

    @property
    def maker(self) -> RecordMaker:
        """What made the records."""
        return cast("RecordMaker", self.release.mechanism)

    @cached_property
    def codes(self) -> Codes:
        """The cells of the records, shape (attributes, records)."""
        return coded(self.release.schema.tabular, self.made.table)

    @cached_property
    def linking(self) -> Linking | None:
        """The two tables that the records are of; None where they are of one."""
        return linking(self.release.design)

    @property
    def measurement(self) -> Measurement | None:
        """The noisy answers behind the records with their variance; None for published baselines, which have none."""
        return measurement(self.release.kept, self.made.measured)

    def count(self, condition: Condition, *, text: str, confidence: float, progress: Progress | None) -> Result:
        """Count the records that match a condition such as `age in 30..40 and sex = Female`.

        Error: not known. What noise does to a sum of records has no formula, and what clusters or a model leave out is
        no noise. The standard error and the ends of the interval are NaN. Of all records together they are those of
        the number of rows, which is estimated without bias and with an exact error, or public.

        Args:
            condition: of the records.
            text: as it was asked.
            confidence: of the number of rows; there is no other interval.
            progress: not used.

        Raises:
            ValueError: a test of the condition names no cells.
        """
        del progress
        boxes, rows = products(self.release.schema, among(self.slots, condition)), self.made.rows
        if rows is not None and all(np.all(along == 1) for weights in boxes for along in weights):
            half = half_width(rows.variance, confidence, self.release.tail)
            estimated = Result.of_count(text, rows.value, rows.variance, half, confidence, OF_ALL)
            return replace(estimated, value=self._matching(boxes[0]))
        return Result(
            query=text,
            value=sum(map(self._matching, boxes)),
            standard_error=math.nan,
            interval=(math.nan, math.nan),
            confidence=confidence,
            note=" ".join((*self._notes, *self._of_slots(test.attribute for test in condition.tests))),
        )

    @cached_property
    def slots(self) -> Slots:
        """Of every slot of integers, the condition that somebody is in it."""
        return counted(self.linking.slots) if self.linking is not None else {}

    def _of_slots(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return that slots are of persons who are there, where some attributes are slots."""
        return (THERE,) if any(name in self.slots for name in names) else ()

    def group(self, attribute: str, where: Condition | None, progress: Progress | None = None) -> Group:
        """Return weighted sums of one attribute's cells; of a slot those that somebody is in."""
        group = super().group(attribute, with_numbers(self.slots, [attribute], where), progress)
        tested = (test.attribute for test in (where or TOTAL).tests)
        return replace(group, notes=(*group.notes, *self._of_slots((attribute, *tested))))

    def compared(self, first: Condition, second: Condition, progress: Progress | None = None) -> Compared:
        """Return two counts; of slots those that somebody is in."""
        compared = super().compared(among(self.slots, first), among(self.slots, second), progress)
        tested = (test.attribute for each in (first, second) for test in each.tests)
        return replace(compared, notes=(*compared.notes, *self._of_slots(tested)))

    def statistic(self, query: Query, text: str, confidence: float) -> Result | None:
        """Answer a relation or a share, of slots that somebody is in; None for what follows from counts as it is."""
        if query.of == "share" and self.slots:
            return replace(answer(as_ratio(self.slots, query), self, confidence, text=text), of="share")
        if query.of != "relation":
            return None
        names = relation(self.release.schema.names, query.attribute).attributes
        rows = with_numbers(self.slots, names, query.where)
        result = super().statistic(replace(query, where=rows), text, confidence)
        return result and replace(result, note=" ".join(filter(None, (result.note, *self._of_slots(names)))))

    def answering(self, weights: list[Array], text: str, progress: Progress | None = None) -> ProductSums:
        """Return who counts records with weights; no error is known of what they add up to."""
        del weights, text, progress
        return ProductSums(
            form=lambda box: (self._matching(box), math.nan),
            several=lambda boxes: (sum(map(self._matching, boxes)), math.nan),
            critical=lambda confidence: critical(confidence, "gaussian"),
            notes=self._notes,
            symmetric=True,  # there is no error that could depend on another
            cells=self._cells_of,
        )

    def _cells_of(self, axes: tuple[int, ...]) -> Counted:
        """Return how many records every combination of some attributes' cells has; no error is known of it."""
        shape = tuple(self.release.schema.shape[axis] for axis in axes)
        places = np.ravel_multi_index(tuple(self.codes[axis] for axis in axes), shape)
        counts = np.bincount(places, minlength=math.prod(shape)).reshape(shape)
        return counts.astype(np.float64), without_error

    def _matching(self, weights: list[Array]) -> float:
        """Return the records' weights, added up."""
        matches = np.ones(self.made.table.num_rows)
        for along, codes in zip(weights, self.codes, strict=True):
            matches *= along[codes]
        return float(matches.sum())

    @property
    def _notes(self) -> tuple[str, ...]:
        return (NOTE,) if self.release.claim.proven is not None else (NOTE, UNPROVEN)

    def record_source(self, where: str) -> RecordSource:
        """Return what draws records that fulfil a condition: of those that were made, with replacement."""
        schema = self.release.schema
        condition = among(self.slots, conditions_of(schema, where)) if where else None
        apart = None if self.linking is None else partial(self.linking.rows, rules=self.maker.rules)
        return drawn_again(schema, self.made.table, self.codes, condition, key=key_of(self.release), apart=apart)

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """No table: the records are what is published."""
        return {}

    def published(self) -> Iterator[Part]:
        """Yield no table: the records are what is published."""
        yield from ()

    def sources(self, query: Query) -> tuple[Source, ...]:
        """Return the records that a query counts."""
        del query
        return (
            Source(file=NAME, attributes=self.release.schema.names, parts=self.made.table.num_rows, unit="records"),
        )

    @property
    def beside(self) -> Mapping[str, str]:
        """The records; of two tables, those of each, too."""
        return {"records": NAME, **(self.linking.files if self.linking else {})}

    @property
    def announced(self) -> tuple[str, ...]:
        """The records, how many and in which order."""
        order = "in the order of the rows" if self.made.aligned else "shuffled"
        records = [f"Records: {NAME}: {self.made.table.num_rows:,}, {order}"]
        records += [f"Records: {self.beside[name]}: {number:,}" for name, number in self._linked.items()]
        rows = [] if self.made.rows is None else [f"Rows:    {self._rows_in_words(self.made.rows)}"]
        return (*records, *rows)

    @property
    def _linked(self) -> dict[str, int]:
        """How many records there are of each of two tables, by what the release calls it."""
        if self.linking is None:
            return {}
        numbers = (self.made.table.num_rows, self.linking.persons(self.release.schema.names, self.codes))
        return dict(zip(self.linking.files, numbers, strict=True))

    def _rows_in_words(self, rows: RowCount) -> str:
        if not rows.variance:
            return f"{rows.value:,.0f}; the number is public"
        half = half_width(rows.variance, CONFIDENCE, self.release.tail)
        return f"{rows.value:,.0f} +- {half:,.0f}, estimated without bias; a file has no fewer than 0"

    @property
    def described(self) -> Mapping[str, Any]:
        """The parameters, what was measured, the number and the order of the records, and the number of rows."""
        return {
            "parameters": plain(self.maker.parameters),
            "measured": [[*part] for part in self.made.measured],
            "records": self.made.table.num_rows,
            "aligned": self.made.aligned,
            **self._linked,
            **({} if self.made.rows is None else {"rows": self._described_rows(self.made.rows)}),
        }

    def _described_rows(self, rows: RowCount) -> dict[str, float]:
        """Return the number of rows with its error, under the names of a table's columns."""
        half = half_width(rows.variance, CONFIDENCE, self.release.tail)
        ends = {"low": rows.value - half, "high": rows.value + half}
        return {"count": rows.value, "standard_error": math.sqrt(rows.variance), **ends}

    def by_attributes(self) -> Iterator[tuple[tuple[str, ...], Part]]:
        """Yield the records with the names of their attributes."""
        yield self.release.schema.names, Written(table=self.made.table)

    def parts(self, *, progress: Progress | None) -> Iterator[Part]:
        """Yield the records; of two tables, those of each, too."""
        del progress
        yield Written(table=self.made.table, key=key_of(self.release))
        if self.linking is not None:
            for file, table in self.linking.rows(self.made.table, self.codes, self.maker.rules).items():
                yield Written(table=table, name=file)


def measured(mechanism: Mechanism, drawn: SyntheticRecords, schema: Schema, rng: Generator) -> KeptAnswers:
    """Return what is kept of the records; values are drawn evenly within cells that are wider.

    Args:
        mechanism: that made them.
        drawn: the records and what was measured.
        schema: of the records.
        rng: the generator; nothing private is drawn.
    """
    rules: Rules = getattr(mechanism, "rules", NONE)
    numbers = rules.numbers(drawn.codes, rng=rng)
    table = pa.table(values(schema.tabular, drawn.codes, rng=rng, numbers=numbers))
    answers = np.zeros(0, dtype=np.int64) if drawn.measurement is None else drawn.measurement.answers
    parts = parts_of(drawn)
    rows = _row_count(mechanism, answers, parts, table.num_rows)
    return KeptAnswers(
        answers=answers, detail=RecordTable(table=table, measured=parts, aligned=drawn.aligned, rows=rows)
    )


def _row_count(mechanism: Mechanism, kept: Numbers, parts: Measured, records: int) -> RowCount | None:
    """Return the number of rows that records were made for, from the noisy answers that are published."""
    if not isinstance(mechanism, RecordMaker):
        return None
    ends = np.cumsum([rows for rows, _ in parts])[:-1]
    return mechanism.row_count([float(part.sum()) for part in np.split(kept, ends)], records)


def restored(release: Release, description: Mapping[str, Any], folder: Path) -> RecordTable:
    """Return the records of a folder.

    Raises:
        SchemaMismatch: they are not those that the description names, or a value is none of its attribute.
    """
    axes = release.schema.tabular
    texts = [axis.name for axis in axes if axis.line is None]
    table, aligned = columns(folder / NAME, texts=texts), description["aligned"]
    table = table.drop_columns([key] if (key := key_of(release)) in table.column_names else [])
    if table.num_rows != description["records"] or type(aligned) is not bool:
        raise SchemaMismatch("`records` is not the number of records")
    parts = msgspec.convert(description["measured"], Measured)
    measurement(release.kept, parts)
    most = max(FEW_BYTES, LONGEST * (folder / NAME).stat().st_size)
    rows = _row_count(release.mechanism, release.kept, parts, table.num_rows) if "rows" in description else None
    return RecordTable(table=_written_out(axes, table, most), measured=parts, aligned=aligned, rows=rows)


def key_of(release: Release) -> str:
    """Return the column of the made-up key; empty without one."""
    constraints = release.design.specification.get("constraint", ())
    return next((str(each["unique"]) for each in constraints if "unique" in each), "")


def parts_of(synthetic: SyntheticRecords) -> Measured:
    """Return how many noisy answers each part of what was measured has, and their variance; nothing of baselines."""
    parts = synthetic.measurement.parts if synthetic.measurement is not None else ()
    return tuple((part.map.rows, float(np.max(part.variance))) for part in parts)


def measurement(kept: Numbers, parts: Measured) -> Measurement | None:
    """Return the noisy answers with their variance, as they are published; None where nothing was measured.

    Raises:
        SchemaMismatch: the parts are not those of the answers.
    """
    if sum(rows for rows, _ in parts) != kept.size:
        raise SchemaMismatch("`measured` does not add up to the number of noisy answers")
    if not parts:
        return None
    rows, variances = zip(*parts, strict=True)
    return Measurement(map=Identity(kept.size), answers=kept, variance=np.repeat(variances, rows))


def _written_out(axes: Sequence[Tabular], table: pa.Table, most: int) -> pa.Table:
    """Return records that were read with each text once, with their texts.

    Raises:
        SchemaMismatch: a value is none of its attribute, or a column takes more than so many bytes.
    """
    for place, (axis, codes) in enumerate(zip(axes, coded(axes, table), strict=True)):
        if axis.line is None:
            labels = pa.array(axis.labels, type=pa.string())
            lengths = np.asarray(pc.binary_length(labels), dtype=np.int64)
            if int(lengths[codes].sum()) > most:
                raise SchemaMismatch(f"the records' column {axis.name} is far larger than its file")
            table = table.set_column(place, axis.name, labels.take(pa.array(codes)))
    return table


def coded(axes: Sequence[Tabular], table: pa.Table) -> Codes:
    """Return the cells of records, shape (attributes, records).

    Raises:
        SchemaMismatch: a column is missing, or holds what is no value of its attribute.
    """
    if tuple(table.column_names) != tuple(axis.name for axis in axes):
        raise SchemaMismatch("the records' columns are not the attributes of the specification")
    return np.stack([_coded(axis, table.column(axis.name).combine_chunks()) for axis in axes])


def _coded(axis: Tabular, column: pa.Array) -> Codes:
    if axis.line is None:
        labels, listed = pa.array(axis.labels, type=pa.string()), pa.types.is_dictionary(column.type)
        codes = pc.index_in(column.dictionary if listed else column, value_set=labels)
        codes = codes.take(column.indices) if listed else codes
        if codes.null_count:
            raise SchemaMismatch(f"the records' column {axis.name} holds what is no value of it")
        return np.asarray(codes, dtype=np.int32)
    return np.asarray(encode(Schema((axis,)), pa.record_batch({axis.read_from: column}))[0])


ANSWERING = Answering(answers=Answers, measured=measured, restored=restored)
