"""A position in a public bounding box, read from two columns."""

import math
from typing import Any, ClassVar, Self

import msgspec

from dpress.attributes.named import Named
from dpress.attributes.numbers.attribute import Numeric
from dpress.attributes.policy import DROP, REJECT, Outside
from dpress.attributes.protocol import Cells
from dpress.attributes.spread import bell
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.rng import Generator

PLACE = 4  # of the room where kinds are listed


class _Side(Numeric, frozen=True, kw_only=True, tag="numeric"):
    """One of the two columns of a location, cut into cells."""

    missing: ClassVar[str] = "outside"


class Location(Named, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="location"):
    """A position in a public bounding box, read from two columns; its grid is the spatial method's choice.

    Args:
        pair: the two columns, horizontal first; written `columns` in the specification.
        bounds: `[[low, high], [low, high]]` of the two columns.
        outside: what happens to a position outside the box: "clamp", "drop" or "reject".
    """

    decimals: ClassVar[tuple[str, ...]] = ("bounds",)
    pair: tuple[str, str] = msgspec.field(name="columns")
    bounds: tuple[tuple[float, float], tuple[float, float]]
    outside: Outside = "clamp"

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if self.column:
            raise ValueError(f"attribute {self.name}: `column` is of one column; a location names two in `columns`")
        if not all(math.isfinite(low) and math.isfinite(high) and low < high for low, high in self.bounds):
            raise ValueError(f"attribute {self.name}: `bounds` must be [[low, high], [low, high]] with low < high")

    @property
    def columns(self) -> tuple[str, ...]:
        """The two columns it reads."""
        return self.pair

    @property
    def box(self) -> Self:
        """The attribute itself."""
        return self

    @property
    def with_cells(self) -> Cells:
        """None.

        Raises:
            NotSupported: it has no cells of its own.
        """
        raise NotSupported(f'attribute {self.name}: a location has no cells of its own; use kind = "spatial"')

    @property
    def sides(self) -> tuple[Numeric, Numeric]:
        """Both columns, each one cell."""
        return self.axes(1)

    def acting(self, coded: Cells) -> tuple[Numeric, Numeric]:
        """Return both columns in as many cells as the first is coded with."""
        return self.axes(coded.size)

    def made_up(self, rows: int, rng: Generator) -> dict[str, Any]:
        """Return positions around the middle of the box."""
        sides = zip(self.pair, self.bounds, strict=True)
        return {name: low + (high - low) * bell(rows, rng) for name, (low, high) in sides}

    def axes(self, side: int) -> tuple[Numeric, Numeric]:
        """Return both columns in `side` cells each; a missing place is dropped where one outside is, else refused."""
        null = DROP if self.outside == DROP else REJECT
        across, up = (
            _Side(name=name, unit=self.unit, bounds=bounds, bins=side, outside=self.outside, null=null)
            for name, bounds in zip(self.pair, self.bounds, strict=True)
        )
        return across, up


ATTRIBUTES = (Location,)
