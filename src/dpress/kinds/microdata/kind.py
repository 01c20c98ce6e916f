"""Which releases are records, and what a specification may set of them."""

from typing import Annotated, Literal

from msgspec import Meta

from dpress.core.basics.kind import Kind, Participants, Wished


class Records(Participants, frozen=True):
    """How many records there are, and how far apart two of them are."""

    weights: (
        Annotated[
            list[Annotated[float, Meta(ge=0)]] | Literal["influence"],
            Meta(
                title='a list of numbers >= 0, one for every attribute, or "influence"',
                description="of the attributes in the distance of two records; public; all 1 unless stated. "
                '"influence", of `dp_k_prototypes` only: of a first run on the raw rows, the share of the distance '
                "between clusters that each category explains",
            ),
        ]
        | None
    ) = None


KIND = Kind(
    name="microdata",
    names=("microdata",),
    smaller="use fewer attributes or cells, or limit the rows by `where`",
    stands_in=True,
    of_records=True,
    keeps_constraints=True,
    findings={"constraints": ()},
    takes_held_out=True,
    wished=(
        Wished(
            kind="microdata",
            place=4,
            title="Records",
            words="Made-up people like the real ones.",
            marks=((2, 6), (2, 18), (2, 30)),
            mark="line",
            users=True,
        ),
    ),
    parameters={("microdata", "central"): Records},
)
