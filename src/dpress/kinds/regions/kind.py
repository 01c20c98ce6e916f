"""Which releases are tables of regions, and what a specification may set of them."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from dpress.core.basics.kind import Kind, Wished
from dpress.core.basics.parameters import Parameters

Names = Annotated[list[str], Meta(min_length=1)]


class WeightedTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table with more than its attributes.

    Args:
        attributes: that it is over.
        start: the finest level at which it is measured, written `from`; every level without it.
        weight: of its errors among those of all tables.
    """

    attributes: Names
    start: str | None = msgspec.field(default=None, name="from")
    weight: Annotated[float, Meta(gt=0)] = 1.0


class Goal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One table of one level.

    Args:
        level: its name.
        table: the attributes; none for totals.
    """

    level: str
    table: list[str] = []


class Regions(Parameters, frozen=True):
    """Which tables are published of every region."""

    tables: (
        Annotated[
            list[Names | WeightedTable],
            Meta(
                min_length=1,
                title="a list of lists of attribute names, or of tables such as "
                '{ attributes = ["age"], from = "tract", weight = 2 }',
                description="the tables of every region, each a different set of attributes; `from` names the finest "
                "level at which one is measured. Totals are always among them",
            ),
        ]
        | None
    ) = None
    levels: (
        Annotated[
            list[str],
            Meta(min_length=1, description="the levels that are measured; all unless stated. Others are sums"),
        ]
        | None
    ) = None
    weights: (
        Annotated[
            dict[str, Annotated[float, Meta(ge=0)]],
            Meta(
                title="a table of numbers >= 0 by the names of levels",
                description="how much the errors of a level count where the budget is divided, `total` for everything "
                "together; 1 unless stated",
            ),
        ]
        | None
    ) = None
    goal: (
        Annotated[
            Goal,
            Meta(
                title='a level and a table of it, such as { level = "county", table = ["age"] }',
                description="whose typical error is the predicted one, which `dpress plan --error` is about; that of "
                "all levels and tables, weighted, unless stated. The budget is divided as without it",
            ),
        ]
        | None
    ) = None
    invariants: (
        Annotated[
            dict[str, Literal["rows"] | dict[str, Annotated[int, Meta(ge=0)]]],
            Meta(
                title='a table of files by the names of levels, such as { state = "state_totals.csv" }, or of "rows"',
                description="levels whose totals are public and hold exactly: a CSV file with the columns of the level "
                'and `total`, or "rows", where they are read from the rows and published as they are; see what that '
                "costs in docs/reference/regions.md",
            ),
        ]
        | None
    ) = None
    records: Annotated[
        bool,
        Meta(
            description="whether whole numbers that add up are written beside the counts, and a made-up row for every "
            "person; needs a table of all attributes"
        ),
    ] = False
    impossible: (
        Annotated[
            list[str],
            Meta(
                title="a list of conditions on the attributes beside the regions",
                description='what no person can be, such as "age in 0..14 and status = married": `records` have none',
            ),
        ]
        | None
    ) = None
    users: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="about how many people, or rows, there will be; public: where it is stated the plan "
                "says at which level counts drown in noise",
            ),
        ]
        | None
    ) = None


KIND = Kind(
    name="regions",
    names=("regions",),
    suppresses=True,
    smaller="use fewer cells beside the regions, or release their levels one by one",
    of_counts=False,
    large=True,
    findings={"public_totals": None},
    wished=(
        Wished(
            kind="regions",
            place=9,
            title="Every region of a country",
            words="Counts at every level of a tree of codes, which add up.",
            marks=((2, 8), (2, 20), (2, 32)),
            mark="line",
            users=True,
        ),
    ),
    parameters={("regions", "central"): Regions},
)
