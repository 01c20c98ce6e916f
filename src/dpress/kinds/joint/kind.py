"""Which releases are joint distributions, and what a specification may set of them."""

from typing import Annotated, Literal

from msgspec import Meta

from dpress.core.basics.kind import Kind, Reporters, Wished
from dpress.core.basics.parameters import Parameters


class Curated(Parameters, frozen=True):
    """What is measured of a table."""

    order: (
        Annotated[
            Literal[2, 3],
            Meta(
                description="the attributes of the largest tables: pairs, or pairs and triples; unless stated what "
                "errs least on pairs, all cells where they are few"
            ),
        ]
        | None
    ) = None


KIND = Kind(
    name="joint",
    names=("joint",),
    smaller="use fewer attributes, or fewer cells by `bins`",
    draws_records=True,
    scipy=True,
    wished=(
        Wished(
            kind="joint",
            place=6,
            drawn=True,
            title="A joint distribution",
            words="For models: pairs, and a fit to them.",
            marks=((6, 24), (18, 12), (30, 24)),
        ),
    ),
    parameters={("joint", "local"): Reporters, ("joint", "central"): Curated},
)
