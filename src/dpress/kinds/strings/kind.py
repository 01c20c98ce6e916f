"""Which releases are of strings that nobody may list, from devices, and what a specification may set of them."""

from typing import Annotated

from msgspec import Meta

from dpress.core.basics.kind import Kind, Participants


class Strings(Participants, frozen=True):
    """How long strings are, and how many are looked for."""

    longest: Annotated[
        int,
        Meta(
            ge=1,
            le=32,
            description="the bytes of the longest string, in UTF-8; longer ones count with the rest. The longer, the "
            "more rounds; 16 unless stated",
        ),
    ] = 16
    kept: Annotated[
        int,
        Meta(
            ge=1,
            le=1024,
            description="the most beginnings of strings that a round hands on to the next, about as many strings as "
            "are looked for; 128 unless stated",
        ),
    ] = 128


KIND = Kind(
    name="strings",
    names=("strings",),
    suppresses=True,
    discovers=True,
    findings={"strings": None},
    of_counts=False,
    parameters={("strings", "local"): Strings},
)
