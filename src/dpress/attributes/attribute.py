"""Attributes: which cells an axis has. Everything here is public and comes from the specification."""

import math
from typing import ClassVar

import msgspec

from dpress.attributes.bounded_attribute import Integer, Numeric
from dpress.attributes.dated_attribute import Date, DateTime
from dpress.attributes.listed_attribute import Listed
from dpress.attributes.named import Named
from dpress.attributes.policy import DROP, REJECT, Outside


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

    pair: tuple[str, str] = msgspec.field(name="columns")
    bounds: tuple[tuple[float, float], tuple[float, float]]
    outside: Outside = "clamp"

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if not all(math.isfinite(low) and math.isfinite(high) and low < high for low, high in self.bounds):
            raise ValueError(f"attribute {self.name}: `bounds` must be [[low, high], [low, high]] with low < high")

    @property
    def columns(self) -> tuple[str, ...]:
        """The two columns it reads."""
        return self.pair

    def axes(self, side: int) -> tuple[Numeric, Numeric]:
        """Return both columns in `side` cells each; a missing place is dropped where one outside is, else refused."""
        null = DROP if self.outside == DROP else REJECT
        across, up = (
            _Side(name=name, unit=self.unit, bounds=bounds, bins=side, outside=self.outside, null=null)
            for name, bounds in zip(self.pair, self.bounds, strict=True)
        )
        return across, up


Bounded = Integer | Numeric | Date | DateTime
Tabular = Listed | Bounded
Attribute = Tabular | Location
