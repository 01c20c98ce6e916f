"""Which releases are of sets of values, and what a specification may set of them."""

from typing import Annotated

from msgspec import Meta

from dpress.core.basics.kind import Kind, Reporters


class Sets(Reporters, frozen=True, kw_only=True):
    """How many values a person may hold, and how sets are written."""

    cap: Annotated[
        int,
        Meta(
            ge=1,
            description="the most values of a person that count, at most as many as are listed; of a larger set so "
            "many stay, drawn at random on the device. The larger, the more noise",
        ),
    ]
    separator: Annotated[
        str,
        Meta(
            min_length=1,
            title="a text that is more than white space",
            description='stands between the values of a set that is one text; a list of values needs none; ";" unless '
            "stated",
        ),
    ] = ";"


KIND = Kind(
    name="sets",
    names=("sets",),
    suppresses=True,
    of_counts=False,
    of_sets=True,
    findings={"sets": None},
    parameters={("sets", "local"): Sets},
)
