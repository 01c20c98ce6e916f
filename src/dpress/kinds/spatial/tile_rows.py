"""A map's tiles as rows: where each lies, its count and interval, and whether it is significantly above 0.

tiles, box -> columns in the units of the map -> a file of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dpress.core.maps.linear import Array
from dpress.core.maps.partition import Ends
from dpress.inference.maps.supported_tiles import Tiles
from dpress.kinds.spatial.outlines import Box


@dataclass(frozen=True, slots=True, kw_only=True)
class TileRows:
    """The file of a map's tiles.

    Args:
        name: of the file.
        names: of the map's columns, across and up.
        box: the ends of both.
        tiles: its rows.
    """

    name: str
    names: tuple[str, ...]
    box: Box
    tiles: Tiles

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows: the lower and upper ends of both columns, then what is known of the count."""
        tiles, columns = self.tiles, dict[str, Array]()
        for name, (low, high) in zip(self.names, places(tiles, self.box), strict=True):
            columns |= {f"{name}_from": low, f"{name}_below": high}
        counts = {"count": tiles.count, "standard_error": tiles.error, "low": tiles.low, "high": tiles.high}
        yield pa.record_batch({**columns, **counts, "significant": tiles.significant})


def places(tiles: Tiles, box: Box) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return the lower and upper ends of tiles along both columns, in their units."""
    squares, (across, up) = tiles.partition, box
    return (
        (_place(across, squares.left, squares.grid.side), _place(across, squares.right, squares.grid.side)),
        (_place(up, squares.bottom, squares.grid.side), _place(up, squares.top, squares.grid.side)),
    )


def _place(ends: tuple[float, float], cells: Ends, side: int) -> Array:
    """Return where borders of cells lie along a column."""
    low, high = ends
    return np.asarray(np.clip(low + (high - low) / side * cells, low, high))
