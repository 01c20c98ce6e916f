"""The rows of a table as they are shown: hidden numbers are null, with a column that says so, and CSV rounds counts.

part, display -> the same rows -> Parquet, with the base in the schema's metadata -> CSV with multiples of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dpress.core.maps.linear import Array
from dpress.inference.postprocess import answers
from dpress.inference.suppression import HIDDEN_COLUMN, Display, Mask, display_of, noise_and_sampling
from dpress.query.counted_rows import CountedRows
from dpress.query.published_tables import ADJUSTED
from dpress.query.released_file import Part

ROUNDED_TO = "rounded_to"  # in the metadata of a table
COUNTED = ("count", "persons", "distinct")  # statistics that are counts, by their first words
SAMPLED = ("sampling_error", "population_low", "population_high")
SIGNED = ("coefficient", "intercept", "covariance", "correlation")  # statistics of either sign, by their first words
STATISTIC, COUNT, VALUE = "statistic", "count", "value"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressedRows:
    """A file of counts or statistics, of which some numbers are not shown.

    Args:
        part: the file.
        display: how its numbers are shown.
        adjusted: whether adjusted counts are the ones that are shown, and so decide.
    """

    part: Part
    display: Display
    adjusted: bool

    @property
    def name(self) -> str:
        """Of the file."""
        return self.part.name

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows: every number of a hidden one is null, and `hidden` true."""
        for batch in self.part.batches():
            shown = self._hidden(batch) if self.display.rules else batch
            base = {ROUNDED_TO: str(self.display.base)} if self.display.base > 1 else {}
            yield shown.replace_schema_metadata({**(shown.schema.metadata or {}), **base})

    def _hidden(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if (value := _measure(batch.schema)) is None:
            return batch
        judged = ADJUSTED if self.adjusted and ADJUSTED in batch.schema.names else value
        number, error, low, high = (_numbers(batch, name) for name in (judged, "standard_error", "low", "high"))
        sampling, *population = (
            _numbers(batch, name) if name in batch.schema.names else np.full(batch.num_rows, np.nan) for name in SAMPLED
        )
        error, ends = noise_and_sampling(error, (low, high), sampling, (population[0], population[1]))
        mask = self.display.hidden(number, error, ends, _counts(batch, number), signed=_signed(batch))
        for place in range(batch.schema.names.index(value), batch.num_columns):
            numbers = _numbers(batch, batch.schema.names[place])
            batch = _replaced(batch, place, numbers, mask | np.isnan(numbers))
        return batch.append_column(HIDDEN_COLUMN, pa.array(mask))


def may_be_zero(statistic: str) -> bool:
    """Say whether 0 is a result of a statistic, so that no error is too large a share of it."""
    return statistic.split(" ", maxsplit=1)[0] in SIGNED


def as_shown(part: Part, counted: str, release: Mapping[str, Any]) -> Part:
    """Return a file of counts as a design shows it.

    Args:
        part: the file.
        counted: what its counts are of, in words; empty where every row is counted.
        release: what the design has under `release`.
    """
    display, adjusted = display_of(release), answers(release["postprocess"])
    rows = CountedRows(part=part, counted=counted) if counted else part
    return rows if display.whole else SuppressedRows(part=rows, display=display, adjusted=adjusted)


def rounded_rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with their counts as multiples of the base that their schema states, and intervals that hold them."""
    base = (batch.schema.metadata or {}).get(ROUNDED_TO.encode())
    if base is None or (value := _measure(batch.schema)) is None:
        return batch
    display, counted = Display(base=int(base)), _of_counts(batch)
    ends = dict(zip(("low", "high"), display.outward((_numbers(batch, "low"), _numbers(batch, "high"))), strict=True))
    for name in (value, ADJUSTED, "low", "high"):
        if name in batch.schema.names:
            place, numbers = batch.schema.names.index(name), _numbers(batch, name)
            shown = np.where(counted, ends[name] if name in ends else display.rounded(numbers), numbers)
            batch = _replaced(batch, place, shown, np.isnan(shown))
    return batch


def _replaced(batch: pa.RecordBatch, place: int, numbers: Array, missing: Mask) -> pa.RecordBatch:
    """Return rows with other numbers in a column, of its type: whole numbers stay so."""
    column = batch.schema.field(place)
    return batch.set_column(place, column, pa.array(numbers, mask=missing).cast(column.type))


def _measure(schema: pa.Schema) -> str | None:
    """Return the column of the number; None of rows that hold none with an interval."""
    number = VALUE if STATISTIC in schema.names else COUNT
    return number if {number, "standard_error", "low", "high"} <= {*schema.names} else None


def _numbers(batch: pa.RecordBatch, name: str) -> Array:
    return np.asarray(batch.column(name).to_numpy(zero_copy_only=False), dtype=np.float64)


def _of_counts(batch: pa.RecordBatch) -> Mask:
    """Return which rows hold a count."""
    if STATISTIC not in batch.schema.names:
        return np.ones(batch.num_rows, dtype=np.bool_)
    return np.array([name.split(" ")[0] in COUNTED for name in batch.column(STATISTIC).to_pylist()], dtype=np.bool_)


def _signed(batch: pa.RecordBatch) -> Mask:
    """Return which rows hold a statistic that 0 is a result of."""
    if STATISTIC not in batch.schema.names:
        return np.zeros(batch.num_rows, dtype=np.bool_)
    return np.array([*map(may_be_zero, batch.column(STATISTIC).to_pylist())], dtype=np.bool_)


def _counts(batch: pa.RecordBatch, number: Array) -> Array | None:
    """Return how many each row is about: of statistics the count of its group, all of which stand together."""
    if STATISTIC not in batch.schema.names:
        return number
    names = batch.column(STATISTIC).to_pylist()
    if COUNT not in names:
        return None
    return np.repeat(number[[name == COUNT for name in names]], len({*names}))
