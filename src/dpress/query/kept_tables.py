"""What attributes need beside the tables of a release so that it can be read anywhere: the tree of codes of one.

attributes -> a file of each that keeps something -> the folder of the release -> the attributes again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from dpress.attributes.attribute import Attribute
from dpress.query.folder import columns
from dpress.query.published_tables import BATCH_CELLS


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTable:
    """What one attribute keeps.

    Args:
        name: of the file.
        table: what it holds.
    """

    name: str
    table: pa.Table

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        yield from self.table.to_batches(max_chunksize=BATCH_CELLS)


def kept_files(attributes: Sequence[Attribute]) -> Mapping[str, Attribute]:
    """Return the files that attributes keep, each with its attribute."""
    return {
        f"{attribute.kept_as}_{place}.parquet": attribute
        for place, attribute in enumerate(attributes, 1)
        if attribute.kept_as
    }


def kept_tables(attributes: Sequence[Attribute]) -> Iterable[KeptTable]:
    """Yield what attributes keep, each made when it is written."""
    return (KeptTable(name=name, table=attribute.kept()) for name, attribute in kept_files(attributes).items())


def restore(attributes: Sequence[Attribute], folder: Path) -> None:
    """Give attributes back what they keep in the folder of a release.

    Raises:
        OSError: a file is missing.
        SchemaMismatch: one is not what its attribute needs.
    """
    for name, attribute in kept_files(attributes).items():
        attribute.restored(partial(columns, folder / name))
