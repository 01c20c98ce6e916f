"""Which releases are maps, and what a specification may set of them."""

from typing import Annotated, Literal

from msgspec import Meta

from dpress.core.basics.kind import Kind, Participants, Reporters, Wished

Area = Annotated[
    list[float],
    Meta(
        title="[low, high] with 0 < low <= high <= 1",
        min_length=2,
        max_length=2,
        description="the sizes of rectangles that the plan is made for, in shares of the box; [0.01, 0.25] unless "
        "stated",
    ),
]

Spread = Annotated[
    Literal["even", "towns", "places"],
    Meta(
        description="how people are spread, as far as is public: over most of the box, in towns with outskirts, or in "
        "a few full places; left out, a plan takes what fails neither in towns nor in places",
    ),
]


class CuratedMap(Participants, frozen=True):
    """A map of a table."""

    area: Area | None = None
    shape: Spread | None = None


class CollectedMap(Reporters, frozen=True):
    """A map of reports."""

    area: Area | None = None
    shape: Spread | None = None


KIND = Kind(
    name="spatial",
    names=("spatial",),
    smaller="state fewer `users`, for which the grid is coarser",
    scipy=True,
    queries_on="a map",
    wished=(
        Wished(
            kind="spatial",
            place=3,
            title="A map",
            words="Counts of any rectangle.",
            marks=((4, 8), (20, 20), (34, 28)),
            mark="round",
            users=True,
        ),
    ),
    parameters={("spatial", "central"): CuratedMap, ("spatial", "local"): CollectedMap},
)
