"""Which releases are counts over ranges, and what a specification may set of them."""

from typing import Annotated, Literal

from msgspec import Meta

from dpress.core.basics.kind import Kind, Reporters, Wished
from dpress.core.basics.parameters import Parameters

Queries = Annotated[
    Literal["all", "prefixes"] | list[str],
    Meta(
        title='"all", "prefixes" or a list of queries',
        description='the questions whose error counts; "all" unless stated',
    ),
]
Length = Annotated[
    Annotated[int, Meta(ge=1)] | list[Annotated[int, Meta(ge=1)]],
    Meta(
        title="an integer >= 1, or a list of one for each attribute",
        description="instead of `queries`: all ranges of so many cells, or boxes of so many along each attribute",
    ),
]


class Ranges(Parameters, frozen=True):
    """Which ranges the error is averaged over, and of how many people."""

    queries: Queries | None = None
    length: Length | None = None
    users: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="about how many rows there will be, where that is public; `auto` then takes the method "
                "whose counts >= 0 are likely to err least, not the one whose unbiased answers do",
            ),
        ]
        | None
    ) = None


class CollectedRanges(Reporters, frozen=True):
    """The same, and who reports."""

    queries: Queries | None = None
    length: Length | None = None


KIND = Kind(
    name="ranges",
    names=("ranges",),
    suppresses=True,
    stands_in=True,
    adjusts=("posterior",),
    adjusts_of_devices=("posterior",),
    wished=(
        Wished(
            kind="ranges",
            place=1,
            title="Ranges",
            words="How many from 18 to 29, any range of an ordered attribute.",
            marks=((2, 34), (12, 24), (22, 10), (32, 18), (42, 30)),
        ),
    ),
    parameters={("ranges", "central"): Ranges, ("ranges", "local"): CollectedRanges},
)
