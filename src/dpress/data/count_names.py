"""How often every name occurs in a column that has no list: by the engine that has the rows, or batch by batch.

batch -> names as texts in UTF-8, null where there is none -> `counted_names`. It takes memory for every different name,
and where persons are counted here for every person and every pair of a person and a name; rows are never held. A
database counts by itself, and only names and counts leave it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.attribute import Attribute
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.policy import DROP, REJECT
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.methods.name_counts import LONGEST_NAME, CountNames, NameCounts
from dpress.data.add_up import Progress
from dpress.data.codec.codec import texts_of
from dpress.data.counted_names import COUNT, NAME, SCHEMA, SIZE, counted_names
from dpress.data.persons.person_columns import persons_of
from dpress.data.persons.person_index import PersonIndex, fresh_key
from dpress.data.sources.source import without_quotes
from dpress.data.table import Table


def name_counts(
    attribute: Attribute,
    source: Any,
    unit: Unit,
    *,
    weights: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> NameCounts:
    """Return the counts of all names, counted once; see `name_counting`."""
    return name_counting(attribute, source, unit, progress=progress)(weights, None)


def name_counting(attribute: Attribute, source: Any, unit: Unit, *, progress: Progress | None = None) -> CountNames:
    """Return what counts how many rows have each name; of a unit of persons, how many persons among rows they keep.

    Which rows a person keeps is drawn once, whatever is counted of them.
    A name is a text of 1 to 256 bytes in UTF-8 that is not what the rest is called (`other`); names are the same where
    their bytes are; an integer or a truth is the text that it is written as, whatever holds it. What is none counts
    without a name, a missing value only where the specification does not drop it.
    A row, or each of the different names of a person, adds 1 to one count: a unit changes at most `unit.rows`. Where
    there are weights it adds that of as many names as the person has, and what has no name adds nothing. Where only
    some names are counted, it is as if there were no others; no statement counts these: rows are read, on Spark by its
    workers. Where no engine is asked for, what a statement of DuckDB counts of a file is counted by it.

    Args:
        attribute: whose values are discovered.
        source: the rows, as `open_source` takes or returns them.
        unit: whom the promise protects; it bounds the rows of a person.
        progress: called with the number of rows done so far.

    Raises:
        OSError: the rows cannot be read.
        SchemaMismatch: there is no such column, its type holds no names, or a value is missing that may not be.
    """
    if (listing := attribute.listing) is None:
        raise TypeError(f"{attribute.name} has no names")
    table = Table(source, (listing.read_from, *unit.columns), unit).drawn()
    return partial(_counts, listing, table, unit=unit, progress=progress)


def _counts(
    listing: Categorical,
    table: Table,
    weights: Sequence[int] | None,
    among: Sequence[str] | None,
    *,
    unit: Unit,
    progress: Progress | None,
) -> NameCounts:
    """Return exact counts of a table whose rows are drawn; see `CountNames`."""
    if among is None and table.in_sql:
        from dpress.data.sql_names import sql_names  # noqa: PLC0415  # sqlglot takes a while to import

        if (answers := sql_names(table, listing, unit.columns, sizes=weights is not None)) is not None:
            sizes = [SIZE] if answers.num_columns > 2 else []
            return _by_name(_weighed(answers.rename_columns([NAME, *sizes, COUNT]), weights))
    counting = _Counting(listing=listing, unit=unit, weights=weights, among=among, name=table.name)
    if table.engine == "spark":
        from dpress.data.spark.spark_names import spark_names  # noqa: PLC0415  # only where Spark counts

        if (sums := spark_names(table, unit.columns, counting, progress=progress)) is not None:
            return _by_name(sums)
    return _by_name(counting(_noted(table.batches(), progress)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counting:
    """What counts the names of batches that have all rows of their persons; see `CountNames` for weights and among."""

    listing: Categorical
    unit: Unit
    weights: Sequence[int] | None
    among: Sequence[str] | None
    name: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> pa.Table:
        """Return names, null for none, and the sum of weights of each."""
        index = PersonIndex(key=fresh_key())
        named = (
            without_quotes(self.name, lambda batch=batch: self._named(index, batch))  # type: ignore[misc]
            for batch in batches
        )
        persons, sizes = self.unit.column is not None, self.weights is not None
        return _weighed(counted_names(self.name, named, persons=persons, sizes=sizes), self.weights)

    def _named(self, index: PersonIndex, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the name of every row of a batch that counts, null for none, and its person, 0 where there is none."""
        listing, among = self.listing, self.among
        texts = texts_of(listing.read_from, batch)
        missing = texts.is_null()
        if listing.null in (DROP, REJECT) and pc.any(missing).as_py():
            if listing.null == REJECT:
                raise SchemaMismatch(f"attribute {listing.name}: a value is missing; say what to do in `null`")
            batch, texts = batch.filter(pc.invert(missing)), texts.filter(pc.invert(missing))
        lengths = pc.binary_length(texts)
        fits = pc.and_(pc.greater(lengths, 0), pc.less_equal(lengths, LONGEST_NAME))
        fits = pc.and_(fits, pc.invert(pc.is_in(texts, value_set=pa.array(listing.extra, type=texts.type))))
        if among is not None:
            fits = pc.fill_null(pc.and_(fits, pc.is_in(texts, value_set=pa.array(among, type=texts.type))), False)
            batch, texts, fits = batch.filter(fits), texts.filter(fits), fits.filter(fits)
        names = pc.if_else(pc.fill_null(fits, False), texts, pa.scalar(None, texts.type)).cast(pa.large_string())
        if self.unit.column is None:
            return pa.record_batch([names, pa.array(np.zeros(len(names), dtype=np.int64))], schema=SCHEMA)
        return pa.record_batch([names, index.numbers(persons_of(self.unit.columns, batch))], schema=SCHEMA)


def _noted(batches: Iterable[pa.RecordBatch], progress: Progress | None) -> Iterator[pa.RecordBatch]:
    rows = 0
    for batch in batches:
        yield batch
        rows += batch.num_rows
        if progress is not None:
            progress(rows)


def _weighed(answers: pa.Table, weights: Sequence[int] | None) -> pa.Table:
    """Return names and the sums of weights; a person counts once for a name, and what has no name for nothing."""
    if weights is None:
        return answers
    sizes = np.asarray(answers[SIZE]) if SIZE in answers.column_names else np.ones(answers.num_rows, dtype=np.int64)
    sizes = sizes * np.asarray(pc.is_valid(answers[NAME]))
    times = np.asarray(answers[COUNT]) * np.array([0, *weights], dtype=np.int64)[sizes]
    summed = pa.table({NAME: answers[NAME], COUNT: times}).group_by(NAME, use_threads=False)
    return summed.aggregate([(COUNT, "sum")]).rename_columns([NAME, COUNT])


def _by_name(counts: pa.Table) -> NameCounts:
    """Return the counts of names that are all different."""
    named = counts.filter(pc.is_valid(counts[NAME])).sort_by(NAME)
    numbers = np.asarray(named[COUNT].combine_chunks(), dtype=np.int64)
    unnamed = int(np.asarray(counts[COUNT]).sum() - numbers.sum())
    return NameCounts(names=tuple(named[NAME].to_pylist()), counts=numbers, unnamed=unnamed)
