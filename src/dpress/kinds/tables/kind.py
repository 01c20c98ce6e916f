"""Which releases are tables of counts, and what a specification may set of them."""

from typing import Annotated

from msgspec import Meta

from dpress.core.kind import Division, Kind
from dpress.core.parameters import Parameters


class Tables(Parameters, frozen=True):
    """Which tables are published."""

    tables: (
        Annotated[
            list[Annotated[list[str], Meta(min_length=1)]],
            Meta(
                min_length=1,
                title="a list of at least one list of attribute names",
                description="the tables; each a different set of attributes",
            ),
        ]
        | None
    ) = None
    ways: (
        Annotated[int, Meta(ge=1, description="instead of `tables`: all sets of that many attributes; 2 unless stated")]
        | None
    ) = None


class OneWayTables(Division, frozen=True):
    """One table for each attribute."""

    ways: Annotated[int, Meta(ge=1, description="1, or left out: there is one table for each attribute")] = 1


KIND = Kind(
    name="tables",
    names=("histogram", "marginals"),
    parameters={
        ("marginals", "central"): Tables,
        ("histogram", "local"): OneWayTables,
        ("marginals", "local"): OneWayTables,
    },
)
