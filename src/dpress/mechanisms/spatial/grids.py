"""How fine a grid a specification may ask for: the parameters that methods on maps share."""

from typing import Annotated

from msgspec import Meta

from dpress.core.basics.parameters import Parameters

Height = Annotated[
    int,
    Meta(
        ge=1,
        le=10,
        description="of the quadtree: the grid has 2^height cells along each side; left out, the best, or what suits "
        "the method",
    ),
]
Side = Annotated[
    int,
    Meta(ge=1, le=1024, description="cells along each side of the grid; left out, the best, or what suits the method"),
]
OracleName = Annotated[str, Meta(description="the oracle that every node is asked by; left out, the best one")]


class ByHeight(Parameters, frozen=True):
    """A quadtree."""

    height: Height | None = None


class ByGrid(ByHeight, frozen=True):
    """A grid, by its height or by its side."""

    side: Side | None = None


class BySide(Parameters, frozen=True):
    """A grid of any side."""

    side: Side | None = None
