"""Which releases are of names that nobody may list."""

from typing import Annotated

from msgspec import Meta

from dpress.core.basics.kind import Kind, Participants, Wished


class Names(Participants, frozen=True):
    """How many people are expected, and which names are wanted."""

    minimum: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=1 << 53,
                description="the smallest count that is released, beside the threshold that the budget sets; all names "
                "above that one unless stated",
            ),
        ]
        | None
    ) = None


KIND = Kind(
    name="names",
    names=("names",),
    suppresses=True,
    smaller="limit the rows by `where`",
    discovers=True,
    in_sql=("unlisted",),
    findings={"names": None},
    wished=(
        Wished(
            kind="names",
            place=7,
            title="Unknown names",
            words="Those that occur often, of values nobody can list.",
            marks=((2, 8), (2, 20)),
            mark="line",
            users=True,
        ),
    ),
    parameters={("names", "central"): Names},
)
