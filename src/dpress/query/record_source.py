"""What synthetic records are drawn from: a joint distribution, or what is left of it under a condition.

joint or records of a release, condition -> batches of records. It costs no privacy.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.inference.joint.factors import Boxes, Joint
from dpress.inference.postprocess import norm_sub
from dpress.query.boxes import products
from dpress.query.record_files import BATCH, Written, values, with_key

MOST_KEYS = 1 << 52
NOTHING = "holds of no record of what the release publishes"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSource:
    """What records are drawn from.

    Args:
        axes: the attributes, a column for each.
        draw: returns so many records.
        note: what the records are, a sentence; empty where they are independent draws from a distribution.
        key: a column of made-up numbers, from 1; none where it is empty.
        tables: returns the rows of two tables, by their files, of so many records behind others; None for one table.
    """

    axes: tuple[Tabular, ...]
    draw: Callable[[int, Generator], pa.RecordBatch]
    note: str = ""
    key: str = ""
    tables: Callable[[int, Generator, int], Mapping[str, pa.Table]] | None = None

    @property
    def columns(self) -> tuple[Tabular, ...]:
        """The attributes that a file has columns of, a made-up key first."""
        return ((Integer(name=self.key, bounds=(1, MOST_KEYS)),) if self.key else ()) + self.axes

    def batches(self, size: int, *, rng: Generator) -> Iterator[pa.RecordBatch]:
        """Yield so many records.

        Args:
            size: how many, 1 or more.
            rng: the generator; nothing private is drawn.
        """
        for start in range(0, size, BATCH):
            batch = self.draw(min(BATCH, size - start), rng)
            yield with_key(batch, self.key, start) if self.key else batch

    def batches_of_tables(self, size: int, *, rng: Generator) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Yield so many records as rows of two tables, with the file of each; see `batches`."""
        if self.tables is None:
            return
        for start in range(0, size, BATCH):
            for name, rows in self.tables(min(BATCH, size - start), rng, start).items():
                yield from ((name, batch) for batch in Written(table=rows).batches())


def of_joint(schema: Schema, joint: Joint, where: str) -> RecordSource:
    """Return what draws records of a joint distribution of which a condition holds, exactly given that it does.

    Args:
        schema: of the records.
        joint: over its cells.
        where: the condition; empty for all records.

    Raises:
        ValueError: the condition cannot be read, or holds of no record.
    """
    left = _left(joint, schema, where) if where else joint
    axes = schema.tabular
    return RecordSource(
        axes=axes, draw=lambda size, rng: pa.record_batch(values(axes, left.sample(size, rng=rng), rng=rng))
    )


def shares_of(counts: Array) -> Array:
    """Return noisy counts as shares >= 0 of their sum, the nearest ones; see `norm_sub`."""
    flat = counts.ravel() / max(1.0, float(counts.sum()))
    return norm_sub(flat, users=1).reshape(counts.shape)


def _left(joint: Joint, schema: Schema, where: str) -> Boxes:
    """Return the records of a joint distribution of which a condition holds."""
    parts = tuple(part for weights in products(schema, where) if (part := joint.restricted(weights)).share > 0)
    if not parts:
        raise ValueError(f"{where!r} {NOTHING}")
    return Boxes(parts=parts)
