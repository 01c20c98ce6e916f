"""A file of a release: what every kind writes, and whoever carries it further reads."""

from collections.abc import Iterator
from typing import Protocol

import pyarrow as pa


class Part(Protocol):
    """A file of a release, made batch by batch."""

    @property
    def name(self) -> str:
        """Of the file."""
        ...

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, one batch at least."""
        ...
