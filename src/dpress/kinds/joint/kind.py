"""Which releases are joint distributions, and what a specification may set of them."""

from typing import Annotated, Literal

from msgspec import Meta

from dpress.core.kind import Kind, Participants, Reporters


class Curated(Participants, frozen=True):
    """What is measured of a table."""

    order: Annotated[
        Literal[2, 3], Meta(description="the attributes of the largest tables: pairs, or pairs and triples")
    ] = 2


KIND = Kind(
    name="joint",
    names=("joint",),
    draws_records=True,
    parameters={("joint", "local"): Reporters, ("joint", "central"): Curated},
)
