"""How often every name occurs in a column that has no list: by the engine that has the rows, or batch by batch.

batch -> names as texts in UTF-8, null where there is none -> Arrow's counts by name -> sums. It takes memory for every
different name (its bytes, 8 for the count, and Arrow's table of both), and where persons are counted here for every
pair of a person and a name; rows are never held. A database counts by itself, and only names and counts leave it.
"""

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
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
from dpress.data.persons.person_columns import PersonColumn, persons_of
from dpress.data.sources.source import without_quotes
from dpress.data.table import Table

NAME, PERSON, SIZE, COUNT = "name", "person", "size", "count"
WAITING = 1 << 22  # rows of counts that are added up at once


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
    some names are counted, it is as if there were no others; no engine counts these: rows are read.

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
    if table.engine != "threads" and among is None:
        from dpress.data.sql_names import sql_names  # noqa: PLC0415  # sqlglot takes a while to import

        if (answers := sql_names(table, listing, unit.columns, sizes=weights is not None)) is not None:
            sizes = [SIZE] if answers.num_columns > 2 else []
            return _by_name(answers.rename_columns([NAME, *sizes, COUNT]), weights)
    kept: list[pa.Table] = []
    waiting = rows = 0
    for batch in table.batches():
        counted = without_quotes(table.name, lambda batch=batch: _counted(listing, unit, batch, among))  # type: ignore[misc]
        kept += [counted] if counted.num_rows else []  # a column without values does not say how persons are compared
        rows, waiting = rows + batch.num_rows, waiting + counted.num_rows
        if waiting > WAITING:
            kept = [_added(kept)]
            waiting = -kept[0].num_rows
        if progress is not None:
            progress(rows)
    return _by_name(_added(kept), weights)


def _counted(attribute: Categorical, unit: Unit, batch: pa.RecordBatch, among: Sequence[str] | None) -> pa.Table:
    """Return the rows of a batch by name, and by person where there are persons."""
    texts = texts_of(attribute.read_from, batch)
    missing = texts.is_null()
    if attribute.null in (DROP, REJECT) and pc.any(missing).as_py():
        if attribute.null == REJECT:
            raise SchemaMismatch(f"attribute {attribute.name}: a value is missing; say what to do in `null`")
        batch, texts = batch.filter(pc.invert(missing)), texts.filter(pc.invert(missing))
    lengths = pc.binary_length(texts)
    fits = pc.and_(pc.greater(lengths, 0), pc.less_equal(lengths, LONGEST_NAME))
    fits = pc.and_(fits, pc.invert(pc.is_in(texts, value_set=pa.array(attribute.extra, type=texts.type))))
    if among is not None:
        fits = pc.fill_null(pc.and_(fits, pc.is_in(texts, value_set=pa.array(among, type=texts.type))), False)
        batch, texts, fits = batch.filter(fits), texts.filter(fits), fits.filter(fits)
    names = pc.if_else(pc.fill_null(fits, False), texts, pa.scalar(None, texts.type))
    if unit.column is None:
        return _added([pa.table({NAME: names, COUNT: pa.array(np.ones(len(names), dtype=np.int64))})])
    return _added([pa.table({NAME: names, PERSON: _persons(persons_of(unit.columns, batch))})])


def _persons(persons: PersonColumn) -> pa.Array:
    """Return persons by what they are compared by."""
    if persons.rows == persons.words.size:
        return pa.array(persons.words)
    content = persons.content.tobytes()
    parts = [content[low:high] for low, high in itertools.pairwise(persons.ends.tolist())]
    return pa.array(parts, type=pa.large_binary())


def _added(parts: list[pa.Table]) -> pa.Table:
    """Return the sums of counts by name; of names and persons each pair once."""
    if not parts:
        return pa.table({NAME: pa.array([], pa.large_string()), COUNT: pa.array([], pa.int64())})
    together = pa.concat_tables(parts)
    if PERSON in together.column_names:
        name, person = (together[key].combine_chunks().dictionary_encode("encode") for key in (NAME, PERSON))
        places = np.asarray(name.indices, dtype=np.int64) * len(person.dictionary) + np.asarray(person.indices)
        return together.take(pa.array(np.unique(places, return_index=True)[1]))
    summed = together.group_by(NAME, use_threads=False).aggregate([(COUNT, "sum")])
    return summed.select([NAME, f"{COUNT}_sum"]).rename_columns([NAME, COUNT])


def _by_name(answers: pa.Table, weights: Sequence[int] | None) -> NameCounts:
    """Return the counts of names, or the sums of weights; a person counts once for a name."""
    times = np.asarray(answers[COUNT]) if COUNT in answers.column_names else np.ones(answers.num_rows, dtype=np.int64)
    if weights is not None:
        times = times * np.array([0, *weights], dtype=np.int64)[_sizes(answers)]
    summed = _added([pa.table({NAME: answers[NAME], COUNT: pa.array(times)})])
    named = summed.filter(pc.is_valid(summed[NAME])).sort_by(NAME)
    counts = np.asarray(named[COUNT].combine_chunks(), dtype=np.int64)
    return NameCounts(names=tuple(named[NAME].to_pylist()), counts=counts, unnamed=int(times.sum() - counts.sum()))


def _sizes(answers: pa.Table) -> npt.NDArray[np.int64]:
    """Return how many names the unit of every row has, 0 where the row has none."""
    named = np.asarray(pc.is_valid(answers[NAME]), dtype=np.int64)
    if SIZE in answers.column_names:
        return named * np.asarray(answers[SIZE], dtype=np.int64)
    if PERSON not in answers.column_names:
        return named
    person = np.asarray(answers[PERSON].combine_chunks().dictionary_encode("encode").indices, dtype=np.int64)
    return named * np.bincount(person, weights=named).astype(np.int64)[person]
