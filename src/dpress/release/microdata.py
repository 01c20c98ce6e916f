"""A release of records: made up by a method from noisy sums, or, by a published one, row by row.

records -> codes -> how many match a query.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dpress.core.attribute import Listed, Tabular
from dpress.core.claim import parameters
from dpress.core.domain import Schema
from dpress.core.errors import SchemaMismatch
from dpress.core.linear import Identity, Numbers
from dpress.core.measurement import Measurement
from dpress.core.mechanism import Synthetic
from dpress.core.people import Codes
from dpress.core.rng import Generator
from dpress.release.artifact import Release, Result
from dpress.release.folder import Progress, write_folder
from dpress.release.microdata_plan import UNIT, RecordMaker
from dpress.release.query import parse
from dpress.release.records import Made, values
from dpress.release.tables import CONFIDENCE

Parts = tuple[tuple[int, float], ...]
NOTE = "Counted in synthetic records: no error is known for it."
UNPROVEN = "The records come from a method whose published claim has no proof."


@dataclass(frozen=True, kw_only=True, repr=False)
class MicrodataRelease(Release):
    """Finished records; everything in it may be published.

    Args:
        table: the records in the attributes' own values, a column for every attribute.
        parts: of what was measured, the number of noisy answers and their variance, one after the other.
        aligned: whether record i stands for row i of the table, as methods without a proof have it.
    """

    table: pa.Table
    parts: Parts
    aligned: bool = False

    @property
    def maker(self) -> RecordMaker:
        """What made the records."""
        maker = self.planned.chosen.mechanism
        assert isinstance(maker, RecordMaker)  # noqa: S101  # every release of records has one
        return maker

    @cached_property
    def codes(self) -> Codes:
        """The cells of the records, shape (attributes, records)."""
        return coded(self.schema.tabular, self.table)

    def query(self, text: str, *, confidence: float = CONFIDENCE, progress: Progress | None = None) -> Result:
        """Count the records that match a query such as `age in 30..40 and sex = Female`.

        Error: not known. What noise does to a sum of records has no formula, and what clusters or a model leave out is
        no noise. The standard error and the ends of the interval are NaN.

        Args:
            text: the query.
            confidence: not used: there is no interval.
            progress: not used.

        Raises:
            ValueError: the text is no query on these attributes (see `query.parse`).
        """
        del progress
        matches = np.ones(self.table.num_rows)
        for weights, own in zip(parse(self.schema, text), self.codes, strict=True):
            matches *= weights[own]
        note = NOTE if self.claim.proven is not None else f"{NOTE} {UNPROVEN}"
        return Result(
            query=text,
            value=float(matches.sum()),
            standard_error=math.nan,
            interval=(math.nan, math.nan),
            confidence=confidence,
            note=note,
        )

    def published(self) -> Iterator[Any]:
        """Yield no table: the records are what is published."""
        yield from ()

    def manifest(self) -> dict[str, Any]:
        """Return the release's description as plain objects, without the records."""
        predicted = self.planned.chosen.predicted_error
        error = {"predicted": predicted if math.isfinite(predicted) else None, "unit": UNIT}
        return {**super().manifest(), "error": error}

    def _mechanism(self) -> dict[str, Any]:
        return {
            "parameters": self.maker.parameters,
            "noise": {name: str(value) for name, value in parameters(self.maker.loss).items()},
            "measured": [[*part] for part in self.parts],
            "records": self.table.num_rows,
            "aligned": self.aligned,
        }

    def write(self, path: Any, *, progress: Progress | None = None, refitted: Progress | None = None) -> Any:
        """Write the release to a new folder, whole or not at all, and return it; see `Release.write`."""
        del refitted
        records = (Made(table=self.table),)
        assert self.kept is not None  # noqa: S101  # of every release of records
        return write_folder(path, self.manifest(), self.kept, records, progress=progress)


def finished(synthetic: Synthetic, *, rng: Generator, **about: Any) -> MicrodataRelease:
    """Return the release of what a method released; values are drawn evenly within cells that are wider.

    Args:
        synthetic: the records and what was measured.
        rng: the generator; nothing private is drawn.
        about: the other arguments of a release.
    """
    about["table"] = pa.table(values(about["spec"].schema.tabular, synthetic.codes, rng=rng))
    kept = np.zeros(0, dtype=np.int64) if synthetic.measurement is None else synthetic.measurement.answers
    parts = parts_of(synthetic)
    return MicrodataRelease(
        measurement=measured(kept, parts), kept=kept, parts=parts, aligned=synthetic.aligned, **about
    )


def parts_of(synthetic: Synthetic) -> Parts:
    """Return how many noisy answers each part of what was measured has, and their variance; nothing of baselines."""
    found = synthetic.measurement.parts if synthetic.measurement is not None else ()
    return tuple((part.map.rows, float(np.max(part.variance))) for part in found)


def measured(kept: Numbers, parts: Parts) -> Measurement:
    """Return the noisy answers with their variance, as they are published; one that nobody measured for baselines.

    Raises:
        SchemaMismatch: the parts are not those of the answers.
    """
    if sum(rows for rows, _ in parts) != kept.size:
        raise SchemaMismatch("`measured` does not add up to the number of noisy answers")
    if not parts:
        return Measurement(map=Identity(1), answers=np.zeros(1, dtype=np.int64), variance=math.inf)
    rows, variances = zip(*parts, strict=True)
    return Measurement(map=Identity(kept.size), answers=kept, variance=np.repeat(variances, rows))


def coded(axes: Sequence[Tabular], table: pa.Table) -> Codes:
    """Return the cells of records, shape (attributes, records).

    Raises:
        SchemaMismatch: a column is missing, or holds what is no value of its attribute.
    """
    if tuple(table.column_names) != tuple(axis.name for axis in axes):
        raise SchemaMismatch("the records' columns are not the attributes of the specification")
    return np.stack([_coded(axis, table.column(axis.name).combine_chunks()) for axis in axes])


def _coded(axis: Tabular, column: pa.Array) -> Codes:
    import pyarrow.compute as pc  # noqa: PLC0415  # with the codec: only records are coded

    from dpress.data.codec import encode  # noqa: PLC0415

    if isinstance(axis, Listed):
        found = pc.index_in(column, value_set=pa.array(axis.labels, type=pa.string()))
        if found.null_count:
            raise SchemaMismatch(f"the records' column {axis.name} holds what is no value of it")
        return np.asarray(found, dtype=np.int32)
    return np.asarray(encode(Schema((axis,)), pa.record_batch({axis.name: column}))[0])
